// SPDX-License-Identifier: Apache-2.0
#include "core/models/built_in.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace assay::models {

using base::ErrorCode;
using base::fail;
using base::Result;
using format::Operator;
using format::Program;
using format::TensorSpec;

namespace {

constexpr std::uint64_t kLargestWidth = 1 << 16;
constexpr std::uint64_t kLargestLayers = 512;

std::string normal(double deviation) {
    return fmt::format("normal {:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(deviation)));
}

std::int64_t signedOf(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

/// Appends operators and tensors; every helper returns the name of the value it makes.
class Builder {
public:
    explicit Builder(Program& program) : m_program(program) {}

    void batch(std::string name, std::string dtype, std::vector<std::int64_t> shape) {
        TensorSpec spec;
        spec.name = std::move(name);
        spec.dtype = std::move(dtype);
        spec.shape = std::move(shape);
        m_program.batch.push_back(std::move(spec));
    }

    std::string parameter(std::string name, std::vector<std::int64_t> shape, std::string init,
                          std::string role = "parameter") {
        TensorSpec spec;
        spec.name = name;
        spec.dtype = "f32";
        spec.shape = std::move(shape);
        spec.role = std::move(role);
        spec.init = std::move(init);
        m_program.tensors.push_back(std::move(spec));
        return name;
    }

    std::string apply(std::string name, std::string kind, std::vector<std::string> inputs,
                      std::map<std::string, format::Attribute> attributes = {}) {
        Operator op;
        op.name = name;
        op.kind = std::move(kind);
        op.inputs = std::move(inputs);
        op.outputs = {name};
        op.attributes = std::move(attributes);
        m_program.operators.push_back(std::move(op));
        return name;
    }

    std::string linear(const std::string& name, const std::string& x, std::uint64_t in, std::uint64_t out,
                       double deviation, bool bias = true) {
        std::vector<std::string> inputs{x,
                                        parameter(name + ".weight", {signedOf(out), signedOf(in)}, normal(deviation))};
        if (bias) {
            inputs.push_back(parameter(name + ".bias", {signedOf(out)}, "zeros"));
        }
        return apply(name, "linear", std::move(inputs));
    }

    std::string convolution(const std::string& name, const std::string& x, std::uint64_t in, std::uint64_t out,
                            std::int64_t size, std::int64_t stride) {
        const double fanIn = static_cast<double>(in) * static_cast<double>(size * size);
        const auto weight =
            parameter(name + ".weight", {signedOf(out), signedOf(in), size, size}, normal(std::sqrt(2.0 / fanIn)));
        return apply(name, "conv2d", {x, weight}, {{"stride", stride}, {"padding", size / 2}});
    }

    std::string batchNorm(const std::string& name, const std::string& x, std::uint64_t channels) {
        const std::vector<std::int64_t> shape{signedOf(channels)};
        std::vector<std::string> inputs{x, parameter(name + ".weight", shape, "ones"),
                                        parameter(name + ".bias", shape, "zeros"),
                                        parameter(name + ".running_mean", shape, "zeros", "buffer"),
                                        parameter(name + ".running_var", shape, "ones", "buffer")};
        return apply(name, "batch_norm", std::move(inputs), {{"eps", 1e-5f}, {"momentum", 0.1f}});
    }

    std::string layerNorm(const std::string& name, const std::string& x, std::uint64_t channels) {
        const std::vector<std::int64_t> shape{signedOf(channels)};
        return apply(name, "layer_norm",
                     {x, parameter(name + ".weight", shape, "ones"), parameter(name + ".bias", shape, "zeros")},
                     {{"eps", 1e-5f}});
    }

    std::string dropout(const std::string& name, const std::string& x, float p) {
        return p > 0.0f ? apply(name, "dropout", {x}, {{"p", p}}) : x;
    }

    std::string reshape(const std::string& name, const std::string& x, std::vector<std::int64_t> shape) {
        return apply(name, "reshape", {x}, {{"shape", std::move(shape)}});
    }

    std::string permute(const std::string& name, const std::string& x, std::vector<std::int64_t> dims) {
        return apply(name, "permute", {x}, {{"dims", std::move(dims)}});
    }

    void finish(const std::string& logits, const std::string& labels) {
        m_program.loss = apply("loss", "cross_entropy", {logits, labels});
        m_program.logits = logits;
    }

private:
    Program& m_program;
};

Result<void> checkRange(std::string_view what, std::uint64_t value, std::uint64_t largest) {
    if (value < 1 || value > largest) {
        return fail(ErrorCode::usage, fmt::format("{} is {}, expected 1 to {}", what, value, largest));
    }
    return {};
}

Result<void> checkImage(const ModelRequest& request) {
    if (request.image.size() != 3) {
        return fail(ErrorCode::usage, "an image model needs samples of shape channels x height x width");
    }
    for (const auto size : request.image) {
        ASSAY_CHECK(checkRange("an image dimension", static_cast<std::uint64_t>(size), 4096));
    }
    return checkRange("the number of classes", request.classes, 1 << 20);
}

Result<Program> buildMlp(const ModelRequest& request) {
    ASSAY_CHECK(checkImage(request));
    const std::uint64_t width = request.width != 0 ? request.width : 256;
    const std::uint64_t layers = request.layers != 0 ? request.layers : 2;
    ASSAY_CHECK(checkRange("the width", width, kLargestWidth));
    ASSAY_CHECK(checkRange("the number of layers", layers, kLargestLayers));
    Program program;
    program.title = fmt::format("MLP, {} of {}", base::counted(layers, "hidden layer", "hidden layers"), width);
    Builder build(program);
    build.batch("image", "f32", {0, request.image[0], request.image[1], request.image[2]});
    build.batch("label", "i64", {0});
    auto in = static_cast<std::uint64_t>(request.image[0] * request.image[1] * request.image[2]);
    std::string x = build.reshape("flatten", "image", {0, -1});
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        const auto name = fmt::format("layers.{}", layer);
        x = build.linear(name + ".linear", x, in, width, std::sqrt(2.0 / static_cast<double>(in)));
        x = build.apply(name + ".relu", "relu", {x});
        x = build.dropout(name + ".dropout", x, request.dropout);
        in = width;
    }
    x = build.linear("head", x, in, request.classes, std::sqrt(1.0 / static_cast<double>(in)));
    build.finish(x, "label");
    return program;
}

Result<Program> buildCnn(const ModelRequest& request) {
    ASSAY_CHECK(checkImage(request));
    const std::uint64_t width = request.width != 0 ? request.width : 64;
    const std::uint64_t blocks = request.layers != 0 ? request.layers : 1;
    ASSAY_CHECK(checkRange("the width", width, kLargestWidth));
    ASSAY_CHECK(checkRange("the number of layers", blocks, kLargestLayers));
    if (request.image[1] < 4 || request.image[2] < 4) {
        return fail(ErrorCode::usage,
                    fmt::format("the cnn halves its image twice and needs at least 4 x 4 pixels, samples have {} x {}",
                                request.image[1], request.image[2]),
                    "use --program mlp");
    }
    if (request.dropout > 0.0f) {
        return fail(ErrorCode::usage, "the cnn has no dropout", "leave --dropout out, or use --program mlp or gpt");
    }
    Program program;
    program.title = fmt::format("CNN, {}, {}", base::counted(width, "channel", "channels"),
                                base::counted(blocks, "residual block", "residual blocks"));
    Builder build(program);
    build.batch("image", "f32", {0, request.image[0], request.image[1], request.image[2]});
    build.batch("label", "i64", {0});
    std::string x = build.convolution("stem.conv", "image", static_cast<std::uint64_t>(request.image[0]), width, 3, 1);
    x = build.batchNorm("stem.bn", x, width);
    x = build.apply("stem.relu", "relu", {x});
    x = build.apply("stem.pool", "max_pool2d", {x}, {{"size", std::int64_t{2}}, {"stride", std::int64_t{2}}});
    for (std::uint64_t block = 0; block < blocks; ++block) {
        const auto name = fmt::format("blocks.{}", block);
        std::string y = build.convolution(name + ".conv1", x, width, width, 3, 1);
        y = build.batchNorm(name + ".bn1", y, width);
        y = build.apply(name + ".relu1", "relu", {y});
        y = build.convolution(name + ".conv2", y, width, width, 3, 1);
        y = build.batchNorm(name + ".bn2", y, width);
        y = build.apply(name + ".add", "add", {y, x});
        x = build.apply(name + ".relu2", "relu", {y});
    }
    // A strided stage doubles the channels before pooling, as the residual networks that this stands for do.
    x = build.convolution("last.conv", x, width, 2 * width, 3, 2);
    x = build.batchNorm("last.bn", x, 2 * width);
    x = build.apply("last.relu", "relu", {x});
    x = build.apply("pool", "global_avg_pool", {x});
    x = build.linear("head", x, 2 * width, request.classes, std::sqrt(0.5 / static_cast<double>(width)));
    build.finish(x, "label");
    return program;
}

Result<Program> buildGpt(const ModelRequest& request) {
    const std::uint64_t width = request.width != 0 ? request.width : 128;
    const std::uint64_t layers = request.layers != 0 ? request.layers : 2;
    const std::uint64_t context = request.context != 0 ? request.context : 64;
    ASSAY_CHECK(checkRange("the width", width, kLargestWidth));
    ASSAY_CHECK(checkRange("the number of layers", layers, kLargestLayers));
    ASSAY_CHECK(checkRange("the context", context, 1 << 16));
    ASSAY_CHECK(checkRange("the vocabulary", request.vocabulary, 1 << 20));
    std::uint64_t heads = request.heads;
    if (heads == 0) {
        // About 64 channels per head; the largest count not above that which divides the width.
        heads = std::max<std::uint64_t>(1, width / 64);
        while (width % heads != 0) {
            --heads;
        }
    }
    if (width % heads != 0) {
        return fail(ErrorCode::usage, fmt::format("the width {} cannot be divided into {} heads", width, heads),
                    fmt::format("--heads with a divisor of {}", width));
    }
    const std::uint64_t inner = request.feedForward != 0 ? request.feedForward : 4 * width;
    ASSAY_CHECK(checkRange("the feed-forward width", inner, 4 * kLargestWidth));
    const std::uint64_t perHead = width / heads;
    const double deviation = 0.02;
    const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));

