// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/engine/run_control.h"
#include "core/engine/session.h"
#include "core/format/submission.h"

namespace assay::engine {

/// Where a claim and its replay differ. `part` and `source` have the names of `verify --json`; empty fields are
/// unknown.
struct Divergence {
    std::string source; ///< "leaf", "log", "tensor" or "checkpoint"
    std::uint64_t step = 0;
    std::string part;
    std::optional<std::string> tensor;
    std::optional<std::string> operatorName;
    std::optional<std::string> site;
    std::optional<std::uint64_t> element;
    std::optional<float> claimedValue; ///< FP32 values, or
    std::optional<float> computedValue;
    std::optional<std::string> claimedText; ///< digests in hex
    std::optional<std::string> computedText;
};

/// One observation. Only failures speak against the submission; the others say what else differed in the same step.
struct ReplayFinding {
    bool failure = true;
    Divergence where;
    std::string text;
};

struct ReplayStep {
    std::uint64_t step = 0;
    bool matched = false;
    const StepOutcome* outcome = nullptr; ///< the replay's
    const format::LeafData* claimed = nullptr;
    base::Digest leafHash; ///< of the replayed leaf
    std::uint64_t logBytes = 0;
    double seconds = 0;
    bool checkpoint = false;
};

struct ReplayEvents {
    std::function<void(const Session&)> started;
    std::function<void(const ReplayStep&)> step;
    std::function<void(const ReplayFinding&)> finding;
};

/// Steps first .. last, inclusive, 1-based.
struct StepSpan {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
};

struct ReplayRequest {
    std::vector<StepSpan> spans;       ///< ascending and disjoint
    bool ignoreLog = false;            ///< own roundings; differences are then no accusation and the replay goes on
    std::uint64_t verifiedThrough = 0; ///< planned steps up to this one are known to be equal: go on from the last
                                       ///< checkpoint at or before it
    std::vector<SiteHook*> hooks;
};

struct ReplayResult {
    bool cancelled = false;
    bool mismatch = false;       ///< a step differs (also with the log ignored)
    bool auditorAtFault = false; ///< repeating the segment gave something else: no accusation can be made
    std::string faultText;
    std::vector<ReplayFinding> findings; ///< of the step that differs, failures first
    std::uint64_t stepsChecked = 0;      ///< replayed and equal, those known before included
    std::uint64_t resumedFrom = 0;       ///< steps up to this one were not replayed again (verifiedThrough)
    std::uint64_t lastStep = 0;          ///< last step that was looked at
    std::uint64_t entries = 0, corrections = 0, logBytes = 0, freedom = 0; ///< of the steps behind verifiedThrough
    bool diverged = false; ///< the run ends in a diverged leaf, and the replay agrees
    std::string divergedSite;
    std::optional<TrainingState>
        finalState; ///< after the submission's last step, if the replay got there and is not diverged
};

/// Replays a submission under `session`'s order, which is the client's. Before it accuses, it repeats the segment with
/// the same profile. Malformed bytes of the submission are an Error.
[[nodiscard]] base::Result<ReplayResult> replay(Session& session, const format::Dataset& data,
                                                const format::Submission& submission, const ReplayRequest& request,
                                                const ReplayEvents& events, RunControl& control);

/// The largest checkpoint step at or before `step`; 0 = the initial state.
[[nodiscard]] std::uint64_t checkpointAtOrBefore(const format::Submission& submission, std::uint64_t step);
/// State of a checkpoint (0: the initial state). Its state root is not compared.
[[nodiscard]] base::Result<TrainingState> stateOf(const Session& session, const format::Submission& submission,
                                                  std::uint64_t step);

/// The first tensor and element in which a checkpoint file differs from `state`; none if all values are equal.
[[nodiscard]] base::Result<std::optional<Divergence>> compareCheckpoint(const format::Safetensors& claimed,
                                                                        const TrainingState& state);

} // namespace assay::engine
