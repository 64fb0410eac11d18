// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/replayer.h"
#include "core/format/leaf.h"
#include "core/format/state_tree.h"

namespace assay::engine {

/// One step of a submission as the auditor computes it.
struct ReplayedStep {
    StepOutcome outcome; ///< `previous` filled in
    std::uint64_t logBytes = 0;
    bool logCommitted = true; ///< the log file's sections have the root that the leaf claims
    std::optional<std::string>
        logFault; ///< the log cannot be enforced: of another step or order, wrong number of sections
    bool otherInputs =
        false; ///< batch or learning rate differ: the log belongs to another computation and was not enforced

    /// Digest of everything that was computed: leaf, counts, offences.
    [[nodiscard]] base::Digest fingerprint() const;
};

/// Runs step record.leaf.step on `state` (that of the step before) with the submission's log enforced. `malformed` if
/// the log file violates its format.
[[nodiscard]] base::Result<ReplayedStep> replayStep(Session& session, const format::Dataset& data,
                                                    const format::Submission& submission,
                                                    const format::StepRecord& record, TrainingState& state,
                                                    bool ignoreLog, std::span<SiteHook* const> hooks);

/// What differs, failures first; empty if nothing does. `state` is that after the replayed step.
[[nodiscard]] base::Result<std::vector<ReplayFinding>>
compareStep(const Session& session, const format::Submission& submission, const format::StepRecord& record,
            const ReplayedStep& replayed, const TrainingState& state);

/// The first tensor whose root differs from the claimed one, as far as it can be known. Sets everything but `part`.
[[nodiscard]] Divergence stateRootDivergence(const TrainingState& state, const format::StepRecord& record,
                                             const format::StateCommitment& own);

} // namespace assay::engine
