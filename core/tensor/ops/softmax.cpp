// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/arrays.h"
#include "core/tensor/ops/kernels.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

/// out[i] = exp(x[i] - max) for i < n.
void shiftedExp(const float* x, float max, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = static_cast<double>(x[i]) - static_cast<double>(max);
    }
    numerics::expArray(out, out, n);
}

/// RN of the sum of exp(x[i] - max), in the specified tree.
float roundedExpSum(const float* x, float max, std::uint64_t n, std::vector<double>& scratch) {
    scratch.resize(n);
    shiftedExp(x, max, scratch.data(), n);
    return arith::roundToFloat(arith::treeSum(scratch.data(), n));
}

float maxOfRow(const float* x, std::uint64_t n) {
    return arith::maxOf(n, [x](std::uint64_t i) { return x[i]; });
}

/// y = RN(exp(x - max) / sum) along the last dimension, with max and sum (rounded) as statistics. Causal: row r of the
/// last two dimensions sees only columns <= r, the others are +0 and enter neither max nor sum; no -Inf ever arises. dx
/// = RN(y (dy - dot)), dot = RN(sum of dy y over the visible columns).
class Softmax final : public OpBase {
public:
    Softmax() : OpBase("softmax") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_TRY(causal, boolean(call, "causal"));
        ASSAY_CHECK(expectRank(call, 0, causal ? 2 : 1, kMaxRank));
        return std::vector<Shape>{call.inputs[0]};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Shape rows = leadingDims(call.inputs[0]);
        return {statisticSite("max", rows), statisticSite("sum", rows), forwardSite("y", call.inputs[0])};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        if (!isWanted(wanted, 0)) {
            return {};
        }
        return {statisticSite("grad_dot", leadingDims(call.inputs[0])), gradientSite(call, 0, "dX")};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0, true}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const Rows rows(*this, run.call);
        const float* x = input(run, 0);
        Tensor max = Tensor::uninitialised(leadingDims(run.call.inputs[0]));
        Tensor sum = Tensor::uninitialised(max.shape());
        Tensor y = Tensor::uninitialised(run.call.inputs[0]);
        forLines(run, rows.count, rows.width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                max.data()[r] = maxOfRow(x + r * rows.width, rows.visible(r));
            }
        });
        ASSAY_CHECK(completed(run, 0, max));
        forLines(run, rows.count, rows.width, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<double> scratch;
            for (std::uint64_t r = begin; r < end; ++r) {
                sum.data()[r] = roundedExpSum(x + r * rows.width, max.data()[r], rows.visible(r), scratch);
            }
        });
        ASSAY_CHECK(completed(run, 1, sum));
        forLines(run, rows.count, rows.width, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<double> scratch(rows.width);
            for (std::uint64_t r = begin; r < end; ++r) {
                const std::uint64_t visible = rows.visible(r);
                const auto total = static_cast<double>(sum.data()[r]);
                float* out = y.data() + r * rows.width;
                shiftedExp(x + r * rows.width, max.data()[r], scratch.data(), visible);
                for (std::uint64_t c = 0; c < visible; ++c) {
                    out[c] = arith::roundToFloat(scratch[c] / total);
                }
                std::fill(out + visible, out + rows.width, 0.0F);
            }
        });
        ASSAY_CHECK(completed(run, 2, y));
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        const Rows rows(*this, run.call);
        const float* y = run.outputs[0].data();
        const float* dy = outputGradient(run);
        Tensor dot = Tensor::uninitialised(leadingDims(run.call.inputs[0]));
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        forLines(run, rows.count, rows.width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                dot.data()[r] =
                    arith::roundToFloat(numerics::dotOf(dy + r * rows.width, y + r * rows.width, rows.visible(r)));
            }
        });
        ASSAY_CHECK(completed(run, 0, dot));
        forLines(run, rows.count, rows.width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                const std::uint64_t visible = rows.visible(r);
                const auto shift = static_cast<double>(dot.data()[r]);
                float* out = dx.data() + r * rows.width;
                for (std::uint64_t c = 0; c < visible; ++c) {
                    const std::uint64_t i = r * rows.width + c;
                    out[c] = arith::roundToFloat(static_cast<double>(y[i]) * (static_cast<double>(dy[i]) - shift));
                }
                std::fill(out + visible, out + rows.width, 0.0F);
            }
        });
        ASSAY_CHECK(completed(run, 1, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }

private:
    struct Rows {
        std::uint64_t count, width, period; ///< period: rows of the last two dimensions if causal, otherwise 0
        Rows(const Softmax& self, const OpCall& call) {
            const Shape& x = call.inputs[0];
            width = lastDim(x);
            count = elementCount(leadingDims(x));
            period = *self.boolean(call, "causal") ? dim(x, x.size() - 2) : 0;
        }
        [[nodiscard]] std::uint64_t visible(std::uint64_t row) const {
            return period == 0 ? width : std::min(width, row % period + 1);
        }
    };
};

