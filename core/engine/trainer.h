// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/engine/run_control.h"
#include "core/engine/session.h"
#include "core/format/submission.h"
#include "core/tensor/kernel_profile.h"

namespace assay::engine {

/// One finished step, for whoever watches.
struct StepReport {
    const StepOutcome* outcome = nullptr;
    double seconds = 0;
    bool checkpoint = false;
    base::Digest leafHash; ///< of the leaf with its `previous`
    std::uint64_t logBytes = 0;
    bool replayed = false; ///< a resuming trainer repeats what it has already committed
};

struct TrainEvents {
    std::function<void(const Session&)> started;        ///< before the first step
    std::function<void(const StepReport&)> step;        ///< after each step
    std::function<void(std::string_view text)> warning; ///< something the trainer should know
    base::ProgressFn progress;                          ///< opening the data
};

struct TrainRequest {
    base::fs::path orderFile;  ///< program.json and init.safetensors lie beside it
    base::fs::path out;        ///< submission folder
    base::fs::path dataFolder; ///< empty: the order's folder
    std::string keyPem;        ///< signs at the end; empty: unsigned
    tensor::KernelProfile profile;
    std::string profileText; ///< as the attestation shall say it
    bool resume = false;
    base::fs::path siteDigests; ///< empty: none
    std::string engineVersion;
};

struct TrainResult {
    bool cancelled = false;    ///< stopped on request; `resume` goes on
    std::uint64_t steps = 0;   ///< committed
    std::uint64_t entries = 0; ///< of the steps run now
    std::uint64_t logBytes = 0;
    bool diverged = false;
    std::string divergedSite;
    std::optional<base::Digest> root; ///< of the finished submission
    base::Digest order;
    float firstLoss = 0; ///< of the steps run now
    float lastLoss = 0;
    std::string profile;
};

/// Runs an order as its trainer. Killed at any moment, it can be resumed: from the last checkpoint, enforcing its own
/// log up to the last committed leaf, then recording on. `usage` if the folder is taken or finished.
[[nodiscard]] base::Result<TrainResult> train(const TrainRequest& request, const TrainEvents& events,
                                              RunControl& control);

/// Adds `outcome` to a submission: checkpoint where due, leaf, log. Returns the report of the step without its time.
[[nodiscard]] base::Result<StepReport> commitStep(format::SubmissionWriter& writer, const TrainingState& state,
                                                  StepOutcome& outcome);

/// The state after step `step` of a submission that is being written, from its nearest checkpoint at or before it and
/// its own logs. `environment` if the replay does not reproduce the committed leaves.
[[nodiscard]] base::Result<TrainingState> restoreState(Session& session, const format::Dataset& data,
                                                       format::SubmissionWriter& writer, std::uint64_t step,
                                                       std::span<SiteHook* const> hooks, const TrainEvents& events,
                                                       RunControl& control);

} // namespace assay::engine
