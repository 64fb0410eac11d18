// SPDX-License-Identifier: Apache-2.0
#include "tests/tensor/op_cases.h"

#include <cmath>

namespace assay::test {
namespace {

using Ints = std::vector<std::int64_t>;

NamedCase make(std::string name, std::string kind, tensor::AttributeMap attributes, std::vector<Values> inputs,
               std::uint32_t wanted, double forwardScale, double backwardScale, double step = 1e-5) {
    NamedCase c;
    c.name = std::move(name);
    c.op.kind = std::move(kind);
    c.op.attributes = std::move(attributes);
    c.op.inputs = std::move(inputs);
    c.op.isIds.assign(c.op.inputs.size(), false);
    c.op.wanted = wanted;
    c.op.parameters = wanted & ~1U;
    c.forwardScale = forwardScale;
    c.backwardScale = backwardScale;
    c.step = step;
    return c;
}

void addProducts(std::vector<NamedCase>& all) {
    // With a bias the rounded product enters once: |x w| <= about 6 sqrt(K) for standard normal operands. Gradients are
    // rounded once, which the comparison allows anyway.
    const auto linear = [&](std::string name, Ints x, std::int64_t out, bool bias) {
        std::vector<Values> inputs{randomValues(x, 1), randomValues({out, x.back()}, 2)};
        if (bias) {
            inputs.push_back(randomValues({out}, 3));
        }
        const double scale = bias ? 6.0 * std::sqrt(static_cast<double>(x.back())) : 0.0;
        all.push_back(make(std::move(name), "linear", {}, std::move(inputs), bias ? 0b111 : 0b11, scale, 0.0, 1.0));
    };
    linear("linear one", {1, 1}, 1, true);
    linear("linear odd", {3, 37}, 7, true);
    linear("linear rank 3", {2, 3, 19}, 5, false);
    linear("linear rank 1", {9}, 4, true);
    linear("linear tall", {41, 6}, 3, true);

    const auto matmul = [&](std::string name, Ints a, Ints b, bool transposed) {
        all.push_back(make(std::move(name), "matmul", {{"transpose_b", transposed}},
                           {randomValues(a, 4), randomValues(b, 5)}, 0b11, 0.0, 0.0, 1.0));
    };
    matmul("matmul one", {1, 1}, {1, 1}, false);
    matmul("matmul plain", {5, 33}, {33, 7}, false);
    matmul("matmul batched", {2, 3, 5, 17}, {2, 3, 17, 4}, false);
    matmul("matmul batched transposed", {2, 3, 7, 17}, {2, 3, 5, 17}, true);

    const auto conv = [&](std::string name, Ints x, Ints w, std::int64_t stride, std::int64_t padding, bool bias) {
        std::vector<Values> inputs{randomValues(x, 6), randomValues(w, 7)};
        if (bias) {
            inputs.push_back(randomValues({w[0]}, 8));
        }
        const double scale = bias ? 6.0 * std::sqrt(static_cast<double>(w[1] * w[2] * w[3])) : 0.0;
        all.push_back(make(std::move(name), "conv2d", {{"stride", stride}, {"padding", padding}}, std::move(inputs),
                           bias ? 0b111 : 0b11, scale, 0.0, 1.0));
    };
    conv("conv one", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 0, true);
    conv("conv 3x3", {2, 3, 5, 6}, {4, 3, 3, 3}, 1, 1, true);
    conv("conv 1x1", {2, 5, 4, 3}, {3, 5, 1, 1}, 1, 0, false);
    conv("conv no padding", {3, 2, 6, 5}, {2, 2, 3, 2}, 1, 0, false);
    conv("conv stride 2", {2, 2, 7, 6}, {3, 2, 3, 3}, 2, 1, true);
    conv("conv stride 2 even", {2, 3, 8, 8}, {2, 3, 2, 2}, 2, 0, false);
    conv("conv stride 3 gaps", {1, 2, 8, 7}, {2, 2, 2, 2}, 3, 0, false); // some positions reach no output
    conv("conv 1x1 stride 2", {2, 3, 5, 5}, {4, 3, 1, 1}, 2, 0, false);
    conv("conv much padding", {1, 1, 3, 3}, {2, 1, 2, 2}, 2, 3, false);
    conv("conv 5x5 stride 2", {1, 2, 9, 10}, {2, 2, 5, 5}, 2, 2, false);
}

void addElementwise(std::vector<NamedCase>& all) {
    all.push_back(make("add same", "add", {}, {randomValues({3, 5}, 10), randomValues({3, 5}, 11)}, 0b11, 0, 0, 1.0));
    all.push_back(
        make("add suffix", "add", {}, {randomValues({4, 3, 21}, 12), randomValues({3, 21}, 13)}, 0b11, 0, 0, 1.0));
    all.push_back(make("add last", "add", {}, {randomValues({2, 3, 5}, 12), randomValues({5}, 13)}, 0b11, 0, 0, 1.0));
    all.push_back(make("scale", "scale", {{"factor", 0.3F}}, {randomValues({7, 3}, 14)}, 1, 0, 0, 1.0));
    all.push_back(make("relu", "relu", {}, {randomValues({5, 9}, 15)}, 1, 0, 0));
    all.push_back(make("gelu", "gelu", {}, {randomValues({3, 50}, 16, 2.0)}, 1, 0, 0));
    for (const float p : {0.0F, 0.1F, 0.75F}) {
        all.push_back(
            make("dropout " + std::to_string(p), "dropout", {{"p", p}}, {randomValues({6, 7}, 17)}, 1, 0, 0, 1.0));
    }
}

void addNorms(std::vector<NamedCase>& all) {
    // y = ((x - m) r) w + b: with |x|, |w| < 4 and r < 4, the rounded m enters with |m| r |w| < 32 and the rounded r
    // with |y| < 32. dx = r ((g - a) - h p): every term is below r |g| < 64 or r |h p| < 128, and four roundings enter.
    // Channels of one value have r = 1 / sqrt(eps) = 100 and cancel to about 0 from r |g| = 1600.
    const auto layer = [&](std::string name, Ints x, float eps, double forwardScale, double backwardScale) {
        const Ints c{x.back()};
        all.push_back(make(std::move(name), "layer_norm", {{"eps", eps}},
                           {randomValues(x, 20), randomValues(c, 21), randomValues(c, 22)}, 0b111, forwardScale,
                           backwardScale));
    };
    layer("layer norm", {3, 2, 19}, 1e-5F, 64, 512);
    layer("layer norm width 1", {3, 1}, 1e-4F, 1600, 6400);
    layer("layer norm one row", {40}, 1e-5F, 64, 512);
    const auto batch = [&](std::string name, Ints x, bool evaluate, double forwardScale, double backwardScale) {
        const Ints c{x[1]};
        Values var = randomValues(c, 27);
        for (double& v : var.v) {
            v = std::abs(v) + 0.5;
            v = static_cast<double>(static_cast<float>(v));
        }
        all.push_back(make(std::move(name), "batch_norm", {{"eps", 1e-4F}, {"momentum", 0.1F}},
                           {randomValues(x, 23), randomValues(c, 24), randomValues(c, 25), randomValues(c, 26), var},
                           0b111, forwardScale, backwardScale));
        all.back().op.evaluate = evaluate;
    };
    batch("batch norm", {4, 3, 3, 5}, false, 64, 512);
    batch("batch norm rank 2", {21, 2}, false, 64, 512);
    batch("batch norm one value", {1, 2, 1, 1}, false, 1600, 6400);
    batch("batch norm evaluation", {2, 3, 4, 2}, true, 64, 0);
}

void addReductions(std::vector<NamedCase>& all) {
    const auto pool = [&](std::string name, Ints x, std::int64_t size, std::int64_t stride) {
        all.push_back(
            make(std::move(name), "max_pool2d", {{"size", size}, {"stride", stride}}, {randomValues(x, 30)}, 1, 0, 0));
    };
    pool("max pool", {2, 3, 6, 4}, 2, 2);
    pool("max pool overlapping", {1, 2, 7, 8}, 3, 2);
    pool("max pool dense", {1, 1, 6, 6}, 3, 1);
    pool("max pool gaps", {1, 2, 7, 7}, 2, 3);
    pool("max pool one", {1, 1, 1, 1}, 1, 1);
    all.push_back(make("average pool", "global_avg_pool", {}, {randomValues({2, 3, 5, 7}, 31)}, 1, 0, 0, 1.0));
    // y and the sum are rounded: dx = y (dy - dot) with |dy|, |dot| < 4: four roundings of terms below 4.
    all.push_back(make("softmax", "softmax", {{"causal", false}}, {randomValues({3, 2, 23}, 32, 3.0)}, 1, 1, 32));
    all.push_back(
        make("softmax wide logits", "softmax", {{"causal", false}}, {randomValues({2, 5}, 33, 80.0)}, 1, 1, 32));
    all.push_back(make("softmax causal", "softmax", {{"causal", true}}, {randomValues({2, 2, 6, 6}, 34)}, 1, 1, 32));
    all.push_back(make("softmax causal wide", "softmax", {{"causal", true}}, {randomValues({2, 3, 7}, 35)}, 1, 1, 32));
    all.push_back(make("softmax causal tall", "softmax", {{"causal", true}}, {randomValues({7, 3}, 35)}, 1, 1, 32));
    // The rounded sum enters the loss as log(s): an error of one roundoff of 1.
    const auto entropy = [&](std::string name, Ints logits, Ints labels, double scale) {
        auto c =
            make(std::move(name), "cross_entropy", {},
                 {randomValues(logits, 36, scale), randomIds(labels, 37, static_cast<std::uint64_t>(logits.back()))}, 1,
                 1, 4);
        c.op.isIds = {false, true};
        all.push_back(std::move(c));
    };
    entropy("cross entropy", {5, 10}, {5}, 2.0);
    entropy("cross entropy tokens", {2, 3, 20}, {2, 3}, 1.0);
    entropy("cross entropy one class", {1, 1}, {1}, 1.0);
    auto embedding =
        make("embedding", "embedding", {}, {randomIds({2, 17}, 38, 6), randomValues({7, 18}, 39)}, 0b10, 0, 0, 1.0);
    embedding.op.isIds = {true, false};
    all.push_back(std::move(embedding));
}

void addMovement(std::vector<NamedCase>& all) {
    all.push_back(make("reshape", "reshape", {{"shape", Ints{0, -1}}}, {randomValues({2, 3, 4}, 40)}, 1, 0, 0, 1.0));
    all.push_back(
        make("permute", "permute", {{"dims", Ints{2, 0, 3, 1}}}, {randomValues({2, 3, 4, 5}, 41)}, 1, 0, 0, 1.0));
    all.push_back(
        make("permute rows", "permute", {{"dims", Ints{1, 0, 2}}}, {randomValues({2, 3, 4}, 42)}, 1, 0, 0, 1.0));
    for (const std::int64_t dim : {0, 1, 2}) {
        all.push_back(
            make("split " + std::to_string(dim), "split", {{"dim", dim}}, {randomValues({6, 3, 9}, 43)}, 1, 0, 0, 1.0));
        all.back().op.outputs = 3;
    }
}

} // namespace

std::vector<NamedCase> allCases() {
    std::vector<NamedCase> all;
    addProducts(all);
    addElementwise(all);
    addNorms(all);
    addReductions(all);
    addMovement(all);
    return all;
}

} // namespace assay::test
