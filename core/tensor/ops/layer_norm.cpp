// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/arrays.h"
#include "core/tensor/ops/kernels.h"
#include "cuda/arith/elementary.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

/// x[.., C], weight[C], bias[C]. Per row, with all sums in the specified tree:
///   mean = RN(sum x / C), rstd = RN(1 / sqrt(sum (x - mean)^2 / C + eps)), y = RN(((x - mean) rstd) weight + bias).
/// Backward, with g = dy weight and h = (x - mean) rstd:
///   grad_mean = RN(sum g / C), grad_proj = RN(sum g h / C), dx = RN(rstd ((g - grad_mean) - h grad_proj)),
///   dweight = RN(sum over rows of dy h), dbias = RN(sum over rows of dy).
class LayerNorm final : public OpBase {
public:
    LayerNorm() : OpBase("layer_norm") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 3, 3));
        ASSAY_CHECK(expectRank(call, 0, 1, kMaxRank));
        const Shape channels{call.inputs[0].back()};
        ASSAY_CHECK(expectShape(call, 1, channels));
        ASSAY_CHECK(expectShape(call, 2, channels));
        ASSAY_TRY(eps, real(call, "eps"));
        if (!(eps > 0.0F)) {
            return wrong(fmt::format("eps is {}, expected > 0", eps));
        }
        return std::vector<Shape>{call.inputs[0]};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Shape rows = leadingDims(call.inputs[0]);
        return {statisticSite("mean", rows), statisticSite("rstd", rows), forwardSite("y", call.inputs[0])};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        std::vector<SiteSpec> sites;
        const Shape rows = leadingDims(call.inputs[0]);
        if (isWanted(wanted, 0)) {
            sites = {statisticSite("grad_mean", rows), statisticSite("grad_proj", rows), gradientSite(call, 0, "dX")};
        }
        if (isWanted(wanted, 1)) {
            sites.push_back(gradientSite(call, 1, "dW"));
        }
        if (isWanted(wanted, 2)) {
            sites.push_back(gradientSite(call, 2, "dBias"));
        }
        return sites;
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0b011, false}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const std::uint64_t width = lastDim(run.call.inputs[0]);
        const auto count = static_cast<double>(width);
        const auto eps = static_cast<double>(*real(run.call, "eps"));
        const float* x = input(run, 0);
        const float* weight = input(run, 1);
        const float* bias = input(run, 2);
        Tensor mean = Tensor::uninitialised(leadingDims(run.call.inputs[0]));
        Tensor rstd = Tensor::uninitialised(mean.shape());
        const std::uint64_t rows = mean.size();
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                mean.data()[r] = arith::roundToFloat(numerics::sumOf(x + r * width, width) / count);
            }
        });
        ASSAY_CHECK(completed(run, 0, mean));
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                const float* row = x + r * width;
                const auto m = static_cast<double>(mean.data()[r]);
                const double sum = arith::treeSum(width, [&](std::uint64_t c) {
                    const double d = static_cast<double>(row[c]) - m;
                    return d * d;
                });
                rstd.data()[r] = arith::roundToFloat(1.0 / arith::sqrtOwn(sum / count + eps));
            }
        });
        ASSAY_CHECK(completed(run, 1, rstd));
        Tensor y = Tensor::uninitialised(run.call.inputs[0]);
        float* out = y.data();
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                const auto m = static_cast<double>(mean.data()[r]);
                const auto s = static_cast<double>(rstd.data()[r]);
                for (std::uint64_t c = 0; c < width; ++c) {
                    const double h = (static_cast<double>(x[r * width + c]) - m) * s;
                    out[r * width + c] =
                        arith::roundToFloat(h * static_cast<double>(weight[c]) + static_cast<double>(bias[c]));
                }
            }
        });
        ASSAY_CHECK(completed(run, 2, y));
        run.outputs.push_back(std::move(y));
        run.saved.push_back(std::move(mean));
        run.saved.push_back(std::move(rstd));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        ASSAY_ASSERT(run.saved.size() == 2);
        std::uint32_t site = 0;
        if (isWanted(run.wantedGradients, 0)) {
            ASSAY_CHECK(inputGradient(run));
            site = 3;
        }
        if (isWanted(run.wantedGradients, 1)) {
            ASSAY_CHECK(weightGradient(run, site));
            ++site;
        }
        if (isWanted(run.wantedGradients, 2)) {
            Tensor db = Tensor::uninitialised(run.call.inputs[2]);
            roundedColumnSums(run, outputGradient(run), run.saved[0].size(), db.size(), db.data());
            ASSAY_CHECK(completed(run, site, db));
            run.inputGradients[2] = std::move(db);
        }
        return {};
    }

