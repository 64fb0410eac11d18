// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/arrays.h"
#include "core/tensor/ops/kernels.h"
#include "cuda/arith/philox.h"

namespace assay::tensor::detail {
namespace {

constexpr std::uint64_t kChunk = 1024; ///< values per pass through a function of arrays

/// Common to operators with one input and one output of its shape, each with one site.
class Elementwise : public OpBase {
public:
    using OpBase::OpBase;

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        return std::vector<Shape>{call.inputs[0]};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override { return {forwardSite("y", call.inputs[0])}; }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 0) ? std::vector{gradientSite(call, 0, "dX")} : std::vector<SiteSpec>{};
    }

protected:
    /// Runs fill(x, out, n) over ranges and completes site 0.
    template <typename Fill>
    Result<void> forwardWith(OpRun& run, Fill&& fill) const {
        Tensor y = Tensor::uninitialised(run.call.inputs[0]);
        run.context.pool->parallelFor(y.size(), 1U << 14,
                                      [&](std::uint64_t begin, std::uint64_t end) { fill(begin, end, y.data()); });
        ASSAY_CHECK(completed(run, 0, y));
        run.outputs.push_back(std::move(y));
        return {};
    }
    template <typename Fill>
    Result<void> backwardWith(OpRun& run, Fill&& fill) const {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        run.context.pool->parallelFor(dx.size(), 1U << 14,
                                      [&](std::uint64_t begin, std::uint64_t end) { fill(begin, end, dx.data()); });
        ASSAY_CHECK(completed(run, 0, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }
};

/// y = x > 0 ? x : +0; NaN stays NaN. dx = y > 0 ? dy : +0.
class Relu final : public Elementwise {
public:
    Relu() : Elementwise("relu") {}
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0, true}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const float* x = input(run, 0);
        return forwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* y) {
            for (std::uint64_t i = begin; i < end; ++i) {
                y[i] = x[i] > 0.0F || x[i] != x[i] ? x[i] : 0.0F;
            }
        });
    }
    Result<void> backward(OpRun& run) const override {
        const float* y = run.outputs.at(0).data();
        return backwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* dx) {
            const float* dy = outputGradient(run);
            for (std::uint64_t i = begin; i < end; ++i) {
                dx[i] = y[i] > 0.0F ? dy[i] : 0.0F;
            }
        });
    }
};

/// y = RN(x factor), dx = RN(dy factor).
class Scale final : public Elementwise {
public:
    Scale() : Elementwise("scale") {}
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {}; }

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(real(call, "factor"));
        return Elementwise::inferShapes(call);
    }
    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const float* x = input(run, 0);
        return forwardWith(run,
                           [&](std::uint64_t begin, std::uint64_t end, float* y) { apply(run, x, begin, end, y); });
    }
    Result<void> backward(OpRun& run) const override {
        return backwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* dx) {
            apply(run, outputGradient(run), begin, end, dx);
        });
    }

private:
    void apply(const OpRun& run, const float* x, std::uint64_t begin, std::uint64_t end, float* y) const {
        const auto factor = static_cast<double>(*real(run.call, "factor"));
        for (std::uint64_t i = begin; i < end; ++i) {
            y[i] = arith::roundToFloat(static_cast<double>(x[i]) * factor);
        }
    }
};

/// The tanh form: t = tanh(c (x + (k x^2) x)), y = RN((x/2) (1 + t)), with c = sqrt(2/pi) and k = 0.044715.
/// dx = RN(dy (1/2 (1 + t) + (x/2) ((1 - t t) (c (1 + 3k x^2))))).
class Gelu final : public Elementwise {
public:
    Gelu() : Elementwise("gelu") {}
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {1, false}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const float* x = input(run, 0);
        return forwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* y) {
            double t[kChunk];
            for (std::uint64_t at = begin; at < end; at += kChunk) {
                const std::uint64_t n = std::min(kChunk, end - at);
                tanhOfInner(x + at, t, n);
                for (std::uint64_t i = 0; i < n; ++i) {
                    y[at + i] = arith::roundToFloat((0.5 * static_cast<double>(x[at + i])) * (1.0 + t[i]));
                }
            }
        });
    }
    Result<void> backward(OpRun& run) const override {
        const float* x = input(run, 0);
        return backwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* dx) {
            const float* dy = outputGradient(run);
            double t[kChunk];
            for (std::uint64_t at = begin; at < end; at += kChunk) {
                const std::uint64_t n = std::min(kChunk, end - at);
                tanhOfInner(x + at, t, n);
                for (std::uint64_t i = 0; i < n; ++i) {
                    const auto v = static_cast<double>(x[at + i]);
                    const double slope = kC * (1.0 + k3K * (v * v));
                    const double derivative = 0.5 * (1.0 + t[i]) + (0.5 * v) * ((1.0 - t[i] * t[i]) * slope);
                    dx[at + i] = arith::roundToFloat(static_cast<double>(dy[at + i]) * derivative);
                }
            }
        });
    }

