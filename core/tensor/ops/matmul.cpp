// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/ops/kernels.h"

namespace assay::tensor::detail {
namespace {

/// a[.., M, K], b[.., K, N] (transpose_b: b[.., N, K]) -> y[.., M, N], with equal leading dimensions.
class Matmul final : public OpBase {
public:
    Matmul() : OpBase("matmul") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 2));
        ASSAY_CHECK(expectRank(call, 0, 2, kMaxRank));
        ASSAY_TRY(transposed, boolean(call, "transpose_b"));
        const Shape& a = call.inputs[0];
        const Shape& b = call.inputs[1];
        const std::size_t rank = a.size();
        if (b.size() != rank || !std::equal(a.begin(), a.end() - 2, b.begin()) ||
            a[rank - 1] != b[transposed ? rank - 1 : rank - 2]) {
            return wrong(fmt::format("{} and {}{} do not fit together", toString(a), toString(b),
                                     transposed ? " transposed" : ""));
        }
        Shape y = a;
        y.back() = b[transposed ? rank - 2 : rank - 1];
        return std::vector<Shape>{y};
    }

    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Sizes s(*this, call);
        Shape y = call.inputs[0];
        y.back() = static_cast<std::int64_t>(s.n);
        return {forwardSite("y", y, true)};
    }

    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        std::vector<SiteSpec> sites;
        if (isWanted(wanted, 0)) {
            sites.push_back(gradientSite(call, 0, "dA", true));
        }
        if (isWanted(wanted, 1)) {
            sites.push_back(gradientSite(call, 1, "dB", true));
        }
        return sites;
    }

    BackwardNeeds backwardNeeds(const OpCall&) const override { return {0b11, false}; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        const Sizes s(*this, run.call);
        Tensor y = Tensor::uninitialised(shapes[0]);
        const ProductSpec product{s.batch, s.m,           s.n,       s.k,          input(run, 0), s.m * s.k,
                                  false,   input(run, 1), s.k * s.n, s.transposed, nullptr};
        ASSAY_CHECK(run.context.products->run(product, 0, *run.emitter, noiseKey(run, 0), y.values()));
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        const Sizes s(*this, run.call);
        const float* dy = outputGradient(run);
        std::uint32_t site = 0;
        if (isWanted(run.wantedGradients, 0)) { // dA = dY B^T
            Tensor da = Tensor::uninitialised(run.call.inputs[0]);
            const ProductSpec product{s.batch, s.m,           s.k,       s.n,           dy,     s.m * s.n,
                                      false,   input(run, 1), s.k * s.n, !s.transposed, nullptr};
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), da.values()));
            run.inputGradients[0] = std::move(da);
            ++site;
        }
        if (isWanted(run.wantedGradients, 1)) { // dB = A^T dY, or its transpose dY^T A
            Tensor db = Tensor::uninitialised(run.call.inputs[1]);
            const float* a = input(run, 0);
            const ProductSpec product =
                s.transposed ? ProductSpec{s.batch, s.n, s.k, s.m, dy, s.m * s.n, true, a, s.m * s.k, false, nullptr}
                             : ProductSpec{s.batch, s.k, s.n, s.m, a, s.m * s.k, true, dy, s.m * s.n, false, nullptr};
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), db.values()));
            run.inputGradients[1] = std::move(db);
        }
        return {};
    }

private:
    struct Sizes {
        std::uint64_t batch = 1, m, n, k;
        bool transposed;
        Sizes(const Matmul& self, const OpCall& call) : transposed(*self.boolean(call, "transpose_b")) {
            const Shape& a = call.inputs[0];
            const Shape& b = call.inputs[1];
            const std::size_t rank = a.size();
            for (std::size_t i = 0; i + 2 < rank; ++i) {
                batch *= dim(a, i);
            }
            m = dim(a, rank - 2);
            k = dim(a, rank - 1);
            n = dim(b, transposed ? rank - 2 : rank - 1);
        }
    };
};

} // namespace

const OpKernel& matmulKernel() {
    static const Matmul kernel;
    return kernel;
}

} // namespace assay::tensor::detail
