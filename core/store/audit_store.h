// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/store/rows.h"

/// The audit store: one SQLite file (WAL) with everything an auditor must be able to come back to.
namespace assay::store {

/// $ASSAY_STORE, or $XDG_DATA_HOME/assay/audits.sqlite, or ~/.local/share/assay/audits.sqlite. `environment` if none
/// can be named.
[[nodiscard]] base::Result<base::fs::path> defaultStorePath();

/// The newest schema that this release knows.
[[nodiscard]] int currentSchemaVersion();

/// Which process works on an audit: a text that is unique over reboots and reused process ids.
[[nodiscard]] std::string currentOwner();
/// False if that process is gone (other boot, no such process, id reused) or lives in another container of this
/// machine, where nobody can tell. A process on another machine counts as alive. A wrong "false" is harmless: every
/// write checks that its process still owns the audit.
[[nodiscard]] bool ownerMayBeAlive(std::string_view owner);

/// Connection to a store. Every writing call is one transaction: after kill -9 it happened whole or not at all. Several
/// processes and threads may each hold a connection to the same file; one object is not thread-safe. Movable. Errors:
/// `environment` (disk full, no permission, read-only, locked for longer than ten seconds), `malformed` (not a store,
/// damaged), `usage` (no such audit, or another process works on it).
class AuditStore {
public:
    enum class Mode { readWrite, readOnly };
    /// Opens, creates (with its folders) or migrates a store. A file that is something else, or that a newer release
    /// wrote, is refused and never touched.
    [[nodiscard]] static base::Result<AuditStore> open(const base::fs::path& path, Mode mode = Mode::readWrite);
    AuditStore(AuditStore&&) noexcept;
    AuditStore& operator=(AuditStore&&) noexcept;
    ~AuditStore();
    [[nodiscard]] const base::fs::path& path() const;
    /// SQLite's own check of the whole file; `malformed` with its first complaint. Slow.
    [[nodiscard]] base::Result<void> checkIntegrity() const;

    // Audits
    [[nodiscard]] base::Result<AuditId> createAudit(const NewAudit& audit); ///< running, owned by this process
    [[nodiscard]] base::Result<AuditRow> audit(AuditId id) const;
    [[nodiscard]] base::Result<std::vector<AuditRow>> audits(std::optional<AuditId> before,
                                                             std::size_t limit) const; ///< newest first
    /// Paused or running again; `usage` if this process does not own the audit.
    [[nodiscard]] base::Result<void> setState(AuditId id, AuditState state);
    /// Makes this process the owner of an audit that is not finished and whose owner is gone; state running. `usage` if
    /// the owner lives.
    [[nodiscard]] base::Result<void> takeOver(AuditId id);
    /// What is known once the engine has started; empty values leave the old ones.
    [[nodiscard]] base::Result<void> setFacts(AuditId id, const AuditFacts& facts);
    /// Stores the verdict and closes the audit.
    [[nodiscard]] base::Result<void> finishAudit(AuditId id, std::string_view verdict, std::string_view reason,
                                                 std::string_view reportJson);
    /// Ends the work of this process without a verdict; the audit can be resumed.
    [[nodiscard]] base::Result<void> interruptAudit(AuditId id, std::string_view why);
    /// Marks running and paused audits whose owner is gone as interrupted; returns them. Called when a store is opened
    /// for browsing.
    [[nodiscard]] base::Result<std::vector<AuditId>> markInterrupted();
    /// The newest unfinished audit of exactly this work whose owner is gone.
    [[nodiscard]] base::Result<std::optional<ResumableAudit>> findResumable(const WorkKey& work) const;
    /// Removes an audit with all that belongs to it; the journal keeps that it existed. `usage` while its owner lives.
    [[nodiscard]] base::Result<void> deleteAudit(AuditId id);

