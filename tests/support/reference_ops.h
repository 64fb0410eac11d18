// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "cuda/arith/philox.h"

/// Every operator kind as textbook loops in FP64 with the standard library's functions: nothing is shared with the
/// product but the random words that dropout draws. No blocks, no statistics, no rounding. Gradients come from
/// differences.
namespace assay::test {

struct Values {
    std::vector<std::int64_t> shape;
    std::vector<double> v;
    [[nodiscard]] std::size_t dim(std::size_t i) const { return static_cast<std::size_t>(shape.at(i)); }
};
using ReferenceAttributes =
    std::map<std::string, std::variant<std::int64_t, float, bool, std::string, std::vector<std::int64_t>>>;

struct ReferenceCall {
    std::string kind;
    ReferenceAttributes attributes;
    bool evaluate = false;
    std::size_t outputs = 1;
    std::uint64_t seed = 0, step = 0;
    std::uint32_t operatorIndex = 0;

    [[nodiscard]] std::size_t integer(const char* name) const {
        return static_cast<std::size_t>(std::get<std::int64_t>(attributes.at(name)));
    }
    [[nodiscard]] double real(const char* name) const {
        return static_cast<double>(std::get<float>(attributes.at(name)));
    }
    [[nodiscard]] bool flag(const char* name) const {
        return attributes.contains(name) && std::get<bool>(attributes.at(name));
    }
};

inline std::size_t countOf(const std::vector<std::int64_t>& shape) {
    std::size_t n = 1;
    for (const auto d : shape) {
        n *= static_cast<std::size_t>(d);
    }
    return n;
}
inline Values zeros(std::vector<std::int64_t> shape) {
    Values out;
    out.v.assign(countOf(shape), 0.0);
    out.shape = std::move(shape);
    return out;
}

namespace reference {

inline Values linear(const std::vector<Values>& in) {
    Values y = zeros(in[0].shape);
    y.shape.back() = in[1].shape[0];
    const std::size_t width = in[1].dim(1);
    const std::size_t out = in[1].dim(0);
    y.v.assign(in[0].v.size() / width * out, 0.0);
    for (std::size_t r = 0; r < in[0].v.size() / width; ++r) {
        for (std::size_t o = 0; o < out; ++o) {
            for (std::size_t i = 0; i < width; ++i) {
                y.v[r * out + o] += in[0].v[r * width + i] * in[1].v[o * width + i];
            }
            y.v[r * out + o] += in.size() > 2 ? in[2].v[o] : 0.0;
        }
    }
    return y;
}

inline Values matmul(const ReferenceCall& call, const std::vector<Values>& in) {
    const bool transposed = call.flag("transpose_b");
    const std::size_t rank = in[0].shape.size();
    const std::size_t m = in[0].dim(rank - 2);
    const std::size_t k = in[0].dim(rank - 1);
    const std::size_t n = in[1].dim(transposed ? rank - 2 : rank - 1);
    Values y = in[0];
    y.shape.back() = static_cast<std::int64_t>(n);
    y = zeros(y.shape);
    for (std::size_t item = 0; item < y.v.size() / (m * n); ++item) {
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t t = 0; t < k; ++t) {
                    const double b = in[1].v[item * k * n + (transposed ? j * k + t : t * n + j)];
                    y.v[(item * m + i) * n + j] += in[0].v[(item * m + i) * k + t] * b;
                }
            }
        }
    }
    return y;
}

