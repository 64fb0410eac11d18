// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/tensor/op_kernel.h"
#include "cuda/arith/rounding.h"

/// What operator kernels have in common.
namespace assay::tensor::detail {

using base::Result;

constexpr std::size_t kMaxRank = 8;
constexpr std::uint64_t kMaxValues = 1ULL << 40; ///< of one tensor, exclusive

/// Base of the kernels: reports errors with the kind's name, checks a run against its call.
class OpBase : public OpKernel {
public:
    explicit OpBase(std::string_view name) : m_kind(name) {}
    [[nodiscard]] std::string_view kind() const final { return m_kind; }

protected:
    [[nodiscard]] tl::unexpected<base::Error> wrong(std::string_view what) const {
        return base::fail(base::ErrorCode::malformed, fmt::format("{}: {}", m_kind, what));
    }
    [[nodiscard]] Result<void> expectInputs(const OpCall& call, std::size_t least, std::size_t most) const;
    [[nodiscard]] Result<void> expectRank(const OpCall& call, std::size_t input, std::size_t least,
                                          std::size_t most) const;
    /// Input `input` must have exactly this shape.
    [[nodiscard]] Result<void> expectShape(const OpCall& call, std::size_t input, const Shape& shape) const;
    [[nodiscard]] Result<std::int64_t> integer(const OpCall& call, const char* name, std::int64_t least,
                                               std::int64_t most) const;
    [[nodiscard]] Result<float> real(const OpCall& call, const char* name) const;
    /// False where the attribute is missing.
    [[nodiscard]] Result<bool> boolean(const OpCall& call, const char* name) const;
    [[nodiscard]] Result<std::vector<std::int64_t>> integers(const OpCall& call, const char* name) const;

    /// Output shapes of the run; checks that the tensors are what the call says and prepares `outputs`.
    [[nodiscard]] Result<std::vector<Shape>> beginForward(OpRun& run) const;
    /// Prepares `inputGradients`; checks the output gradients and the forward values that backwardNeeds asks for.
    [[nodiscard]] Result<void> beginBackward(OpRun& run) const;

private:
    std::string_view m_kind;
};

[[nodiscard]] inline std::uint64_t dim(const Shape& shape, std::size_t i) {
    return static_cast<std::uint64_t>(shape[i]);
}
/// All dimensions but the last; values per leading index is lastDim.
[[nodiscard]] inline Shape leadingDims(const Shape& shape) {
    return {shape.begin(), shape.end() - 1};
}
[[nodiscard]] inline std::uint64_t lastDim(const Shape& shape) {
    return static_cast<std::uint64_t>(shape.back());
}

[[nodiscard]] inline bool isWanted(std::uint32_t wanted, std::size_t input) {
    return ((wanted >> input) & 1U) != 0;
}
[[nodiscard]] inline Direction gradientDirection(const OpCall& call, std::size_t input) {
    return isWanted(call.parameterInputs, input) ? Direction::parameterGradient : Direction::inputGradient;
}
[[nodiscard]] inline SiteSpec gradientSite(const OpCall& call, std::size_t input, std::string suffix,
                                           bool isProduct = false) {
    return {std::move(suffix), gradientDirection(call, input), isProduct, call.inputs[input]};
}
[[nodiscard]] inline SiteSpec statisticSite(std::string suffix, Shape shape) {
    return {std::move(suffix), Direction::statistic, false, std::move(shape)};
}
[[nodiscard]] inline SiteSpec forwardSite(std::string suffix, Shape shape, bool isProduct = false) {
    return {std::move(suffix), Direction::forward, isProduct, std::move(shape)};
}

[[nodiscard]] inline const float* input(const OpRun& run, std::size_t i) {
    return run.inputs[i].values->data();
}
[[nodiscard]] inline const float* outputGradient(const OpRun& run, std::size_t i = 0) {
    return run.outputGradients[i]->data();
}
[[nodiscard]] inline NoiseKey noiseKey(const OpRun& run, std::uint32_t site) {
    return {run.context.step, run.context.firstSite + site};
}
[[nodiscard]] inline Result<void> completed(OpRun& run, std::uint32_t site, Tensor& values) {
    return run.emitter->completed(site, values.values());
}

/// Runs body(begin, end) over `lines` independent lines of `perLine` values each, in tasks of about 16,000 values.
template <typename Body>
void forLines(OpRun& run, std::uint64_t lines, std::uint64_t perLine, Body&& body) {
    const std::uint64_t grain = std::max<std::uint64_t>(1, (1U << 14) / std::max<std::uint64_t>(1, perLine));
    run.context.pool->parallelFor(lines, grain, body);
}
/// The same over values: body(i) for each.
template <typename Body>
void forValues(OpRun& run, std::uint64_t values, Body&& body) {
    run.context.pool->parallelFor(values, 1U << 14, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
            body(i);
        }
    });
}

/// out[c] = RN(tree over r of x[r, c]) for x [rows, cols]; threads split the columns.
void roundedColumnSums(OpRun& run, const float* x, std::uint64_t rows, std::uint64_t cols, float* out);

} // namespace assay::tensor::detail