private:
    static Result<void> inputGradient(OpRun& run) {
        const std::uint64_t width = lastDim(run.call.inputs[0]);
        const auto count = static_cast<double>(width);
        const float* x = input(run, 0);
        const float* weight = input(run, 1);
        const float* dy = outputGradient(run);
        const float* mean = run.saved[0].data();
        const float* rstd = run.saved[1].data();
        Tensor gradMean = Tensor::uninitialised(run.saved[0].shape());
        Tensor gradProj = Tensor::uninitialised(run.saved[0].shape());
        const std::uint64_t rows = gradMean.size();
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                gradMean.data()[r] = arith::roundToFloat(numerics::dotOf(dy + r * width, weight, width) / count);
            }
        });
        ASSAY_CHECK(completed(run, 0, gradMean));
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                const auto m = static_cast<double>(mean[r]);
                const auto s = static_cast<double>(rstd[r]);
                const double sum = arith::treeSum(width, [&](std::uint64_t c) {
                    const double g = static_cast<double>(dy[r * width + c]) * static_cast<double>(weight[c]);
                    return g * ((static_cast<double>(x[r * width + c]) - m) * s);
                });
                gradProj.data()[r] = arith::roundToFloat(sum / count);
            }
        });
        ASSAY_CHECK(completed(run, 1, gradProj));
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        float* out = dx.data();
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                const auto m = static_cast<double>(mean[r]);
                const auto s = static_cast<double>(rstd[r]);
                const auto a = static_cast<double>(gradMean.data()[r]);
                const auto p = static_cast<double>(gradProj.data()[r]);
                for (std::uint64_t c = 0; c < width; ++c) {
                    const std::uint64_t i = r * width + c;
                    const double g = static_cast<double>(dy[i]) * static_cast<double>(weight[c]);
                    const double h = (static_cast<double>(x[i]) - m) * s;
                    out[i] = arith::roundToFloat(s * ((g - a) - h * p));
                }
            }
        });
        ASSAY_CHECK(completed(run, 2, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }

    static Result<void> weightGradient(OpRun& run, std::uint32_t site) {
        const std::uint64_t width = lastDim(run.call.inputs[0]);
        const std::uint64_t rows = run.saved[0].size();
        const float* x = input(run, 0);
        const float* dy = outputGradient(run);
        const float* mean = run.saved[0].data();
        const float* rstd = run.saved[1].data();
        Tensor dw = Tensor::uninitialised(run.call.inputs[1]);
        constexpr std::uint64_t kGroup = 16;
        forLines(run, (width + kGroup - 1) / kGroup, rows * kGroup, [&](std::uint64_t begin, std::uint64_t end) {
            const std::uint64_t first = begin * kGroup;
            const std::uint64_t last = std::min(width, end * kGroup);
            std::vector<double> sums(last - first);
            arith::treeSumColumns(
                rows, last - first,
                [&](std::uint64_t r, std::uint64_t c) {
                    const std::uint64_t i = r * width + first + c;
                    const double h =
                        (static_cast<double>(x[i]) - static_cast<double>(mean[r])) * static_cast<double>(rstd[r]);
                    return static_cast<double>(dy[i]) * h;
                },
                sums.data());
            numerics::roundArray(sums.data(), dw.data() + first, last - first);
        });
        ASSAY_CHECK(completed(run, site, dw));
        run.inputGradients[1] = std::move(dw);
        return {};
    }
};

} // namespace

const OpKernel& layerNormKernel() {
    static const LayerNorm kernel;
    return kernel;
}

} // namespace assay::tensor::detail