private:
    static constexpr double kC = 0x1.9884533d43651p-1;
    static constexpr double kK = 0.044715;
    static constexpr double k3K = 0.134145;

    static void tanhOfInner(const float* x, double* t, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            const auto v = static_cast<double>(x[i]);
            t[i] = kC * (v + (kK * (v * v)) * v);
        }
        numerics::tanhArray(t, t, n);
    }
};

/// Training: y = kept ? RN(x (1 / (1 - p))) : +0, dx likewise; which values are kept depends on the order's seed, the
/// step, the operator's position and the index alone. Evaluation: y = x, no site.
class Dropout final : public Elementwise {
public:
    Dropout() : Elementwise("dropout") {}
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {}; }

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_TRY(p, real(call, "p"));
        if (!(p >= 0.0F && p < 1.0F)) {
            return wrong(fmt::format("p is {}, expected 0 <= p < 1", p));
        }
        return Elementwise::inferShapes(call);
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        return call.mode == Mode::train ? Elementwise::forwardSites(call) : std::vector<SiteSpec>{};
    }
    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        if (run.call.mode == Mode::evaluate) {
            run.outputs.push_back(run.inputs[0].values->alias());
            return {};
        }
        const float* x = input(run, 0);
        return forwardWith(run,
                           [&](std::uint64_t begin, std::uint64_t end, float* y) { apply(run, x, begin, end, y); });
    }
    Result<void> backward(OpRun& run) const override {
        return backwardWith(run, [&](std::uint64_t begin, std::uint64_t end, float* dx) {
            apply(run, outputGradient(run), begin, end, dx);
        });
    }

private:
    void apply(const OpRun& run, const float* x, std::uint64_t begin, std::uint64_t end, float* y) const {
        const auto p = static_cast<double>(*real(run.call, "p"));
        const double factor = 1.0 / (1.0 - p);
        const OpContext& c = run.context;
        for (std::uint64_t i = begin; i < end;) { // four random words at a time
            const arith::PhiloxBlock words = arith::randomBlock(c.seed, c.step, c.operatorIndex, i / 4);
            for (std::uint64_t lane = i % 4; lane < 4 && i < end; ++lane, ++i) {
                y[i] = arith::keepByDropout(words[lane], p) ? arith::roundToFloat(static_cast<double>(x[i]) * factor)
                                                            : 0.0F;
            }
        }
    }
};

/// y = RN(a + b); b has a's shape or that of its last dimensions. The gradient of an operand of y's shape is dy itself
/// (no site); that of a smaller b is the sum over the leading dimensions in the specified tree.
class Add final : public OpBase {
public:
    Add() : OpBase("add") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 2));
        const Shape& a = call.inputs[0];
        const Shape& b = call.inputs[1];
        if (b.size() > a.size() || !std::equal(b.rbegin(), b.rend(), a.rbegin())) {
            return wrong(fmt::format("{} cannot be added to {}: expected the same shape or its last dimensions",
                                     toString(b), toString(a)));
        }
        return std::vector<Shape>{a};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override { return {forwardSite("y", call.inputs[0])}; }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 1) && isBroadcast(call) ? std::vector{gradientSite(call, 1, "dB")}
                                                        : std::vector<SiteSpec>{};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        Tensor y = Tensor::uninitialised(run.call.inputs[0]);
        const float* a = input(run, 0);
        const float* b = input(run, 1);
        float* out = y.data();
        const std::uint64_t width = elementCount(run.call.inputs[1]);
        if (!isBroadcast(run.call)) {
            forValues(run, y.size(), [&](std::uint64_t i) {
                out[i] = arith::roundToFloat(static_cast<double>(a[i]) + static_cast<double>(b[i]));
            });
        }
        forLines(run, isBroadcast(run.call) ? y.size() / width : 0, width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                for (std::uint64_t c = 0; c < width; ++c) {
                    const std::uint64_t i = r * width + c;
                    out[i] = arith::roundToFloat(static_cast<double>(a[i]) + static_cast<double>(b[c]));
                }
            }
        });
        ASSAY_CHECK(completed(run, 0, y));
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (isWanted(run.wantedGradients, 0)) {
            run.inputGradients[0] = run.outputGradients[0]->alias();
        }
        if (!isWanted(run.wantedGradients, 1)) {
            return {};
        }
        if (!isBroadcast(run.call)) {
            run.inputGradients[1] = run.outputGradients[0]->alias();
            return {};
        }
        Tensor db = Tensor::uninitialised(run.call.inputs[1]);
        roundedColumnSums(run, outputGradient(run), run.outputGradients[0]->size() / db.size(), db.size(), db.data());
        ASSAY_CHECK(completed(run, 0, db));
        run.inputGradients[1] = std::move(db);
        return {};
    }

private:
    static bool isBroadcast(const OpCall& call) { return call.inputs[0] != call.inputs[1]; }
};

} // namespace

const OpKernel& reluKernel() {
    static const Relu kernel;
    return kernel;
}
const OpKernel& scaleKernel() {
    static const Scale kernel;
    return kernel;
}
const OpKernel& geluKernel() {
    static const Gelu kernel;
    return kernel;
}
const OpKernel& dropoutKernel() {
    static const Dropout kernel;
    return kernel;
}
const OpKernel& addKernel() {
    static const Add kernel;
    return kernel;
}

} // namespace assay::tensor::detail