inline Values conv2d(const ReferenceCall& call, const std::vector<Values>& in) {
    const auto& x = in[0];
    const auto& w = in[1];
    const auto stride = static_cast<std::int64_t>(call.integer("stride"));
    const auto pad = static_cast<std::int64_t>(call.integer("padding"));
    const std::int64_t height = (x.shape[2] + 2 * pad - w.shape[2]) / stride + 1;
    const std::int64_t width = (x.shape[3] + 2 * pad - w.shape[3]) / stride + 1;
    Values y = zeros({x.shape[0], w.shape[0], height, width});
    std::size_t at = 0;
    for (std::int64_t n = 0; n < x.shape[0]; ++n) {
        for (std::int64_t o = 0; o < w.shape[0]; ++o) {
            for (std::int64_t p = 0; p < height; ++p) {
                for (std::int64_t q = 0; q < width; ++q, ++at) {
                    double sum = in.size() > 2 ? in[2].v[static_cast<std::size_t>(o)] : 0.0;
                    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
                        for (std::int64_t i = 0; i < w.shape[2]; ++i) {
                            for (std::int64_t j = 0; j < w.shape[3]; ++j) {
                                const std::int64_t h = p * stride + i - pad;
                                const std::int64_t v = q * stride + j - pad;
                                if (h >= 0 && h < x.shape[2] && v >= 0 && v < x.shape[3]) {
                                    sum += x.v[static_cast<std::size_t>(
                                               ((n * x.shape[1] + c) * x.shape[2] + h) * x.shape[3] + v)] *
                                           w.v[static_cast<std::size_t>(
                                               ((o * x.shape[1] + c) * w.shape[2] + i) * w.shape[3] + j)];
                                }
                            }
                        }
                    }
                    y.v[at] = sum;
                }
            }
        }
    }
    return y;
}

/// Channel dimension 1; statistics over everything else. outputs: y, running mean, running variance.
inline std::vector<Values> batchNorm(const ReferenceCall& call, const std::vector<Values>& in) {
    const auto& x = in[0];
    Values y = zeros(x.shape);
    Values runningMean = in[3];
    Values runningVar = in[4];
    const std::size_t channels = x.dim(1);
    const std::size_t positions = x.v.size() / (x.dim(0) * channels);
    const double count = static_cast<double>(x.dim(0) * positions);
    for (std::size_t c = 0; c < channels; ++c) {
        const auto forEach = [&](const std::function<void(std::size_t)>& body) {
            for (std::size_t n = 0; n < x.dim(0); ++n) {
                for (std::size_t p = 0; p < positions; ++p) {
                    body((n * channels + c) * positions + p);
                }
            }
        };
        double mean = in[3].v[c];
        double var = in[4].v[c];
        if (!call.evaluate) {
            mean = 0.0;
            forEach([&](std::size_t i) { mean += x.v[i] / count; });
            var = 0.0;
            forEach([&](std::size_t i) { var += (x.v[i] - mean) * (x.v[i] - mean) / count; });
            const double momentum = call.real("momentum");
            runningMean.v[c] = (1.0 - momentum) * in[3].v[c] + momentum * mean;
            runningVar.v[c] =
                (1.0 - momentum) * in[4].v[c] + momentum * (count > 1.0 ? var * count / (count - 1.0) : var);
        }
        forEach([&](std::size_t i) {
            y.v[i] = (x.v[i] - mean) / std::sqrt(var + call.real("eps")) * in[1].v[c] + in[2].v[c];
        });
    }
    return {y, runningMean, runningVar};
}

inline Values layerNorm(const ReferenceCall& call, const std::vector<Values>& in) {
    Values y = zeros(in[0].shape);
    const std::size_t width = in[1].v.size();
    for (std::size_t r = 0; r < y.v.size() / width; ++r) {
        const double* x = in[0].v.data() + r * width;
        double mean = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            mean += x[c] / static_cast<double>(width);
        }
        double var = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            var += (x[c] - mean) * (x[c] - mean) / static_cast<double>(width);
        }
        for (std::size_t c = 0; c < width; ++c) {
            y.v[r * width + c] = (x[c] - mean) / std::sqrt(var + call.real("eps")) * in[1].v[c] + in[2].v[c];
        }
    }
    return y;
}

