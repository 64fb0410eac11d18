// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/op_kernel.h"

#include <algorithm>
#include <array>

#include "core/base/assert.h"
#include "core/tensor/ops/kernels.h"

namespace assay::tensor {
namespace {

/// Sorted by kind.
const auto& allKernels() {
    static const std::array<const OpKernel*, 18> kernels{
        &detail::addKernel(),          &detail::batchNormKernel(),     &detail::conv2dKernel(),
        &detail::crossEntropyKernel(), &detail::dropoutKernel(),       &detail::embeddingKernel(),
        &detail::geluKernel(),         &detail::globalAvgPoolKernel(), &detail::layerNormKernel(),
        &detail::linearKernel(),       &detail::matmulKernel(),        &detail::maxPool2dKernel(),
        &detail::permuteKernel(),      &detail::reluKernel(),          &detail::reshapeKernel(),
        &detail::scaleKernel(),        &detail::softmaxKernel(),       &detail::splitKernel()};
    return kernels;
}

} // namespace

std::string_view toString(Direction direction) {
    switch (direction) {
    case Direction::forward:
        return "forward";
    case Direction::inputGradient:
        return "input gradient";
    case Direction::parameterGradient:
        return "parameter gradient";
    case Direction::statistic:
        return "statistic";
    case Direction::parameterUpdate:
        return "parameter update";
    case Direction::optimizerState:
        return "optimizer state";
    }
    return "unknown";
}

const OpKernel* findKernel(std::string_view kind) {
    const auto& kernels = allKernels();
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const OpKernel* k) { return k->kind() == kind; });
    return found == kernels.end() ? nullptr : *found;
}

std::vector<std::string_view> kernelKinds() {
    std::vector<std::string_view> kinds;
    for (const OpKernel* kernel : allKernels()) {
        kinds.push_back(kernel->kind());
    }
    return kinds;
}

Tensor sumGradients(std::span<const Tensor* const> parts, ThreadPool& pool) {
    ASSAY_ASSERT(!parts.empty());
    Tensor sum = Tensor::uninitialised(parts[0]->shape());
    float* out = sum.data();
    pool.parallelFor(sum.size(), 1U << 14, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
            auto total = static_cast<double>(parts[0]->data()[i]);
            for (const Tensor* part : parts.subspan(1)) {
                total += static_cast<double>(part->data()[i]);
            }
            out[i] = arith::roundToFloat(total);
        }
    });
    return sum;
}

} // namespace assay::tensor
