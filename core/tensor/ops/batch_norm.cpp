// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/numerics/arrays.h"
#include "core/tensor/ops/kernels.h"
#include "cuda/arith/elementary.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

/// x[N, C, ..] as the values of each channel in the order (n, position): M = N * positions values per channel.
struct Channels {
    std::uint64_t batch, count, positions;
    explicit Channels(const Shape& x)
        : batch(dim(x, 0)), count(dim(x, 1)), positions(elementCount(x) / (batch * count)) {}
    [[nodiscard]] std::uint64_t values() const { return batch * positions; }
    void gather(const float* x, std::uint64_t channel, float* out) const {
        for (std::uint64_t n = 0; n < batch; ++n) {
            std::memcpy(out + n * positions, x + (n * count + channel) * positions, positions * sizeof(float));
        }
    }
    void scatter(const float* values, std::uint64_t channel, float* x) const {
        for (std::uint64_t n = 0; n < batch; ++n) {
            std::memcpy(x + (n * count + channel) * positions, values + n * positions, positions * sizeof(float));
        }
    }
};

/// x[N, C, ..], weight, bias, running_mean, running_var [C]. Training, per channel with all sums in the specified tree
/// over (n, position), M values:
///   mean = RN(sum x / M), var = RN(sum (x - mean)^2 / M), rstd = RN(1 / sqrt(var + eps)),
///   y = RN(((x - mean) rstd) weight + bias),
///   running_mean' = RN((1 - momentum) running_mean + momentum mean),
///   running_var' = RN((1 - momentum) running_var + momentum (var (M / (M - 1)))), with var itself for M = 1.
/// Evaluation: rstd = RN(1 / sqrt(running_var + eps)), y with running_mean.
/// Backward (training), h = (x - mean) rstd: grad_mean = RN(sum dy / M), grad_proj = RN(sum dy h / M),
///   dx = RN((weight rstd) ((dy - grad_mean) - h grad_proj)), dweight = RN(sum dy h), dbias = RN(sum dy).
class BatchNorm final : public OpBase {
public:
    BatchNorm() : OpBase("batch_norm") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 5, 5));
        ASSAY_CHECK(expectRank(call, 0, 2, kMaxRank));
        for (std::size_t i = 1; i < 5; ++i) {
            ASSAY_CHECK(expectShape(call, i, {call.inputs[0][1]}));
        }
        ASSAY_TRY(eps, real(call, "eps"));
        ASSAY_TRY(momentum, real(call, "momentum"));
        if (!(eps > 0.0F) || !(momentum >= 0.0F && momentum <= 1.0F)) {
            return wrong(
                fmt::format("eps is {} and momentum {}, expected eps > 0 and 0 <= momentum <= 1", eps, momentum));
        }
        return std::vector<Shape>{call.inputs[0]};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Shape channels{call.inputs[0][1]};
        if (call.mode == Mode::evaluate) {
            return {statisticSite("rstd", channels), forwardSite("y", call.inputs[0])};
        }
        return {statisticSite("mean", channels),
                statisticSite("var", channels),
                statisticSite("rstd", channels),
                forwardSite("y", call.inputs[0]),
                {"running_mean", Direction::parameterUpdate, false, channels},
                {"running_var", Direction::parameterUpdate, false, channels}};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        std::vector<SiteSpec> sites;
        const Shape channels{call.inputs[0][1]};
        if (isWanted(wanted, 0)) {
            sites = {statisticSite("grad_mean", channels), statisticSite("grad_proj", channels),
                     gradientSite(call, 0, "dX")};
        }
        if (isWanted(wanted, 1)) {
            sites.push_back(gradientSite(call, 1, "dW"));
        }
        if (isWanted(wanted, 2)) {
            sites.push_back(gradientSite(call, 2, "dBias"));
        }
        return sites;
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0b00011, false}; }
    std::uint32_t updatedInputs(const OpCall& call) const override { return call.mode == Mode::train ? 0b11000 : 0; }
    std::uint32_t constantInputs(const OpCall&) const override { return 0b11000; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const Channels channels(run.call.inputs[0]);
        const auto eps = static_cast<double>(*real(run.call, "eps"));
        const Shape shape{run.call.inputs[0][1]};
        const auto rstdOf = [&](const float* var) {
            Tensor rstd = Tensor::uninitialised(shape);
            for (std::uint64_t c = 0; c < channels.count; ++c) {
                rstd.data()[c] = arith::roundToFloat(1.0 / arith::sqrtOwn(static_cast<double>(var[c]) + eps));
            }
            return rstd;
        };
        if (run.call.mode == Mode::evaluate) {
            Tensor rstd = rstdOf(input(run, 4));
            ASSAY_CHECK(completed(run, 0, rstd));
            return normalise(run, channels, input(run, 3), rstd.data(), 1);
        }
        Tensor mean = Tensor::uninitialised(shape);
        Tensor var = Tensor::uninitialised(shape);
        const auto count = static_cast<double>(channels.values());
        const float* x = input(run, 0);
        forLines(run, channels.count, channels.values(), [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<float> values(channels.values());
            for (std::uint64_t c = begin; c < end; ++c) {
                channels.gather(x, c, values.data());
                mean.data()[c] = arith::roundToFloat(numerics::sumOf(values.data(), values.size()) / count);
            }
        });
        ASSAY_CHECK(completed(run, 0, mean));
        forLines(run, channels.count, channels.values(), [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<float> values(channels.values());
            for (std::uint64_t c = begin; c < end; ++c) {
                channels.gather(x, c, values.data());
                const auto m = static_cast<double>(mean.data()[c]);
                const float* v = values.data();
                const double sum = arith::treeSum(values.size(), [v, m](std::uint64_t i) {
                    const double d = static_cast<double>(v[i]) - m;
                    return d * d;
                });
                var.data()[c] = arith::roundToFloat(sum / count);
            }
        });
        ASSAY_CHECK(completed(run, 1, var));
        Tensor rstd = rstdOf(var.data());
        ASSAY_CHECK(completed(run, 2, rstd));
        ASSAY_CHECK(normalise(run, channels, mean.data(), rstd.data(), 3));
        ASSAY_CHECK(updateRunning(run, mean, var));
        run.saved.push_back(std::move(mean));
        run.saved.push_back(std::move(rstd));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        ASSAY_ASSERT(run.saved.size() == 2);
        const Channels channels(run.call.inputs[0]);
        const float* x = input(run, 0);
        const float* dy = outputGradient(run);
        const float* mean = run.saved[0].data();
        const float* rstd = run.saved[1].data();
        std::vector<double> sums(channels.count);
        std::vector<double> projections(channels.count);
        forLines(run, channels.count, channels.values(), [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<float> values(channels.values());
            std::vector<float> gradients(channels.values());
            for (std::uint64_t c = begin; c < end; ++c) {
                channels.gather(x, c, values.data());
                channels.gather(dy, c, gradients.data());
                const auto m = static_cast<double>(mean[c]);
                const auto s = static_cast<double>(rstd[c]);
                const float* v = values.data();
                const float* g = gradients.data();
                sums[c] = numerics::sumOf(g, gradients.size());
                projections[c] = arith::treeSum(values.size(), [v, g, m, s](std::uint64_t i) {
                    return static_cast<double>(g[i]) * ((static_cast<double>(v[i]) - m) * s);
                });
            }
        });
        std::uint32_t site = 0;
        if (isWanted(run.wantedGradients, 0)) {
            ASSAY_CHECK(inputGradient(run, channels, sums, projections));
            site = 3;
        }
        for (std::size_t which = 1; which <= 2; ++which) {
            if (isWanted(run.wantedGradients, which)) {
                Tensor gradient = Tensor::uninitialised(run.call.inputs[which]);
                numerics::roundArray(which == 1 ? projections.data() : sums.data(), gradient.data(), gradient.size());
                ASSAY_CHECK(completed(run, site, gradient));
                run.inputGradients[which] = std::move(gradient);
                ++site;
            }
        }
        return {};
    }