inline Values maxPool(const ReferenceCall& call, const Values& x) {
    const std::size_t size = call.integer("size");
    const std::size_t stride = call.integer("stride");
    const std::size_t height = (x.dim(2) - size) / stride + 1;
    const std::size_t width = (x.dim(3) - size) / stride + 1;
    Values y = zeros({x.shape[0], x.shape[1], static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)});
    std::size_t at = 0;
    for (std::size_t plane = 0; plane < x.dim(0) * x.dim(1); ++plane) {
        for (std::size_t p = 0; p < height; ++p) {
            for (std::size_t q = 0; q < width; ++q, ++at) {
                double best = -INFINITY;
                for (std::size_t i = 0; i < size; ++i) {
                    for (std::size_t j = 0; j < size; ++j) {
                        best = std::max(best, x.v[(plane * x.dim(2) + p * stride + i) * x.dim(3) + q * stride + j]);
                    }
                }
                y.v[at] = best;
            }
        }
    }
    return y;
}

inline Values averagePool(const Values& x) {
    Values y = zeros({x.shape[0], x.shape[1]});
    const std::size_t pixels = x.v.size() / y.v.size();
    for (std::size_t i = 0; i < x.v.size(); ++i) {
        y.v[i / pixels] += x.v[i] / static_cast<double>(pixels);
    }
    return y;
}

inline Values softmax(const ReferenceCall& call, const Values& x) {
    Values y = zeros(x.shape);
    const auto width = static_cast<std::size_t>(x.shape.back());
    for (std::size_t r = 0; r < x.v.size() / width; ++r) {
        const std::size_t visible = call.flag("causal")
                                        ? std::min(width, r % static_cast<std::size_t>(x.shape[x.shape.size() - 2]) + 1)
                                        : width;
        double sum = 0.0;
        for (std::size_t c = 0; c < visible; ++c) {
            sum += std::exp(x.v[r * width + c]);
        }
        for (std::size_t c = 0; c < visible; ++c) {
            y.v[r * width + c] = std::exp(x.v[r * width + c]) / sum;
        }
    }
    return y;
}

inline Values crossEntropy(const std::vector<Values>& in) {
    const auto width = static_cast<std::size_t>(in[0].shape.back());
    const std::size_t rows = in[1].v.size();
    Values loss = zeros({});
    for (std::size_t r = 0; r < rows; ++r) {
        double sum = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            sum += std::exp(in[0].v[r * width + c]);
        }
        loss.v[0] +=
            (std::log(sum) - in[0].v[r * width + static_cast<std::size_t>(in[1].v[r])]) / static_cast<double>(rows);
    }
    return loss;
}

inline Values permute(const Values& x, const std::vector<std::int64_t>& dims) {
    Values y;
    for (const auto d : dims) {
        y.shape.push_back(x.shape[static_cast<std::size_t>(d)]);
    }
    y = zeros(y.shape);
    for (std::size_t i = 0; i < x.v.size(); ++i) {
        std::vector<std::size_t> index(dims.size()); // of x
        std::size_t rest = i;
        for (std::size_t d = dims.size(); d-- > 0;) {
            index[d] = rest % x.dim(d);
            rest /= x.dim(d);
        }
        std::size_t to = 0;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            to = to * y.dim(d) + index[static_cast<std::size_t>(dims[d])];
        }
        y.v[to] = x.v[i];
    }
    return y;
}

inline std::vector<Values> split(const Values& x, std::size_t dimension, std::size_t parts) {
    std::vector<Values> out(parts);
    for (auto& part : out) {
        part.shape = x.shape;
        part.shape[dimension] /= static_cast<std::int64_t>(parts);
    }
    std::size_t inner = 1;
    for (std::size_t d = dimension + 1; d < x.shape.size(); ++d) {
        inner *= x.dim(d);
    }
    for (std::size_t i = 0; i < x.v.size(); ++i) {
        out[i / inner % x.dim(dimension) / out[0].dim(dimension)].v.push_back(x.v[i]);
    }
    return out;
}

} // namespace reference

