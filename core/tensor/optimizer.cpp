// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/optimizer.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/numerics/arrays.h"
#include "cuda/arith/elementary.h"
#include "cuda/arith/reduce.h"
#include "cuda/arith/rounding.h"

namespace assay::tensor {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {
constexpr std::uint64_t kGrain = 1U << 14;
}

Result<std::vector<std::string_view>> optimizerStateNames(std::string_view kind, float momentum) {
    if (kind == "sgd") {
        return momentum == 0.0F ? std::vector<std::string_view>{} : std::vector<std::string_view>{"momentum"};
    }
    if (kind == "adamw") {
        return std::vector<std::string_view>{"m", "v"};
    }
    return fail(ErrorCode::malformed, fmt::format("unknown optimizer '{}'", kind), "sgd or adamw");
}

void sgdUpdate(const SgdSettings& settings, float learningRate, double gradientFactor, std::span<float> parameter,
               std::span<const float> gradient, std::span<float> buffer, ThreadPool& pool) {
    const bool hasMomentum = settings.momentum != 0.0F;
    ASSAY_ASSERT(gradient.size() == parameter.size() && buffer.size() == (hasMomentum ? parameter.size() : 0));
    const auto momentum = static_cast<double>(settings.momentum);
    const auto decay = static_cast<double>(settings.weightDecay);
    const auto rate = static_cast<double>(learningRate);
    pool.parallelFor(parameter.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
            const auto w = static_cast<double>(parameter[i]);
            double direction = static_cast<double>(gradient[i]) * gradientFactor + decay * w;
            if (hasMomentum) {
                buffer[i] = arith::roundToFloat(momentum * static_cast<double>(buffer[i]) + direction);
                const auto b = static_cast<double>(buffer[i]);
                direction = settings.nesterov ? direction + momentum * b : b;
            }
            parameter[i] = arith::roundToFloat(w - rate * direction);
        }
    });
}

void adamwUpdate(const AdamWSettings& settings, std::uint64_t step, float learningRate, double gradientFactor,
                 std::span<float> parameter, std::span<const float> gradient, std::span<float> m, std::span<float> v,
                 ThreadPool& pool) {
    const std::size_t n = parameter.size();
    ASSAY_ASSERT(step >= 1 && gradient.size() == n && m.size() == n && v.size() == n);
    const auto beta1 = static_cast<double>(settings.beta1);
    const auto beta2 = static_cast<double>(settings.beta2);
    const auto epsilon = static_cast<double>(settings.epsilon);
    const auto rate = static_cast<double>(learningRate);
    const double rateDecay = rate * static_cast<double>(settings.weightDecay);
    const double rest1 = 1.0 - beta1;
    const double rest2 = 1.0 - beta2;
    const double correction1 = 1.0 - arith::powInteger(beta1, step);
    const double correction2 = 1.0 - arith::powInteger(beta2, step);
    pool.parallelFor(n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
            const auto w = static_cast<double>(parameter[i]);
            const double g = static_cast<double>(gradient[i]) * gradientFactor;
            m[i] = arith::roundToFloat(beta1 * static_cast<double>(m[i]) + rest1 * g);
            v[i] = arith::roundToFloat(beta2 * static_cast<double>(v[i]) + rest2 * (g * g));
            const double mean = static_cast<double>(m[i]) / correction1;
            const double scale = arith::sqrtOwn(static_cast<double>(v[i]) / correction2) + epsilon;
            parameter[i] = arith::roundToFloat((w - rateDecay * w) - rate * (mean / scale));
        }
    });
}

float gradientNorm(std::span<const Tensor* const> gradients, ThreadPool& pool) {
    std::vector<double> sums(gradients.size());
    pool.parallelFor(gradients.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
            sums[i] = numerics::sumOfSquares(gradients[i]->data(), gradients[i]->size());
        }
    });
    return arith::roundToFloat(arith::sqrtOwn(arith::treeSum(sums.data(), sums.size())));
}

double clipFactor(float norm, float clipNorm) {
    return clipNorm != 0.0F && norm > clipNorm ? static_cast<double>(clipNorm) / static_cast<double>(norm) : 1.0;
}

Result<float> learningRateAt(const ScheduleSettings& schedule, std::uint64_t step) {
    ASSAY_ASSERT(step >= 1);
    const bool isCosine = schedule.kind == "cosine";
    if (!isCosine && schedule.kind != "constant") {
        return fail(ErrorCode::malformed, fmt::format("unknown learning-rate schedule '{}'", schedule.kind),
                    "constant or cosine");
    }
    const auto rate = static_cast<double>(schedule.learningRate);
    if (step <= schedule.warmup) {
        return arith::roundToFloat(rate * (static_cast<double>(step) / static_cast<double>(schedule.warmup)));
    }
    if (!isCosine || schedule.steps <= schedule.warmup) {
        return arith::roundToFloat(rate);
    }
    constexpr double kPi = 0x1.921fb54442d18p+1;
    const double progress =
        static_cast<double>(step - schedule.warmup) / static_cast<double>(schedule.steps - schedule.warmup);
    const auto least = static_cast<double>(schedule.minLearningRate);
    const double share = (1.0 + arith::cosOwn(kPi * (progress < 1.0 ? progress : 1.0))) * 0.5;
    return arith::roundToFloat(least + (rate - least) * share);
}

} // namespace assay::tensor
