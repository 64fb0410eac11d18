// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/thread_pool.h"

/// Parameter updates: FP64 arithmetic in one specified order of IEEE operations, stored values rounded to FP32, so that
/// all update sites have D = 0. Bits do not depend on the number of threads.
namespace assay::tensor {

struct SgdSettings {
    float momentum = 0.0F;
    float weightDecay = 0.0F; ///< added to the gradient
    bool nesterov = false;
};

struct AdamWSettings {
    float beta1 = 0.9F;
    float beta2 = 0.999F;
    float epsilon = 1e-8F;
    float weightDecay = 0.0F; ///< decoupled
};

/// Names of the state tensors per parameter, each of the parameter's shape and zero at the start: {"momentum"} for
/// "sgd" (none if momentum is 0), {"m", "v"} for "adamw". `malformed` for another kind.
[[nodiscard]] base::Result<std::vector<std::string_view>> optimizerStateNames(std::string_view kind, float momentum);

/// d = g * gradientFactor + weightDecay * w; b' = RN(momentum * b + d); w' = RN(w - lr * (nesterov ? d + momentum * b'
/// : b')). Without momentum `buffer` is empty and w' = RN(w - lr * d). In place. All spans have the parameter's size.
void sgdUpdate(const SgdSettings& settings, float learningRate, double gradientFactor, std::span<float> parameter,
               std::span<const float> gradient, std::span<float> buffer, ThreadPool& pool);

/// Step t >= 1, g' = g * gradientFactor: m' = RN(beta1 m + (1 - beta1) g'), v' = RN(beta2 v + (1 - beta2) (g' g')),
/// w' = RN((w - (lr * weightDecay) * w) - lr * ((m' / (1 - beta1^t)) / (sqrt(v' / (1 - beta2^t)) + epsilon))). In
/// place.
void adamwUpdate(const AdamWSettings& settings, std::uint64_t step, float learningRate, double gradientFactor,
                 std::span<float> parameter, std::span<const float> gradient, std::span<float> m, std::span<float> v,
                 ThreadPool& pool);

/// Global gradient norm, rounded: RN(sqrt(sum)), where each tensor's squares are added in the specified tree, and so
/// are the tensors' sums, in the order given.
[[nodiscard]] float gradientNorm(std::span<const Tensor* const> gradients, ThreadPool& pool);
/// Factor for gradientFactor: clipNorm / norm if norm > clipNorm, otherwise 1. clipNorm = 0: no clipping, 1.
[[nodiscard]] double clipFactor(float norm, float clipNorm);

/// Learning-rate schedule.
struct ScheduleSettings {
    std::string kind = "constant"; ///< "constant" or "cosine"
    float learningRate = 0.0F;
    float minLearningRate = 0.0F; ///< cosine: reached at the last step
    std::uint64_t warmup = 0;     ///< steps of linear warm-up: learningRate * t / warmup for t <= warmup
    std::uint64_t steps = 0;      ///< of the whole run
};
/// Learning rate of step t, 1 <= t <= steps. Cosine after the warm-up: min + (lr - min) * ((1 + cos(pi p)) / 2),
/// p = (t - warmup) / (steps - warmup). `malformed` for an unknown kind.
[[nodiscard]] base::Result<float> learningRateAt(const ScheduleSettings& schedule, std::uint64_t step);

} // namespace assay::tensor
