// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/tamper.h"
#include "core/engine/trainer.h"

/// What the fault planters share. Internal to core/engine.
namespace assay::engine::detail {

/// A submission with everything that is needed to run its steps.
struct Victim {
    const TamperRequest& request;
    const format::Submission& submission;
    const format::Dataset& data;
    Session& session;
    const base::ProgressFn& progress;
    RunControl& control;
    [[nodiscard]] std::uint64_t lastStep() const; ///< last step that did not diverge
};

/// The state after `step`, from the nearest checkpoint with the log enforced. `usage` if the submission does not hold
/// there.
[[nodiscard]] base::Result<TrainingState> stateAfter(const Victim& victim, std::uint64_t step);

/// A new submission under construction that takes over steps of an old one, with its kernel profiles.
class Rewriter {
public:
    [[nodiscard]] static base::Result<Rewriter> create(const format::Submission& source, const base::fs::path& out);
    /// Copies the next step. `log` replaces its log file and its leaf's log root.
    [[nodiscard]] base::Result<void> copyStep(const base::ByteVector* log = nullptr);
    /// Steps from here on are made under `profile`.
    [[nodiscard]] base::Result<void> setProfile(const std::string& profile);
    [[nodiscard]] format::SubmissionWriter& writer() { return *m_writer; }

private:
    explicit Rewriter(const format::Submission& source) : m_source(source) {}
    [[nodiscard]] std::string profileOf(std::uint64_t step) const;
    const format::Submission& m_source;
    std::optional<format::SubmissionWriter> m_writer;
    std::string m_profile;
};

/// Root over the sections of an encoded step log.
[[nodiscard]] base::Result<base::Digest> logRootOf(base::ByteView log);

// The planters. Each makes request.out and fills in everything but `shows`, `absorbed` and `root`.
[[nodiscard]] base::Result<TamperResult> plantLie(const Victim& victim);
[[nodiscard]] base::Result<TamperResult> plantLogEdit(const Victim& victim);
[[nodiscard]] base::Result<TamperResult> plantCheckpointEdit(const TamperRequest& request,
                                                             const format::Submission& submission);

/// Copies a whole submission folder. `usage` if `out` is taken.
[[nodiscard]] base::Result<void> copySubmission(const format::Submission& source, const base::fs::path& out);
/// Brings the manifest in line with one changed file; with a key the whole seal is made anew.
[[nodiscard]] base::Result<void> resealFile(const TamperRequest& request, const format::Submission& source,
                                            const std::string& name);

} // namespace assay::engine::detail
