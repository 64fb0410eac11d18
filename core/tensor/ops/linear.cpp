// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/ops/kernels.h"

namespace assay::tensor::detail {
namespace {

/// x[.., I], weight[O, I], (bias[O]) -> y[.., O] = x weight^T + bias. The bias is added to the rounded product.
class Linear final : public OpBase {
public:
    Linear() : OpBase("linear") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 3));
        ASSAY_CHECK(expectRank(call, 0, 1, kMaxRank));
        ASSAY_CHECK(expectRank(call, 1, 2, 2));
        const Shape& weight = call.inputs[1];
        if (call.inputs[0].back() != weight[1]) {
            return wrong(fmt::format("the last dimension of {} does not fit the weight {}", toString(call.inputs[0]),
                                     toString(weight)));
        }
        if (call.inputs.size() == 3) {
            ASSAY_CHECK(expectShape(call, 2, {weight[0]}));
        }
        Shape y = call.inputs[0];
        y.back() = weight[0];
        return std::vector<Shape>{y};
    }

    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        Shape y = call.inputs[0];
        y.back() = call.inputs[1][0];
        std::vector<SiteSpec> sites{forwardSite("y", y, true)};
        if (call.inputs.size() == 3) {
            sites.push_back(forwardSite("bias", y));
        }
        return sites;
    }

    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        std::vector<SiteSpec> sites;
        if (isWanted(wanted, 0)) {
            sites.push_back(gradientSite(call, 0, "dX", true));
        }
        if (isWanted(wanted, 1)) {
            sites.push_back(gradientSite(call, 1, "dW", true));
        }
        if (isWanted(wanted, 2)) {
            sites.push_back(gradientSite(call, 2, "dBias"));
        }
        return sites;
    }

    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0b11, false}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        const Sizes s(run.call);
        Tensor y = Tensor::uninitialised(shapes[0]);
        ProductSpec product;
        product.m = s.rows;
        product.n = s.out;
        product.k = s.in;
        product.a = input(run, 0);
        product.b = input(run, 1);
        product.bTransposed = true;
        ASSAY_CHECK(run.context.products->run(product, 0, *run.emitter, noiseKey(run, 0), y.values()));
        if (run.inputs.size() == 3) {
            const float* bias = input(run, 2);
            float* out = y.data();
            forLines(run, s.rows, s.out, [&](std::uint64_t begin, std::uint64_t end) {
                for (std::uint64_t r = begin; r < end; ++r) {
                    float* row = out + r * s.out;
                    for (std::uint64_t c = 0; c < s.out; ++c) {
                        row[c] = arith::roundToFloat(static_cast<double>(row[c]) + static_cast<double>(bias[c]));
                    }
                }
            });
            ASSAY_CHECK(completed(run, 1, y));
        }
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        const Sizes s(run.call);
        const float* dy = outputGradient(run);
        std::uint32_t site = 0;
        if (isWanted(run.wantedGradients, 0)) {
            Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
            ProductSpec product;
            product.m = s.rows;
            product.n = s.in;
            product.k = s.out;
            product.a = dy;
            product.b = input(run, 1);
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), dx.values()));
            run.inputGradients[0] = std::move(dx);
            ++site;
        }
        if (isWanted(run.wantedGradients, 1)) {
            Tensor dw = Tensor::uninitialised(run.call.inputs[1]);
            ProductSpec product;
            product.m = s.out;
            product.n = s.in;
            product.k = s.rows;
            product.a = dy;
            product.aTransposed = true;
            product.b = input(run, 0);
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), dw.values()));
            run.inputGradients[1] = std::move(dw);
            ++site;
        }
        if (isWanted(run.wantedGradients, 2)) {
            Tensor db = Tensor::uninitialised(run.call.inputs[2]);
            roundedColumnSums(run, dy, s.rows, s.out, db.data());
            ASSAY_CHECK(completed(run, site, db));
            run.inputGradients[2] = std::move(db);
        }
        return {};
    }

private:
    struct Sizes {
        std::uint64_t rows, in, out;
        explicit Sizes(const OpCall& call)
            : rows(elementCount(leadingDims(call.inputs[0]))), in(lastDim(call.inputs[0])),
              out(dim(call.inputs[1], 0)) {}
    };
};

} // namespace

const OpKernel& linearKernel() {
    static const Linear kernel;
    return kernel;
}

} // namespace assay::tensor::detail
