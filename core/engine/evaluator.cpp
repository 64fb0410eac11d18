// SPDX-License-Identifier: Apache-2.0
#include "core/engine/evaluator.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<void> MetricSum::add(const format::Program& program, const BatchValues& batch, std::uint64_t samples,
                            const Executor::Evaluation& evaluation) {
    m_metric.samples += samples;
    m_lossTimesSamples += static_cast<double>(evaluation.loss) * static_cast<double>(samples);
    const tensor::IdTensor* targets = nullptr;
    for (std::size_t i = 0; i < program.batch.size(); ++i) {
        if (program.batch[i].name == "label" || program.batch[i].name == "targets") {
            targets = &batch.ids[i];
        }
    }
    if (!evaluation.logits.isDefined() || targets == nullptr) {
        m_metric.predictions += samples;
        return {};
    }
    const auto& logits = evaluation.logits;
    const std::uint64_t rows = targets->values.size();
    const std::uint64_t classes = rows == 0 ? 0 : logits.size() / rows;
    if (classes == 0 || classes * rows != logits.size()) {
        return fail(ErrorCode::malformed,
                    fmt::format("logits {} do not fit {} targets", tensor::toString(logits.shape()), rows));
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
        const auto values = logits.values().subspan(row * classes, classes);
        const auto best = static_cast<std::int64_t>(std::max_element(values.begin(), values.end()) - values.begin());
        m_metric.correct += best == targets->values[row] ? 1 : 0;
    }
    m_metric.predictions += rows;
    m_metric.hasAccuracy = true;
    return {};
}

Metric MetricSum::result() const {
    Metric metric = m_metric;
    metric.loss = metric.samples == 0 ? 0 : m_lossTimesSamples / static_cast<double>(metric.samples);
    metric.accuracy =
        metric.predictions == 0 ? 0 : static_cast<double>(metric.correct) / static_cast<double>(metric.predictions);
    return metric;
}

std::vector<HeldOutBatch> heldOutBatches(std::uint64_t samples, std::uint64_t heldOut, std::uint64_t batch) {
    std::vector<HeldOutBatch> batches;
    for (std::uint64_t done = 0; done < heldOut; done += batch) {
        batches.push_back({samples + done, std::min(batch, heldOut - done)});
    }
    return batches;
}

} // namespace assay::engine