    Program program;
    program.title = fmt::format("GPT, {}, width {}, {}, context {}", base::counted(layers, "layer", "layers"), width,
                                base::counted(heads, "head", "heads"), context);
    Builder build(program);
    build.batch("tokens", "i64", {0, signedOf(context)});
    build.batch("targets", "i64", {0, signedOf(context)});
    const auto table =
        build.parameter("token_embedding.weight", {signedOf(request.vocabulary), signedOf(width)}, normal(deviation));
    const auto positions =
        build.parameter("position_embedding.weight", {signedOf(context), signedOf(width)}, normal(deviation));
    std::string x = build.apply("token_embedding", "embedding", {"tokens", table});
    x = build.apply("position_embedding", "add", {x, positions});
    x = build.dropout("embedding_dropout", x, request.dropout);
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        const auto block = fmt::format("blocks.{}", layer);
        std::string h = build.layerNorm(block + ".ln1", x, width);
        h = build.linear(block + ".attn.qkv", h, width, 3 * width, deviation);
        // [B, T, 3C] -> [B, T, 3, heads, C/heads] -> [3, B, heads, T, C/heads]: three equal parts along the first
        // dimension.
        h = build.reshape(block + ".attn.parts", h, {0, signedOf(context), 3, signedOf(heads), signedOf(perHead)});
        h = build.permute(block + ".attn.heads", h, {2, 0, 3, 1, 4});
        Operator split;
        split.name = block + ".attn.split";
        split.kind = "split";
        split.inputs = {h};
        split.outputs = {block + ".attn.q0", block + ".attn.k0", block + ".attn.v0"};
        split.attributes = {{"dim", std::int64_t{0}}};
        program.operators.push_back(split);
        const std::vector<std::int64_t> headShape{0, signedOf(heads), signedOf(context), signedOf(perHead)};
        const auto squeeze = [&](const char* part) {
            return build.reshape(block + ".attn." + part, block + ".attn." + part + "0",
                                 {-1, headShape[1], headShape[2], headShape[3]});
        };
        const auto q = squeeze("q");
        const auto k = squeeze("k");
        const auto v = squeeze("v");
        std::string scores = build.apply(block + ".attn.scores", "matmul", {q, k}, {{"transpose_b", true}});
        scores = build.apply(block + ".attn.scale", "scale", {scores},
                             {{"factor", static_cast<float>(1.0 / std::sqrt(static_cast<double>(perHead)))}});
        scores = build.apply(block + ".attn.softmax", "softmax", {scores}, {{"causal", true}});
        scores = build.dropout(block + ".attn.dropout", scores, request.dropout);
        h = build.apply(block + ".attn.mix", "matmul", {scores, v}, {{"transpose_b", false}});
        h = build.permute(block + ".attn.merge", h, {0, 2, 1, 3});
        h = build.reshape(block + ".attn.join", h, {0, signedOf(context), signedOf(width)});
        h = build.linear(block + ".attn.proj", h, width, width, residual);
        h = build.dropout(block + ".attn.proj_dropout", h, request.dropout);
        x = build.apply(block + ".add1", "add", {x, h});
        h = build.layerNorm(block + ".ln2", x, width);
        h = build.linear(block + ".mlp.fc", h, width, inner, deviation);
        h = build.apply(block + ".mlp.gelu", "gelu", {h});
        h = build.linear(block + ".mlp.proj", h, inner, width, residual);
        h = build.dropout(block + ".mlp.dropout", h, request.dropout);
        x = build.apply(block + ".add2", "add", {x, h});
    }
    x = build.layerNorm("ln_f", x, width);
    x = build.linear("head", x, width, request.vocabulary, deviation, false);
    build.finish(x, "targets");
    return program;
}

} // namespace

Result<Program> buildProgram(const ModelRequest& request) {
    if (!(request.dropout >= 0.0f && request.dropout < 1.0f)) {
        return fail(ErrorCode::usage,
                    fmt::format("dropout is {}, expected at least 0 and less than 1", request.dropout));
    }
    if (request.kind == "mlp") {
        return buildMlp(request);
    }
    if (request.kind == "cnn") {
        return buildCnn(request);
    }
    if (request.kind == "gpt") {
        return buildGpt(request);
    }
    return fail(ErrorCode::usage, fmt::format("unknown program \"{}\"", request.kind), "mlp, cnn or gpt");
}

std::uint64_t parameterCount(const Program& program) {
    std::uint64_t count = 0;
    for (const auto& tensor : program.tensors) {
        if (tensor.role == "parameter") {
            std::uint64_t values = 1;
            for (const auto size : tensor.shape) {
                values *= static_cast<std::uint64_t>(size);
            }
            count += values;
        }
    }
    return count;
}

} // namespace assay::models
