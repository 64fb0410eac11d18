// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

using AuditId = std::int64_t;

/// Persistent as text: "running", "paused", "interrupted", "finished".
enum class AuditState { running, paused, interrupted, finished };
[[nodiscard]] std::string_view auditStateName(AuditState state);

/// Two audits do the same work, and one may go on where the other stopped, if all four are equal.
struct WorkKey {
    std::string root;        ///< of the submission, hex
    std::string orderDigest; ///< hex of the order whose values count
    std::string kernel;      ///< the auditor's profile text
    std::string
        options; ///< canonical text of everything else that changes the replay (scope, range, nonce, log ignored)
    bool operator==(const WorkKey&) const = default;
};

struct NewAudit {
    std::string submission; ///< absolute path
    std::string title;
    WorkKey work;
    std::string command; ///< the command line that does the same, for "copy as command"
    std::uint64_t stepsTotal = 0;
    std::uint64_t firstStep = 1; ///< first planned step
};

/// What becomes known later.
struct AuditFacts {
    std::string engineJson; ///< hello event
    std::string kernelTrainer;
};

struct AuditRow {
    AuditId id = 0;
    std::int64_t createdMs = 0; ///< Unix time in milliseconds, UTC
    std::int64_t updatedMs = 0;
    std::string submission, title;
    WorkKey work;
    std::string command;
    std::uint64_t stepsTotal = 0, firstStep = 1;
    AuditState state = AuditState::interrupted;
    std::string owner;
    std::string engineJson, kernelTrainer;
    std::string verdict = "not_checked"; ///< name
    std::string reason;
    std::string reportJson;         ///< the complete report, empty until finished
    std::uint64_t stepsMatched = 0; ///< stored so far
};

struct ResumableAudit {
    AuditId id = 0;
    std::uint64_t lastVerified = 0; ///< all steps from the first planned one to this are stored as matched; 0 = none
};

struct CheckRow {
    std::string name;  ///< "signature", ...
    std::string state; ///< "not_checked", "passed", "failed"
    std::string detail;
    std::optional<std::string> part;
    std::optional<std::uint64_t> step;
    bool operator==(const CheckRow&) const = default;
};

struct SiteRow {
    std::uint32_t index = 0;
    std::string name;
    std::string direction;
    bool product = false;
    std::uint64_t values = 0;
    bool operator==(const SiteRow&) const = default;
};

struct StepRow {
    std::uint64_t step = 0;
    std::string status; ///< "matched", "mismatched"
    std::uint32_t lossBits = 0;
    std::optional<std::uint32_t> lossClaimedBits;
    std::optional<std::uint32_t> evaluationBits;
    std::uint64_t entries = 0, corrections = 0, offences = 0, logBytes = 0, freedom = 0;
    double seconds = 0;
    bool checkpoint = false;
    std::string digest;
    bool operator==(const StepRow&) const = default;
};

struct StepSpan {
    std::uint64_t first = 0, last = 0;
    bool operator==(const StepSpan&) const = default;
};

/// Sums over stored steps.
struct StepTotals {
    std::uint64_t steps = 0, matched = 0, entries = 0, corrections = 0, offences = 0, logBytes = 0, freedom = 0;
    double seconds = 0;
};

struct SiteCountRow {
    std::uint32_t site = 0;
    std::uint64_t entries = 0, corrections = 0, offences = 0;
    bool operator==(const SiteCountRow&) const = default;
};

/// Sorted by (step, id); ids grow in the order of arrival.
struct CorrectionKey {
    std::uint64_t step = 0;
    std::int64_t id = 0;
    bool operator==(const CorrectionKey&) const = default;
};
struct CorrectionRow {
    CorrectionKey key; ///< id 0 when written
    std::uint32_t site = 0;
    std::string siteName;
    std::uint64_t element = 0;
    std::uint32_t ownBits = 0, takenBits = 0;
    bool operator==(const CorrectionRow&) const = default;
};
struct CorrectionFilter {
    std::optional<std::uint32_t> site;
    std::optional<std::uint64_t> firstStep, lastStep;
};

struct FindingRow {
    std::int64_t id = 0; ///< 0 when written
    std::string severity;
    std::optional<std::string> source;
    std::optional<std::uint64_t> step;
    std::optional<std::string> part, tensor, operator_, site;
    std::optional<std::uint64_t> element;
    std::optional<std::string> claimed, computed;
    std::optional<std::uint32_t> claimedBits, computedBits;
    std::string text;
    bool operator==(const FindingRow&) const = default;
};
struct FindingFilter {
    std::optional<std::string> severity;
    std::optional<std::string> part;
    std::optional<std::uint64_t> firstStep, lastStep;
};

/// One step as one transaction.
struct StepWrite {
    StepRow step;
    std::vector<SiteCountRow> sites;
    std::vector<CorrectionRow> corrections;
};

/// Counts of one site over the steps of one bucket. `min` and `max` are over the *replayed* steps; a step without a row
/// counts as 0.
struct HeatCell {
    std::uint32_t site = 0;
    std::uint32_t bucket = 0;
    std::uint64_t minEntries = 0, maxEntries = 0, sumEntries = 0;
    std::uint64_t minCorrections = 0, maxCorrections = 0, sumCorrections = 0;
    std::uint64_t maxOffences = 0, sumOffences = 0;
    bool operator==(const HeatCell&) const = default;
};
/// Bucket b covers steps first + b * stepsPerBucket .. ; cells that are all zero are left out, sorted by (site,
/// bucket).
struct HeatMap {
    std::uint64_t first = 0, last = 0, stepsPerBucket = 1;
    std::vector<std::uint64_t> replayed;   ///< steps stored per bucket; 0 = nothing is known there
    std::vector<std::uint64_t> mismatched; ///< of these
    std::vector<HeatCell> cells;
};

struct NewNote {
    AuditId audit = 0;
    std::string subject; ///< what it is about: "finding:12", "step:7"; empty = the audit
    std::string text;
};
struct NoteRow {
    std::int64_t id = 0;
    AuditId audit = 0;
    std::int64_t createdMs = 0, updatedMs = 0;
    std::string subject, text;
};
struct JournalRow {
    std::int64_t id = 0;
    std::int64_t atMs = 0;
    std::optional<AuditId> audit;
    std::string owner; ///< process that wrote it
    std::string action, detail;
};
struct RecentRow {
    std::string path, kind, title;
    std::int64_t openedMs = 0;
};

} // namespace assay::store