/// logits[.., V], labels[..] -> mean over the rows of (log sum + max) - logit of the label, where sum = RN(sum of
/// exp(logit - max)) and max are statistics. dlogits = RN(((exp(x - max) / sum - [label]) / rows) dloss).
class CrossEntropy final : public OpBase {
public:
    CrossEntropy() : OpBase("cross_entropy") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 2));
        ASSAY_CHECK(expectRank(call, 0, 1, kMaxRank));
        if (elementCount(leadingDims(call.inputs[0])) != elementCount(call.inputs[1])) {
            return wrong(fmt::format("logits {} need one label per row, labels have shape {}", toString(call.inputs[0]),
                                     toString(call.inputs[1])));
        }
        return std::vector<Shape>{Shape{}};
    }
    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Shape rows = leadingDims(call.inputs[0]);
        return {statisticSite("max", rows), statisticSite("sum", rows), forwardSite("loss", {})};
    }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 0) ? std::vector{gradientSite(call, 0, "dX")} : std::vector<SiteSpec>{};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0b11, false}; }
    std::uint32_t constantInputs(const OpCall&) const override { return 0b10; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_CHECK(beginForward(run));
        const std::uint64_t classes = lastDim(run.call.inputs[0]);
        const std::vector<std::int64_t>& labels = run.inputs[1].ids->values;
        const std::uint64_t rows = labels.size();
        for (std::uint64_t r = 0; r < rows; ++r) {
            if (labels[r] < 0 || static_cast<std::uint64_t>(labels[r]) >= classes) {
                return wrong(fmt::format("label {} of row {} is not below {}", labels[r], r, classes));
            }
        }
        const float* x = input(run, 0);
        Tensor max = Tensor::uninitialised(leadingDims(run.call.inputs[0]));
        Tensor sum = Tensor::uninitialised(max.shape());
        forLines(run, rows, classes, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                max.data()[r] = maxOfRow(x + r * classes, classes);
            }
        });
        ASSAY_CHECK(completed(run, 0, max));
        forLines(run, rows, classes, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<double> scratch;
            for (std::uint64_t r = begin; r < end; ++r) {
                sum.data()[r] = roundedExpSum(x + r * classes, max.data()[r], classes, scratch);
            }
        });
        ASSAY_CHECK(completed(run, 1, sum));
        std::vector<double> terms(sum.values().begin(), sum.values().end());
        numerics::logArray(terms.data(), terms.data(), rows);
        for (std::uint64_t r = 0; r < rows; ++r) {
            const auto logit = static_cast<double>(x[r * classes + static_cast<std::uint64_t>(labels[r])]);
            terms[r] = (terms[r] + static_cast<double>(max.data()[r])) - logit;
        }
        Tensor loss = Tensor::uninitialised({});
        loss.data()[0] = arith::roundToFloat(arith::treeSum(terms.data(), rows) / static_cast<double>(rows));
        ASSAY_CHECK(completed(run, 2, loss));
        run.outputs.push_back(std::move(loss));
        run.saved.push_back(std::move(max));
        run.saved.push_back(std::move(sum));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        ASSAY_ASSERT(run.saved.size() == 2);
        const std::uint64_t classes = lastDim(run.call.inputs[0]);
        const std::vector<std::int64_t>& labels = run.inputs[1].ids->values;
        const float* x = input(run, 0);
        const auto rows = static_cast<double>(labels.size());
        const auto dLoss = static_cast<double>(outputGradient(run)[0]);
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        forLines(run, labels.size(), classes, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<double> p(classes);
            for (std::uint64_t r = begin; r < end; ++r) {
                shiftedExp(x + r * classes, run.saved[0].data()[r], p.data(), classes);
                const auto sum = static_cast<double>(run.saved[1].data()[r]);
                float* out = dx.data() + r * classes;
                for (std::uint64_t c = 0; c < classes; ++c) {
                    const double hit = static_cast<std::uint64_t>(labels[r]) == c ? 1.0 : 0.0;
                    out[c] = arith::roundToFloat(((p[c] / sum - hit) / rows) * dLoss);
                }
            }
        });
        ASSAY_CHECK(completed(run, 0, dx));
        run.inputGradients[0] = std::move(dx);
        return {};
    }
};

} // namespace

const OpKernel& softmaxKernel() {
    static const Softmax kernel;
    return kernel;
}
const OpKernel& crossEntropyKernel() {
    static const CrossEntropy kernel;
    return kernel;
}

} // namespace assay::tensor::detail
