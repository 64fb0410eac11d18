// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "core/tensor/ops/kernels.h"

/// Operators that only move values: exact copies, hence no sites.
namespace assay::tensor::detail {
namespace {

class Movement : public OpBase {
public:
    using OpBase::OpBase;
    std::vector<SiteSpec> forwardSites(const OpCall&) const override { return {}; }
    std::vector<SiteSpec> backwardSites(const OpCall&, std::uint32_t) const override { return {}; }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {}; }
};

/// Another shape for the same values. In `shape`, 0 is the run's batch size and one -1 is whatever is left.
class Reshape final : public Movement {
public:
    Reshape() : Movement("reshape") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_TRY(shape, integers(call, "shape"));
        if (shape.size() > kMaxRank) {
            return wrong(fmt::format("shape has more than {} dimensions", kMaxRank));
        }
        const auto count = static_cast<std::int64_t>(elementCount(call.inputs[0]));
        std::int64_t known = 1;
        std::int64_t* open = nullptr;
        for (std::int64_t& dimension : shape) {
            if (dimension == 0) {
                dimension = call.batch;
            }
            if (dimension == -1 && open == nullptr) {
                open = &dimension;
                continue;
            }
            if (dimension < 1 || dimension > count || known > count / dimension) {
                return doesNotFit(call, shape);
            }
            known *= dimension;
        }
        if (open != nullptr && count % known == 0) {
            *open = count / known;
            known = count;
        }
        if (known != count) {
            return doesNotFit(call, shape);
        }
        return std::vector<Shape>{shape};
    }
    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        run.outputs.push_back(run.inputs[0].values->alias(shapes[0]));
        return {};
    }
    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (isWanted(run.wantedGradients, 0)) {
            run.inputGradients[0] = run.outputGradients[0]->alias(run.call.inputs[0]);
        }
        return {};
    }

private:
    tl::unexpected<base::Error> doesNotFit(const OpCall& call, const Shape& shape) const {
        return wrong(fmt::format("{} cannot become {}", tensor::toString(call.inputs[0]), tensor::toString(shape)));
    }
};

/// out[i_0, ..] = in[..] where out's dimension d is in's dimension dims[d].
void permuteValues(OpRun& run, const float* in, const Shape& inShape, const std::vector<std::int64_t>& dims,
                   float* out) {
    const std::size_t rank = dims.size();
    std::array<std::uint64_t, kMaxRank> inStride{};
    std::uint64_t stride = 1;
    for (std::size_t d = rank; d-- > 0;) {
        inStride[d] = stride;
        stride *= dim(inShape, d);
    }
    std::array<std::uint64_t, kMaxRank> size{};
    std::array<std::uint64_t, kMaxRank> from{};
    for (std::size_t d = 0; d < rank; ++d) {
        size[d] = dim(inShape, static_cast<std::size_t>(dims[d]));
        from[d] = inStride[static_cast<std::size_t>(dims[d])];
    }
    const std::uint64_t width = size[rank - 1];
    const std::uint64_t step = from[rank - 1];
    forLines(run, stride / width, width, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t line = begin; line < end; ++line) {
            std::uint64_t rest = line;
            std::uint64_t at = 0;
            for (std::size_t d = rank - 1; d-- > 0;) {
                at += rest % size[d] * from[d];
                rest /= size[d];
            }
            float* to = out + line * width;
            if (step == 1) {
                std::memcpy(to, in + at, width * sizeof(float));
            } else {
                for (std::uint64_t i = 0; i < width; ++i) {
                    to[i] = in[at + i * step];
                }
            }
        }
    });
}

