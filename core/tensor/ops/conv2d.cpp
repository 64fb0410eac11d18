// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/numerics/arrays.h"
#include "core/tensor/detail/patches.h"
#include "core/tensor/ops/kernels.h"

namespace assay::tensor::detail {
namespace {

/// x[N, C, H, W], weight[O, C, kh, kw], (bias[O]) -> y[N, O, H', W']. Three products, each with norms of its own
/// operands:
///   y, per image: weight [O, C kh kw] times the image's patches; then the bias, as a site of its own;
///   dX, per image: weight [C, O kh kw] times patches of the output gradient. With stride s the positions fall into s x
///   s
///     phases, which different taps reach: one product per phase, under the bound of all taps together;
///   dW: output gradient [O, N H' W'] times the patches of all images.
class Conv2d final : public OpBase {
public:
    Conv2d() : OpBase("conv2d") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 3));
        ASSAY_CHECK(expectRank(call, 0, 4, 4));
        ASSAY_CHECK(expectRank(call, 1, 4, 4));
        const Shape& x = call.inputs[0];
        const Shape& w = call.inputs[1];
        ASSAY_TRY(stride, integer(call, "stride", 1, 1 << 16));
        ASSAY_TRY(padding, integer(call, "padding", 0, 1 << 16));
        if (x[1] != w[1]) {
            return wrong(fmt::format("x {} has not the channels of the weight {}", toString(x), toString(w)));
        }
        if (call.inputs.size() == 3) {
            ASSAY_CHECK(expectShape(call, 2, {w[0]}));
        }
        if (w[2] > x[2] + 2 * padding || w[3] > x[3] + 2 * padding) {
            return wrong(
                fmt::format("the weight {} is larger than x {} with padding {}", toString(w), toString(x), padding));
        }
        const Shape y{x[0], w[0], (x[2] + 2 * padding - w[2]) / stride + 1, (x[3] + 2 * padding - w[3]) / stride + 1};
        return std::vector<Shape>{y};
    }

    std::vector<SiteSpec> forwardSites(const OpCall& call) const override {
        const Shape y = (*inferShapes(call))[0];
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
        const ConvSizes s = sizesOf(run.call);
        Tensor y = Tensor::uninitialised(shapes[0]);
        const ImagePatches patches(s, input(run, 0));
        ProductSpec product;
        product.batch = s.batch;
        product.m = s.filters;
        product.n = s.outPixels();
        product.k = s.channels * s.taps();
        product.a = input(run, 1);
        if (s.taps() == 1 && s.stride == 1 && s.padding == 0) { // the image is its own patch matrix
            product.b = input(run, 0);
            product.bStride = s.channels * s.pixels();
        } else {
            product.bRows = &patches;
        }
        ASSAY_CHECK(run.context.products->run(product, 0, *run.emitter, noiseKey(run, 0), y.values()));
        if (run.inputs.size() == 3) {
            addBias(run, s, y.data());
            ASSAY_CHECK(completed(run, 1, y));
        }
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        const ConvSizes s = sizesOf(run.call);
        std::uint32_t site = 0;
        if (isWanted(run.wantedGradients, 0)) {
            ASSAY_CHECK(inputGradient(run, s, site));
            ++site;
        }
        if (!isWanted(run.wantedGradients, 1) && !isWanted(run.wantedGradients, 2)) {
            return {};
        }
        const Tensor byFilter = gradientByFilter(run, s);
        if (isWanted(run.wantedGradients, 1)) {
            Tensor dw = Tensor::uninitialised(run.call.inputs[1]);
            const PatchRows patches(s, input(run, 0));
            ProductSpec product;
            product.m = s.filters;
            product.n = s.channels * s.taps();
            product.k = s.batch * s.outPixels();
            product.a = byFilter.data();
            product.bRows = &patches;
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), dw.values()));
            run.inputGradients[1] = std::move(dw);
            ++site;
        }
        if (isWanted(run.wantedGradients, 2)) {
            Tensor db = Tensor::uninitialised(run.call.inputs[2]);
            const std::uint64_t values = s.batch * s.outPixels();
            forLines(run, s.filters, values, [&](std::uint64_t begin, std::uint64_t end) {
                for (std::uint64_t o = begin; o < end; ++o) {
                    db.data()[o] = arith::roundToFloat(numerics::sumOf(byFilter.data() + o * values, values));
                }
            });
            ASSAY_CHECK(completed(run, site, db));
            run.inputGradients[2] = std::move(db);
        }
        return {};
    }

