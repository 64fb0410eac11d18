// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/tensor.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/assert.h"

namespace assay::tensor {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<float[]> allocate(std::uint64_t count) {
    const std::uint64_t bytes = std::max<std::uint64_t>(count, 1) * sizeof(float);
    auto* memory = static_cast<float*>(::operator new[](bytes, kAlignment));
    return {memory, [](float* p) { ::operator delete[](p, kAlignment); }};
}

} // namespace

std::uint64_t elementCount(const Shape& shape) {
    std::uint64_t count = 1;
    for (const std::int64_t dimension : shape) {
        ASSAY_ASSERT(dimension >= 0);
        count *= static_cast<std::uint64_t>(dimension);
    }
    return count;
}

std::string toString(const Shape& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

Tensor::Tensor(Shape shape) : Tensor(uninitialised(std::move(shape))) {
    std::fill_n(data(), m_size, 0.0F);
}

Tensor::Tensor(Shape shape, std::span<const float> values) : Tensor(uninitialised(std::move(shape))) {
    ASSAY_ASSERT(values.size() == m_size);
    std::copy(values.begin(), values.end(), data());
}

Tensor Tensor::uninitialised(Shape shape) {
    Tensor result;
    result.m_size = elementCount(shape);
    result.m_shape = std::move(shape);
    result.m_buffer = allocate(result.m_size);
    return result;
}

Tensor Tensor::clone() const {
    return isDefined() ? Tensor(m_shape, values()) : Tensor();
}

Tensor Tensor::alias(Shape shape) const {
    ASSAY_ASSERT(isDefined() && elementCount(shape) == m_size);
    Tensor result;
    result.m_shape = std::move(shape);
    result.m_size = m_size;
    result.m_buffer = m_buffer;
    return result;
}

} // namespace assay::tensor