class Permute final : public Movement {
public:
    Permute() : Movement("permute") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_CHECK(expectRank(call, 0, 1, kMaxRank));
        ASSAY_TRY(dims, integers(call, "dims"));
        const Shape& x = call.inputs[0];
        std::vector<bool> seen(x.size(), false);
        Shape y;
        for (const std::int64_t d : dims) {
            if (d < 0 || static_cast<std::size_t>(d) >= x.size() || seen[static_cast<std::size_t>(d)]) {
                return wrong(fmt::format("dims is not a permutation of the dimensions of {}", tensor::toString(x)));
            }
            seen[static_cast<std::size_t>(d)] = true;
            y.push_back(x[static_cast<std::size_t>(d)]);
        }
        if (y.size() != x.size()) {
            return wrong(fmt::format("dims has {} entries, expected {}", y.size(), x.size()));
        }
        return std::vector<Shape>{y};
    }
    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        Tensor y = Tensor::uninitialised(shapes[0]);
        permuteValues(run, input(run, 0), run.call.inputs[0], *integers(run.call, "dims"), y.data());
        run.outputs.push_back(std::move(y));
        return {};
    }
    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (isWanted(run.wantedGradients, 0)) {
            const auto dims = *integers(run.call, "dims");
            std::vector<std::int64_t> inverse(dims.size());
            for (std::size_t d = 0; d < dims.size(); ++d) {
                inverse[static_cast<std::size_t>(dims[d])] = static_cast<std::int64_t>(d);
            }
            Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
            permuteValues(run, outputGradient(run), run.outputGradients[0]->shape(), inverse, dx.data());
            run.inputGradients[0] = std::move(dx);
        }
        return {};
    }
};

/// Equal parts along a dimension.
class Split final : public Movement {
public:
    Split() : Movement("split") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 1, 1));
        ASSAY_CHECK(expectRank(call, 0, 1, kMaxRank));
        const Shape& x = call.inputs[0];
        ASSAY_TRY(d, integer(call, "dim", 0, static_cast<std::int64_t>(x.size()) - 1));
        const auto parts = static_cast<std::int64_t>(call.outputs);
        Shape y = x;
        std::int64_t& dimension = y[static_cast<std::size_t>(d)];
        if (parts < 1 || dimension % parts != 0) {
            return wrong(
                fmt::format("dimension {} of {} cannot be cut into {} equal parts", d, tensor::toString(x), parts));
        }
        dimension /= parts;
        return std::vector<Shape>(call.outputs, y);
    }
    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        const Sizes s(*this, run.call);
        const float* x = input(run, 0);
        for (std::uint64_t part = 0; part < s.parts; ++part) {
            Tensor y = Tensor::uninitialised(shapes[part]);
            float* out = y.data();
            forLines(run, s.outer, s.run, [&](std::uint64_t begin, std::uint64_t end) {
                for (std::uint64_t o = begin; o < end; ++o) {
                    std::memcpy(out + o * s.run, x + (o * s.parts + part) * s.run, s.run * sizeof(float));
                }
            });
            run.outputs.push_back(std::move(y));
        }
        return {};
    }
    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 0)) {
            return {};
        }
        const Sizes s(*this, run.call);
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        float* out = dx.data();
        forLines(run, s.outer * s.parts, s.run, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t o = begin; o < end; ++o) {
                const Tensor* dy = run.outputGradients[o % s.parts];
                if (dy == nullptr) {
                    std::fill_n(out + o * s.run, s.run, 0.0F);
                } else {
                    std::memcpy(out + o * s.run, dy->data() + o / s.parts * s.run, s.run * sizeof(float));
                }
            }
        });
        run.inputGradients[0] = std::move(dx);
        return {};
    }

private:
    struct Sizes {
        std::uint64_t outer = 1, parts, run = 1; ///< run: consecutive values of one part
        Sizes(const Split& self, const OpCall& call) : parts(call.outputs) {
            const Shape& x = call.inputs[0];
            const auto d =
                static_cast<std::size_t>(*self.integer(call, "dim", 0, static_cast<std::int64_t>(x.size()) - 1));
            for (std::size_t i = 0; i < x.size(); ++i) {
                (i < d ? outer : run) *= dim(x, i);
            }
            run /= parts;
        }
    };
};

} // namespace

const OpKernel& reshapeKernel() {
    static const Reshape kernel;
    return kernel;
}
const OpKernel& permuteKernel() {
    static const Permute kernel;
    return kernel;
}
const OpKernel& splitKernel() {
    static const Split kernel;
    return kernel;
}

} // namespace assay::tensor::detail