/// Outputs of one operator; for batch_norm the new running statistics follow.
inline std::vector<Values> referenceForward(const ReferenceCall& call, const std::vector<Values>& in) {
    const auto map = [&](auto&& f) {
        Values y = in[0];
        for (std::size_t i = 0; i < y.v.size(); ++i) {
            y.v[i] = f(in[0].v[i], i);
        }
        return std::vector<Values>{y};
    };
    const std::string& kind = call.kind;
    if (kind == "linear") {
        return {reference::linear(in)};
    }
    if (kind == "matmul") {
        return {reference::matmul(call, in)};
    }
    if (kind == "conv2d") {
        return {reference::conv2d(call, in)};
    }
    if (kind == "batch_norm") {
        return reference::batchNorm(call, in);
    }
    if (kind == "layer_norm") {
        return {reference::layerNorm(call, in)};
    }
    if (kind == "max_pool2d") {
        return {reference::maxPool(call, in[0])};
    }
    if (kind == "global_avg_pool") {
        return {reference::averagePool(in[0])};
    }
    if (kind == "softmax") {
        return {reference::softmax(call, in[0])};
    }
    if (kind == "cross_entropy") {
        return {reference::crossEntropy(in)};
    }
    if (kind == "permute") {
        return {reference::permute(in[0], std::get<std::vector<std::int64_t>>(call.attributes.at("dims")))};
    }
    if (kind == "split") {
        return reference::split(in[0], call.integer("dim"), call.outputs);
    }
    if (kind == "reshape") { // the values stay; what shape they get is tested by itself
        return {in[0]};
    }
    if (kind == "add") {
        return map([&](double x, std::size_t i) { return x + in[1].v[i % in[1].v.size()]; });
    }
    if (kind == "scale") {
        return map([&](double x, std::size_t) { return x * call.real("factor"); });
    }
    if (kind == "relu") {
        return map([](double x, std::size_t) { return std::max(x, 0.0); });
    }
    if (kind == "gelu") {
        return map([](double x, std::size_t) {
            return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
        });
    }
    if (kind == "dropout") {
        return map([&](double x, std::size_t i) {
            const double p = call.real("p");
            const bool keeps =
                (static_cast<double>(arith::randomWord(call.seed, call.step, call.operatorIndex, i)) + 0.5) /
                    4294967296.0 >=
                p;
            return call.evaluate ? x : (keeps ? x / (1.0 - p) : 0.0);
        });
    }
    if (kind == "embedding") {
        Values y = in[0];
        y.shape.push_back(in[1].shape[1]);
        y.v.clear();
        for (const double id : in[0].v) {
            for (std::size_t c = 0; c < in[1].dim(1); ++c) {
                y.v.push_back(in[1].v[static_cast<std::size_t>(id) * in[1].dim(1) + c]);
            }
        }
        return {y};
    }
    throw std::logic_error("no reference for " + kind);
}

/// Gradient of sum over outputs of (output * its gradient) with respect to input `which`, by central differences of
/// step `h`: exact apart from rounding where the operator is linear in that input, otherwise with an error of about
/// h^2.
inline Values referenceGradient(const ReferenceCall& call, const std::vector<Values>& in, std::size_t which,
                                const std::vector<Values>& outputGradients, double h) {
    std::vector<Values> moved = in;
    Values gradient = zeros(in[which].shape);
    for (std::size_t i = 0; i < gradient.v.size(); ++i) {
        const double x = in[which].v[i];
        moved[which].v[i] = x + h;
        const auto up = referenceForward(call, moved);
        moved[which].v[i] = x - h;
        const auto down = referenceForward(call, moved);
        moved[which].v[i] = x;
        double sum = 0.0;
        for (std::size_t o = 0; o < outputGradients.size(); ++o) {
            for (std::size_t e = 0; e < up[o].v.size(); ++e) {
                sum += (up[o].v[e] - down[o].v[e]) * outputGradients[o].v[e];
            }
        }
        gradient.v[i] = sum / (2.0 * h);
    }
    return gradient;
}

} // namespace assay::test
