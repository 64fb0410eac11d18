// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

/// Use cases of an audit: static checks, sampling plans, verdicts, recording. No tensors, no torch, no Qt.
namespace assay::audit {

/// What an audit may say. The default claims nothing. Persistent names: verdictName().
enum class Verdict { notChecked, accepted, rejected, inconclusive };
/// "not_checked", "accepted", "rejected", "inconclusive".
[[nodiscard]] std::string_view verdictName(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdictFromName(std::string_view name);
/// 0 accepted, 1 rejected, 5 inconclusive and not checked.
[[nodiscard]] int exitCodeFor(Verdict verdict);

/// What differs. The order of the values is the order of precedence where several parts of one step differ. Persistent.
enum class Part {
    batch,
    learningRate,
    loss,
    logRoot,
    stateRoot,
    evaluation,
    chain,
    finalFile,
    initialState,
    data,
    signature,
    order
};
inline constexpr int kPartCount = 12;
/// "batch", "learning_rate", ... as in reports.
[[nodiscard]] std::string_view partName(Part part);
[[nodiscard]] std::optional<Part> partFromName(std::string_view name);
/// The part in words a client understands ("the loss", "the order of the training samples").
[[nodiscard]] std::string_view partInWords(Part part);

/// Where the knowledge about a divergence comes from. Persistent.
enum class Source { leaf, log, tensor, checkpoint, trace, dispute };
[[nodiscard]] std::string_view sourceName(Source source);
[[nodiscard]] std::optional<Source> sourceFromName(std::string_view name);

/// The first place where claim and replay differ. Every field is empty where it cannot be known; nothing is ever
/// guessed.
struct FirstDivergence {
    std::optional<Source> source;
    std::optional<std::uint64_t> step; ///< 1-based; 0 is the initial state
    std::optional<Part> part;
    std::optional<std::string> tensor;
    std::optional<std::string> operator_; ///< "operator" in JSON
    std::optional<std::string> site;
    std::optional<std::uint64_t> element; ///< row-major index inside the site or tensor
    std::optional<std::string> claimed;   ///< decimal of an FP32 value (floatText), or a digest in hex
    std::optional<std::string> computed;
    std::optional<std::uint32_t> claimedBits; ///< FP32 bits where the value is a number
    std::optional<std::uint32_t> computedBits;

    void setClaimed(float value);  ///< both claimed and claimedBits
    void setComputed(float value); ///< both computed and computedBits
    bool operator==(const FirstDivergence&) const = default;
};
/// Shortest decimal that reads back as the same FP32 value; "nan", "inf", "-inf".
[[nodiscard]] std::string floatText(float value);

enum class Severity { info, warning, failure };
[[nodiscard]] std::string_view severityName(Severity severity);
[[nodiscard]] std::optional<Severity> severityFromName(std::string_view name);

/// One observation with its evidence. Only `failure` speaks against the submission.
struct Finding {
    Severity severity = Severity::info;
    FirstDivergence where;
    std::string text; ///< one sentence in plain words
    bool operator==(const Finding&) const = default;
};

/// The separate checks of `verify`, in the order in which they run. Persistent names: checkName().
enum class Check { signature, order, files, merkle, initialState, data, replay, finalCheckpoint };
inline constexpr int kCheckCount = 8;
/// "signature", "order", "files", "merkle", "initial_state", "data", "replay", "final_checkpoint".
[[nodiscard]] std::string_view checkName(Check check);
[[nodiscard]] std::optional<Check> checkFromName(std::string_view name);

enum class CheckState { notChecked, passed, failed };
/// "not_checked", "passed", "failed".
[[nodiscard]] std::string_view checkStateName(CheckState state);
[[nodiscard]] std::optional<CheckState> checkStateFromName(std::string_view name);

struct CheckResult {
    Check check = Check::signature;
    CheckState state = CheckState::notChecked;
    std::string detail;       ///< what was compared, or why it was not checked ("unknown key")
    std::optional<Part> part; ///< of a failed check
    std::optional<std::uint64_t> step;
    bool operator==(const CheckResult&) const = default;
};

/// What the replay covered.
enum class Scope { all, range, sample };
[[nodiscard]] std::string_view scopeName(Scope scope);
[[nodiscard]] std::optional<Scope> scopeFromName(std::string_view name);

/// Steps first .. last, both included.
struct StepRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool operator==(const StepRange&) const = default;
};
/// Steps first .. last were made under this kernel profile.
struct ProfileSpan {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::string profile;
    bool operator==(const ProfileSpan&) const = default;
};

/// Everything `verify --json` says. Value type.
struct VerifyReport {
    Verdict verdict = Verdict::notChecked;
    std::string reason; ///< one plain sentence
    std::vector<std::string>
        warnings;                   ///< plain sentences that come before everything else (a diverged run, --ignore-log)
    std::uint64_t stepsChecked = 0; ///< replayed and equal to the claim
    std::uint64_t stepsTotal = 0;   ///< committed in the submission
    std::string rootClaimed;        ///< hex, empty = unknown (null in JSON)
    std::string
        rootComputed; ///< hex, from the replayed leaves; empty unless all leaves were replayed or compared equal
    Scope scope = Scope::all;
    std::vector<StepRange> ranges; ///< what was planned, ascending; one range for `all`
    std::optional<FirstDivergence> firstDivergence;
    std::uint64_t entries = 0;     ///< rounding-log entries read
    std::uint64_t corrections = 0; ///< entries that changed the auditor's own rounding
    std::uint64_t logBytes = 0;
    std::uint64_t freedom = 0; ///< values with a choice
    std::string kernelTrainer; ///< of the attestation; several ranges are joined by ", "
    std::string kernelAuditor;
    double seconds = 0;
    std::vector<CheckResult> checks;
    std::vector<Finding> findings;
    std::optional<double>
        detectionProbability;          ///< of a sampled audit: chance to draw a bad segment if there is just one
    std::vector<ProfileSpan> profiles; ///< the trainer's kernel profiles per range of steps
    std::string orderDigest;           ///< hex of the order whose values were used; empty = unknown
    std::string submission;            ///< path as given
    std::string nonce;                 ///< hex; sampled audits only
    std::string nonceSource;           ///< where the nonce came from
    bool logIgnored = false;           ///< --ignore-log: an experiment, never an acceptance
    bool operator==(const VerifyReport&) const = default;
};

inline constexpr std::string_view kReportSchema = "assay.verify";
inline constexpr int kReportVersion = 1;
/// One JSON object with `schema` and `version`, on one line, unknown values as null.
[[nodiscard]] std::string toJson(const VerifyReport& report);
/// Inverse of toJson. Unknown fields are ignored; a missing, mistyped or out-of-range known field, another schema or a
/// newer version is `malformed`. A report never reads as better than it was written: the verdict is required.
[[nodiscard]] base::Result<VerifyReport> reportFromJson(std::string_view json);

/// What the replay established. The default says: nothing was replayed.
struct ReplayOutcome {
    CheckState state =
        CheckState::notChecked; ///< passed: every planned step was replayed and its leaf equals the claim
    Scope scope = Scope::all;
    std::vector<StepRange> ranges;  ///< planned, ascending, disjoint; ignored for `all`
    std::uint64_t stepsChecked = 0; ///< steps replayed and equal
    std::uint64_t stepsTotal = 0;   ///< committed in the submission
    std::optional<double> detectionProbability;
    bool auditorAtFault = false; ///< the repetition before the accusation disagreed with itself
    bool logIgnored = false;     ///< an experiment without the log
    bool divergenceClaimed = false; ///< the submission ends in a `diverged` leaf instead of the order's last step
    bool diverged = false;          ///< that leaf was replayed: the run really ends there
    std::string divergedSite;
    std::optional<std::uint64_t> divergedStep;
    std::optional<FirstDivergence> divergence; ///< of a failed replay
    std::string detail;                        ///< why not checked ("cancelled after step 12"), or what failed
};

/// Input of combineVerdict. The defaults are those of the most doubtful case.
struct VerdictInput {
    std::vector<CheckResult>
        checks; ///< a missing check counts as not checked; two of the same kind: the worse one counts
    std::vector<Finding> findings; ///< failures among them are candidates for the first divergence
    ReplayOutcome replay;
    bool clientOrderGiven = false; ///< the client's own order was compared
    bool trainerKeyKnown = true;   ///< the client's order or the command line names a key
};

struct VerdictDecision {
    Verdict verdict = Verdict::notChecked;
    std::string reason; ///< one plain sentence, complete with its limits
    std::vector<std::string> warnings;
    std::optional<FirstDivergence> firstDivergence;
};

/// Combines checks and replay into a verdict. Pure and fail-closed:
///  - a failed check or replay => rejected, except that a failed *data* check alone (the auditor's own files are not
///  those of the
///    order) and an auditor that disagrees with itself => inconclusive;
///  - anything required that was not checked => inconclusive, naming it; nothing at all checked => notChecked;
///  - no client order => at best "inconclusive: order not compared";
///  - signature not checked only because no key is known => accepted remains possible and the sentence says so; with a
///  key known a
///    missing or invalid signature => rejected, part signature;
///  - the log ignored => at best inconclusive;
///  - an early end that the trainer explains by a divergence nobody replayed => at best inconclusive;
///  - a range or a sample that finds nothing => accepted, with the scope in the sentence.
/// The first divergence is the one of the earliest step; within a step the part that comes first in `Part`; those
/// without a step last.
[[nodiscard]] VerdictDecision combineVerdict(const VerdictInput& input);

/// Copies a decision and the input's checks, findings, scope and counts into a report (other fields stay as they are).
void applyVerdict(const VerdictInput& input, VerifyReport& report);

} // namespace assay::audit
