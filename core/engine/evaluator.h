// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/engine/executor.h"

namespace assay::engine {

/// Result on held-out samples.
struct Metric {
    double loss = 0;     ///< mean over all predictions
    double accuracy = 0; ///< share of predictions whose largest logit (lowest index among equals) is the target
    std::uint64_t samples = 0;
    std::uint64_t predictions = 0; ///< samples for classifiers, tokens for text
    std::uint64_t correct = 0;
    bool hasAccuracy = false; ///< false where the program names no logits
};

/// Adds up batches in order. The loss of a batch is weighted with its number of samples.
class MetricSum {
public:
    /// `malformed` if logits and targets do not fit together.
    [[nodiscard]] base::Result<void> add(const format::Program& program, const BatchValues& batch,
                                         std::uint64_t samples, const Executor::Evaluation& evaluation);
    [[nodiscard]] Metric result() const;

private:
    double m_lossTimesSamples = 0;
    Metric m_metric;
};

/// The consecutive batches of the held-out samples: full ones, then one with the rest.
struct HeldOutBatch {
    std::uint64_t first = 0; ///< sample index
    std::uint64_t count = 0;
};
[[nodiscard]] std::vector<HeldOutBatch> heldOutBatches(std::uint64_t samples, std::uint64_t heldOut,
                                                       std::uint64_t batch);

} // namespace assay::engine