private:
    static Result<void> normalise(OpRun& run, const Channels& channels, const float* mean, const float* rstd,
                                  std::uint32_t site) {
        Tensor y = Tensor::uninitialised(run.call.inputs[0]);
        const float* x = input(run, 0);
        const float* weight = input(run, 1);
        const float* bias = input(run, 2);
        float* out = y.data();
        forLines(run, channels.batch * channels.count, channels.positions, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t line = begin; line < end; ++line) {
                const std::uint64_t c = line % channels.count;
                const auto m = static_cast<double>(mean[c]);
                const auto s = static_cast<double>(rstd[c]);
                const auto w = static_cast<double>(weight[c]);
                const auto b = static_cast<double>(bias[c]);
                for (std::uint64_t i = line * channels.positions; i < (line + 1) * channels.positions; ++i) {
                    out[i] = arith::roundToFloat(((static_cast<double>(x[i]) - m) * s) * w + b);
                }
            }
        });
        ASSAY_CHECK(completed(run, site, y));
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> updateRunning(OpRun& run, const Tensor& mean, const Tensor& var) const {
        const auto momentum = static_cast<double>(*real(run.call, "momentum"));
        const std::uint64_t m = Channels(run.call.inputs[0]).values();
        const double unbiased = m > 1 ? static_cast<double>(m) / static_cast<double>(m - 1) : 1.0;
        run.updated.resize(5);
        for (std::size_t which = 3; which <= 4; ++which) {
            const float* before = input(run, which);
            const float* now = which == 3 ? mean.data() : var.data();
            Tensor next = Tensor::uninitialised(run.call.inputs[which]);
            for (std::uint64_t c = 0; c < next.size(); ++c) {
                const double value = which == 3 ? static_cast<double>(now[c]) : static_cast<double>(now[c]) * unbiased;
                next.data()[c] =
                    arith::roundToFloat((1.0 - momentum) * static_cast<double>(before[c]) + momentum * value);
            }
            ASSAY_CHECK(completed(run, static_cast<std::uint32_t>(which + 1), next));
            run.updated[which] = std::move(next);
        }
        return {};
    }

    static Result<void> inputGradient(OpRun& run, const Channels& channels, const std::vector<double>& sums,
                                      const std::vector<double>& projections) {
        const auto count = static_cast<double>(channels.values());
        Tensor gradMean = Tensor::uninitialised(run.saved[0].shape());
        Tensor gradProj = Tensor::uninitialised(run.saved[0].shape());
        for (std::uint64_t c = 0; c < channels.count; ++c) {
            gradMean.data()[c] = arith::roundToFloat(sums[c] / count);
            gradProj.data()[c] = arith::roundToFloat(projections[c] / count);
        }
        ASSAY_CHECK(completed(run, 0, gradMean));
        ASSAY_CHECK(completed(run, 1, gradProj));
        const float* x = input(run, 0);
        const float* weight = input(run, 1);
        const float* dy = outputGradient(run);
        const float* mean = run.saved[0].data();
        const float* rstd = run.saved[1].data();
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        float* out = dx.data();
        forLines(run, channels.batch * channels.count, channels.positions, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t line = begin; line < end; ++line) {
                const std::uint64_t c = line % channels.count;
                const auto m = static_cast<double>(mean[c]);
                const auto s = static_cast<double>(rstd[c]);
                const double factor = static_cast<double>(weight[c]) * s;
                const auto a = static_cast<double>(gradMean.data()[c]);
                const auto p = static_cast<double>(gradProj.data()[c]);
                for (std::uint64_t i = line * channels.positions; i < (line + 1) * channels.positions; ++i) {
                    const double h = (static_cast<double>(x[i]) - m) * s;
                    out[i] = arith::roundToFloat(factor * ((static_cast<double>(dy[i]) - a) - h * p));
                }
            }
        });
        ASSAY_CHECK(completed(run, 2, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }
};

} // namespace

const OpKernel& batchNormKernel() {
    static const BatchNorm kernel;
    return kernel;
}

} // namespace assay::tensor::detail
