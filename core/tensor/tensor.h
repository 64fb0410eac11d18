// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::tensor {

/// Dimensions of a row-major, contiguous tensor. Empty = a scalar (one value). Every dimension is >= 0.
using Shape = std::vector<std::int64_t>;

/// Number of values; 1 for the empty shape. Precondition: the product fits 63 bits.
[[nodiscard]] std::uint64_t elementCount(const Shape& shape);
/// "[8, 3, 32, 32]".
[[nodiscard]] std::string toString(const Shape& shape);

/// FP32 values, row-major and contiguous, 64-byte aligned. Every value that left a site is representable (never -0).
/// Move-only; clone() copies the values, alias() shares them under another shape. Who holds an alias must not write
/// through it: kernels hand out aliases where values pass unchanged (reshape, gradient of add).
/// A default-constructed tensor is absent: shape [], no values, isDefined() false.
class Tensor {
public:
    Tensor() = default;
    explicit Tensor(Shape shape);                       ///< zeros
    Tensor(Shape shape, std::span<const float> values); ///< copies; precondition: values.size() == elementCount(shape)
    static Tensor uninitialised(Shape shape);           ///< values must be written before they are read
    Tensor(Tensor&&) noexcept = default;
    Tensor& operator=(Tensor&&) noexcept = default;
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor() = default;

    [[nodiscard]] bool isDefined() const { return m_buffer != nullptr; }
    [[nodiscard]] const Shape& shape() const { return m_shape; }
    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] float* data() { return m_buffer.get(); }
    [[nodiscard]] const float* data() const { return m_buffer.get(); }
    [[nodiscard]] std::span<float> values() { return {m_buffer.get(), m_size}; }
    [[nodiscard]] std::span<const float> values() const { return {m_buffer.get(), m_size}; }
    /// True if another tensor shares these values.
    [[nodiscard]] bool isShared() const { return m_buffer.use_count() > 1; }

    [[nodiscard]] Tensor clone() const;
    /// The same values under `shape`. Precondition: equal number of values.
    [[nodiscard]] Tensor alias(Shape shape) const;
    [[nodiscard]] Tensor alias() const { return alias(m_shape); }

private:
    Shape m_shape;
    std::uint64_t m_size = 0;
    std::shared_ptr<float[]> m_buffer;
};

/// Integers (tokens, labels, indices), row-major and contiguous.
struct IdTensor {
    Shape shape;
    std::vector<std::int64_t> values;
};

} // namespace assay::tensor