private:
    ConvSizes sizesOf(const OpCall& call) const {
        const Shape& x = call.inputs[0];
        const Shape& w = call.inputs[1];
        const Shape y = (*inferShapes(call))[0];
        return {dim(x, 0),
                dim(x, 1),
                dim(x, 2),
                dim(x, 3),
                dim(w, 0),
                dim(w, 2),
                dim(w, 3),
                static_cast<std::uint64_t>(*integer(call, "stride", 1, 1 << 16)),
                static_cast<std::uint64_t>(*integer(call, "padding", 0, 1 << 16)),
                dim(y, 2),
                dim(y, 3)};
    }

    static void addBias(OpRun& run, const ConvSizes& s, float* y) {
        const float* bias = input(run, 2);
        forLines(run, s.batch * s.filters, s.outPixels(), [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t line = begin; line < end; ++line) {
                const auto b = static_cast<double>(bias[line % s.filters]);
                float* plane = y + line * s.outPixels();
                for (std::uint64_t i = 0; i < s.outPixels(); ++i) {
                    plane[i] = arith::roundToFloat(static_cast<double>(plane[i]) + b);
                }
            }
        });
    }

    /// dy [N, O, P] as [O, N, P].
    static Tensor gradientByFilter(OpRun& run, const ConvSizes& s) {
        const float* dy = outputGradient(run);
        Tensor result = Tensor::uninitialised({static_cast<std::int64_t>(s.filters), static_cast<std::int64_t>(s.batch),
                                               static_cast<std::int64_t>(s.outPixels())});
        float* out = result.data();
        forLines(run, s.batch * s.filters, s.outPixels(), [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t line = begin; line < end; ++line) {
                const std::uint64_t from = line % s.batch * s.filters + line / s.batch;
                std::memcpy(out + line * s.outPixels(), dy + from * s.outPixels(), s.outPixels() * sizeof(float));
            }
        });
        return result;
    }

    /// weight [O, C, kh, kw] as [C, O, taps of the phase].
    static std::vector<float> weightOf(const OpRun& run, const ConvSizes& s, const ConvPhase& phase) {
        const float* w = input(run, 1);
        std::vector<float> out;
        out.reserve(s.channels * s.filters * phase.tapRows * phase.tapColumns);
        for (std::uint64_t c = 0; c < s.channels; ++c) {
            for (std::uint64_t o = 0; o < s.filters; ++o) {
                for (std::uint64_t i = phase.firstTapRow; i < s.kernelHeight; i += s.stride) {
                    for (std::uint64_t j = phase.firstTapColumn; j < s.kernelWidth; j += s.stride) {
                        out.push_back(w[((o * s.channels + c) * s.kernelHeight + i) * s.kernelWidth + j]);
                    }
                }
            }
        }
        return out;
    }

    static Result<void> inputGradient(OpRun& run, const ConvSizes& s, std::uint32_t site) {
        Tensor dx = Tensor::uninitialised(run.call.inputs[0]);
        const float* dy = outputGradient(run);
        ConvSizes dense = s;
        dense.stride = 1;
        const std::vector<float> allTaps = weightOf(run, dense, ConvPhase(dense, 0, 0));
        const std::uint64_t terms = s.filters * s.taps();
        if (s.stride == 1) {
            const GradientPatches patches(s, ConvPhase(s, 0, 0), dy);
            ProductSpec product;
            product.batch = s.batch;
            product.m = s.channels;
            product.n = s.pixels();
            product.k = terms;
            product.a = allTaps.data();
            if (s.taps() == 1 && s.padding == 0) {
                product.b = dy;
                product.bStride = s.filters * s.outPixels();
            } else {
                product.bRows = &patches;
            }
            ASSAY_CHECK(run.context.products->run(product, site, *run.emitter, noiseKey(run, site), dx.values()));
            run.inputGradients[0] = std::move(dx);
            return {};
        }
        PartedProduct whole;
        whole.batch = s.batch;
        whole.m = s.channels;
        whole.columns = s.pixels();
        whole.rowOperand = allTaps.data();
        whole.k = terms;
        std::vector<std::vector<float>> weights; // keep what the parts point to
        std::vector<std::unique_ptr<GradientPatches>> patches;
        for (std::uint64_t index = 0; index < s.stride * s.stride; ++index) {
            const ConvPhase phase(s, index / s.stride, index % s.stride);
            if (phase.isEmpty()) {
                continue; // no tap reaches these positions: their gradient is +0
            }
            weights.push_back(weightOf(run, s, phase));
            patches.push_back(std::make_unique<GradientPatches>(s, phase, dy));
            PartedProduct::Part part;
            part.spec.batch = s.batch;
            part.spec.m = s.channels;
            part.spec.n = phase.rows * phase.columns;
            part.spec.k = s.filters * phase.tapRows * phase.tapColumns;
            part.spec.a = weights.back().data();
            part.spec.bRows = patches.back().get();
            for (std::uint64_t h = 0; h < phase.rows; ++h) {
                for (std::uint64_t w = 0; w < phase.columns; ++w) {
                    part.columnMap.push_back((phase.firstRow + h * s.stride) * s.width + phase.firstColumn +
                                             w * s.stride);
                }
            }
            whole.parts.push_back(std::move(part));
        }
        ASSAY_CHECK(run.context.products->run(whole, site, *run.emitter, noiseKey(run, site), dx.values()));
        run.inputGradients[0] = std::move(dx);
        return {};
    }
};

} // namespace

const OpKernel& conv2dKernel() {
    static const Conv2d kernel;
    return kernel;
}

} // namespace assay::tensor::detail
