// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/arrays.h"
#include "core/tensor/ops/kernels.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

/// x[N, C, H, W] -> largest value of each size x size window; ties and NaN: the window's first in row-major order.
/// dx: the gradients of the windows that took this value, in output order, added in the specified tree.
class MaxPool2d final : public OpBase {
public:
    MaxPool2d() : OpBase("max_pool2d") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_CHECK(expectRank(call, 0, 4, 4));
        const Shape& x = call.inputs[0];
        ASSAY_TRY(size, integer(call, "size", 1, 1 << 16));
        ASSAY_TRY(stride, integer(call, "stride", 1, 1 << 16));
        if (size > x[2] || size > x[3]) {
            return wrong(fmt::format("a window of {} x {} does not fit into {}", size, size, toString(x)));
        }
        return std::vector<Shape>{{x[0], x[1], (x[2] - size) / stride + 1, (x[3] - size) / stride + 1}};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        return {forwardSite("y", (*inferShapes(call))[0])};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 0) ? std::vector{gradientSite(call, 0, "dX")} : std::vector<SiteSpec>{};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {1, false}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        const Sizes s(*this, run.call, shapes[0]);
        Tensor y = Tensor::uninitialised(shapes[0]);
        const float* x = input(run, 0);
        float* out = y.data();
        forLines(run, s.planes, s.height * s.width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t plane = begin; plane < end; ++plane) {
                const float* in = x + plane * s.height * s.width;
                for (std::uint64_t o = 0; o < s.outHeight * s.outWidth; ++o) {
                    out[plane * s.outHeight * s.outWidth + o] = in[s.taken(in, o / s.outWidth, o % s.outWidth)];
                }
            }
        });
        ASSAY_CHECK(completed(run, 0, y));
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        const Sizes s(*this, run.call, run.outputGradients[0]->shape());
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        const float* x = input(run, 0);
        const float* dy = outputGradient(run);
        float* out = dx.data();
        forLines(run, s.planes, s.height * s.width, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<std::uint64_t> taken(s.outHeight * s.outWidth);
            std::vector<double> terms;
            for (std::uint64_t plane = begin; plane < end; ++plane) {
                const float* in = x + plane * s.height * s.width;
                const float* gradient = dy + plane * taken.size();
                for (std::uint64_t o = 0; o < taken.size(); ++o) {
                    taken[o] = s.taken(in, o / s.outWidth, o % s.outWidth);
                }
                for (std::uint64_t i = 0; i < s.height * s.width; ++i) {
                    terms.clear();
                    const auto [row0, row1] = s.windowsOver(i / s.width, s.outHeight);
                    const auto [col0, col1] = s.windowsOver(i % s.width, s.outWidth);
                    for (std::uint64_t row = row0; row < row1; ++row) {
                        for (std::uint64_t col = col0; col < col1; ++col) {
                            const std::uint64_t o = row * s.outWidth + col;
                            if (taken[o] == i) {
                                terms.push_back(static_cast<double>(gradient[o]));
                            }
                        }
                    }
                    // The tree of no term is +0 and that of one is the term: the usual cases need no tree.
                    const double sum = terms.empty()       ? 0.0
                                       : terms.size() == 1 ? terms[0]
                                                           : arith::treeSum(terms.data(), terms.size());
                    out[plane * s.height * s.width + i] = arith::roundToFloat(sum);
                }
            }
        });
        ASSAY_CHECK(completed(run, 0, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }

private:
    struct Sizes {
        std::uint64_t planes, height, width, outHeight, outWidth, size, stride;

        Sizes(const MaxPool2d& self, const OpCall& call, const Shape& y)
            : planes(dim(call.inputs[0], 0) * dim(call.inputs[0], 1)), height(dim(call.inputs[0], 2)),
              width(dim(call.inputs[0], 3)), outHeight(dim(y, 2)), outWidth(dim(y, 3)),
              size(static_cast<std::uint64_t>(*self.integer(call, "size", 1, 1 << 16))),
              stride(static_cast<std::uint64_t>(*self.integer(call, "stride", 1, 1 << 16))) {}

        /// Position in the plane of what window (row, col) takes.
        [[nodiscard]] std::uint64_t taken(const float* in, std::uint64_t row, std::uint64_t col) const {
            const auto at = [&](std::uint64_t i) {
                return (row * stride + i / size) * width + col * stride + i % size;
            };
            return at(arith::argMax(size * size, [&](std::uint64_t i) { return in[at(i)]; }));
        }
        /// First and one past the last of `count` windows that cover `position` in one dimension.
        [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> windowsOver(std::uint64_t position,
                                                                          std::uint64_t count) const {
            const std::uint64_t first = position < size ? 0 : (position - size) / stride + 1;
            return {first, std::min(count, position / stride + 1)};
        }
    };
};

/// x[N, C, H, W] -> y[N, C] = RN(sum / (H W)), the sum in the specified tree. dx = RN(dy / (H W)).
class GlobalAvgPool final : public OpBase {
public:
    GlobalAvgPool() : OpBase("global_avg_pool") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_CHECK(expectRank(call, 0, 4, 4));
        return std::vector<Shape>{{call.inputs[0][0], call.inputs[0][1]}};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        return {forwardSite("y", (*inferShapes(call))[0])};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 0) ? std::vector{gradientSite(call, 0, "dX")} : std::vector<SiteSpec>{};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        Tensor y = Tensor::uninitialised(shapes[0]);
        const std::uint64_t pixels = dim(run.call.inputs[0], 2) * dim(run.call.inputs[0], 3);
        const float* x = input(run, 0);
        float* out = y.data();
        forLines(run, y.size(), pixels, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) {
                out[i] = arith::roundToFloat(numerics::sumOf(x + i * pixels, pixels) / static_cast<double>(pixels));
            }
        });
        ASSAY_CHECK(completed(run, 0, y));
        run.outputs.push_back(std::move(y));
        return {};
    }
    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        const std::uint64_t pixels = dim(run.call.inputs[0], 2) * dim(run.call.inputs[0], 3);
        const float* dy = outputGradient(run);
        float* out = dx.data();
        forLines(run, dx.size() / pixels, pixels, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) {
                std::fill_n(out + i * pixels, pixels,
                            arith::roundToFloat(static_cast<double>(dy[i]) / static_cast<double>(pixels)));
            }
        });
        ASSAY_CHECK(completed(run, 0, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }
};

} // namespace

const OpKernel& maxPool2dKernel() {
    static const MaxPool2d kernel;
    return kernel;
}
const OpKernel& globalAvgPoolKernel() {
    static const GlobalAvgPool kernel;
    return kernel;
}

} // namespace assay::tensor::detail