    // What an engine reports
    [[nodiscard]] base::Result<void> putCheck(AuditId id, const CheckRow& check); ///< replaces the one of the same name
    [[nodiscard]] base::Result<std::vector<CheckRow>> checks(AuditId id) const;
    [[nodiscard]] base::Result<void> putSites(AuditId id, std::span<const SiteRow> sites); ///< replaces all
    [[nodiscard]] base::Result<std::vector<SiteRow>> sites(AuditId id) const;
    /// One step with its site counts and corrections, replacing what was stored of the step.
    [[nodiscard]] base::Result<void> putStep(AuditId id, const StepWrite& step);
    [[nodiscard]] base::Result<void> addFindings(AuditId id, std::span<const FindingRow> findings);
    /// Before work goes on: keeps the matched steps with what belongs to them and forgets everything else that an
    /// engine reported (other steps, checks, findings), because it is found anew.
    [[nodiscard]] base::Result<void> forgetUnverified(AuditId id);

    // Paging: rows after a key in ascending order, at most `limit`; O(limit + log n). Counts are O(n) and run off the
    // GUI thread.
    [[nodiscard]] base::Result<std::vector<StepRow>> steps(AuditId id, std::optional<std::uint64_t> afterStep,
                                                           std::size_t limit) const;
    [[nodiscard]] base::Result<std::vector<StepSpan>>
    matchedSpans(AuditId id) const; ///< verified steps as ascending ranges
    /// Sums over all stored steps, or over those of a range.
    [[nodiscard]] base::Result<StepTotals> totals(AuditId id, std::optional<StepSpan> range = {}) const;
    [[nodiscard]] base::Result<std::vector<CorrectionRow>> corrections(AuditId id, const CorrectionFilter& filter,
                                                                       std::optional<CorrectionKey> after,
                                                                       std::size_t limit) const;
    [[nodiscard]] base::Result<std::uint64_t> countCorrections(AuditId id, const CorrectionFilter& filter) const;
    /// Keys to jump by: row number i * every of the filtered list lies right after anchor i (anchor 0 is "from the
    /// start").
    [[nodiscard]] base::Result<std::vector<std::optional<CorrectionKey>>>
    correctionAnchors(AuditId id, const CorrectionFilter& filter, std::size_t every) const;
    [[nodiscard]] base::Result<std::vector<FindingRow>>
    findings(AuditId id, const FindingFilter& filter, std::optional<std::int64_t> afterId, std::size_t limit) const;
    [[nodiscard]] base::Result<std::uint64_t> countFindings(AuditId id, const FindingFilter& filter) const;
    [[nodiscard]] base::Result<std::vector<SiteCountRow>> siteCounts(AuditId id, std::uint64_t step) const;
    /// Heat map, site x bucket of steps; see HeatMap. `usage` if first > last or buckets == 0.
    [[nodiscard]] base::Result<HeatMap> heatMap(AuditId id, std::uint64_t first, std::uint64_t last,
                                                std::size_t buckets) const;

    // The auditor's own
    [[nodiscard]] base::Result<std::int64_t> addNote(const NewNote& note);
    [[nodiscard]] base::Result<void> editNote(std::int64_t noteId, std::string_view text);
    [[nodiscard]] base::Result<void> deleteNote(std::int64_t noteId);
    [[nodiscard]] base::Result<std::vector<NoteRow>> notes(AuditId id) const;
    /// Append-only; the database itself refuses changes.
    [[nodiscard]] base::Result<void> appendJournal(std::optional<AuditId> id, std::string_view action,
                                                   std::string_view detail);
    [[nodiscard]] base::Result<std::vector<JournalRow>>
    journal(std::optional<AuditId> id, std::optional<std::int64_t> afterId, std::size_t limit) const;
    [[nodiscard]] base::Result<void> touchRecent(std::string_view path, std::string_view kind, std::string_view title);
    [[nodiscard]] base::Result<void> forgetRecent(std::string_view path);
    [[nodiscard]] base::Result<std::vector<RecentRow>> recent(std::size_t limit) const; ///< newest first
    [[nodiscard]] base::Result<void> setSetting(std::string_view key, std::string_view value);
    [[nodiscard]] base::Result<std::optional<std::string>> setting(std::string_view key) const;

private:
    struct State;
    explicit AuditStore(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::store
