// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/store/detail/state.h"

namespace assay::store {

using detail::Query;
using detail::Transaction;

namespace {

FindingRow readFinding(const Query& query) {
    FindingRow row;
    row.id = query.integer(0);
    row.severity = query.text(1);
    row.source = query.optionalText(2);
    row.step = query.optionalNatural(3);
    row.part = query.optionalText(4);
    row.tensor = query.optionalText(5);
    row.operator_ = query.optionalText(6);
    row.site = query.optionalText(7);
    row.element = query.optionalNatural(8);
    row.claimed = query.optionalText(9);
    row.computed = query.optionalText(10);
    row.claimedBits = query.optionalWord(11);
    row.computedBits = query.optionalWord(12);
    row.text = query.text(13);
    return row;
}

StepRow readStep(const Query& query) {
    StepRow row;
    row.step = query.natural(0);
    row.status = query.text(1);
    row.lossBits = query.word(2);
    row.lossClaimedBits = query.optionalWord(3);
    row.evaluationBits = query.optionalWord(4);
    row.entries = query.natural(5);
    row.corrections = query.natural(6);
    row.offences = query.natural(7);
    row.logBytes = query.natural(8);
    row.freedom = query.natural(9);
    row.seconds = query.real(10);
    row.checkpoint = query.integer(11) != 0;
    row.digest = query.text(12);
    return row;
}

/// Conditions of a filter; bind with the function below in the same order.
std::string where(const CorrectionFilter& filter) {
    std::string text = "audit = ?";
    text += filter.site ? " AND site = ?" : "";
    text += filter.firstStep ? " AND step >= ?" : "";
    text += filter.lastStep ? " AND step <= ?" : "";
    return text;
}
void bind(Query& query, AuditId id, const CorrectionFilter& filter) {
    query.bind(id);
    if (filter.site) {
        query.bind(*filter.site);
    }
    if (filter.firstStep) {
        query.bind(*filter.firstStep);
    }
    if (filter.lastStep) {
        query.bind(*filter.lastStep);
    }
}

std::string where(const FindingFilter& filter) {
    std::string text = "audit = ?";
    text += filter.severity ? " AND severity = ?" : "";
    text += filter.part ? " AND part = ?" : "";
    text += filter.firstStep ? " AND step >= ?" : "";
    text += filter.lastStep ? " AND step <= ?" : "";
    return text;
}
void bind(Query& query, AuditId id, const FindingFilter& filter) {
    query.bind(id);
    if (filter.severity) {
        query.bind(*filter.severity);
    }
    if (filter.part) {
        query.bind(*filter.part);
    }
    if (filter.firstStep) {
        query.bind(*filter.firstStep);
    }
    if (filter.lastStep) {
        query.bind(*filter.lastStep);
    }
}

/// All rows of a query, each made by `read`.
template <typename Read>
auto collect(Query& query, Read read) -> base::Result<std::vector<decltype(read(query))>> {
    std::vector<decltype(read(query))> rows;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return rows;
        }
        rows.push_back(read(query));
    }
}

} // namespace

base::Result<void> AuditStore::putCheck(AuditId id, const CheckRow& check) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(
            query,
            database.query(
                "INSERT INTO checks (audit, name, state, detail, part, step, ord) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                "(SELECT coalesce(max(ord), 0) + 1 FROM checks WHERE audit = ?1)) ON CONFLICT (audit, name) DO UPDATE "
                "SET state = excluded.state, detail = excluded.detail, part = excluded.part, step = excluded.step"));
        ASSAY_CHECK(query.bind(id)
                        .bind(check.name)
                        .bind(check.state)
                        .bind(check.detail)
                        .bind(check.part)
                        .bind(check.step)
                        .run());
    }
    return transaction.commit();
}

base::Result<std::vector<CheckRow>> AuditStore::checks(AuditId id) const {
    ASSAY_TRY(query, m_state->database->query(
                         "SELECT name, state, detail, part, step FROM checks WHERE audit = ? ORDER BY ord"));
    query.bind(id);
    return collect(query, [](const Query& row) {
        return CheckRow{row.text(0), row.text(1), row.text(2), row.optionalText(3), row.optionalNatural(4)};
    });
}

base::Result<void> AuditStore::putSites(AuditId id, std::span<const SiteRow> sites) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(query, database.query("DELETE FROM sites WHERE audit = ?"));
        ASSAY_CHECK(query.bind(id).run());
    }
    {
        ASSAY_TRY(
            query,
            database.query(
                "INSERT INTO sites (audit, site, name, direction, product, site_values) VALUES (?, ?, ?, ?, ?, ?)"));
        for (const auto& site : sites) {
            query.rewind();
            ASSAY_CHECK(query.bind(id)
                            .bind(site.index)
                            .bind(site.name)
                            .bind(site.direction)
                            .bind(site.product)
                            .bind(site.values)
                            .run());
        }
    }
    return transaction.commit();
}

base::Result<std::vector<SiteRow>> AuditStore::sites(AuditId id) const {
    ASSAY_TRY(query,
              m_state->database->query(
                  "SELECT site, name, direction, product, site_values FROM sites WHERE audit = ? ORDER BY site"));
    query.bind(id);
    return collect(query, [](const Query& row) {
        return SiteRow{row.word(0), row.text(1), row.text(2), row.integer(3) != 0, row.natural(4)};
    });
}

base::Result<void> AuditStore::putStep(AuditId id, const StepWrite& write) {
    auto& database = *m_state->database;
    const auto step = write.step.step;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    for (const auto* sql : {"DELETE FROM site_stats WHERE audit = ? AND step = ?",
                            "DELETE FROM corrections WHERE audit = ? AND step = ?"}) {
        ASSAY_TRY(query, database.query(sql));
        ASSAY_CHECK(query.bind(id).bind(step).run());
    }
    {
        ASSAY_TRY(
            query,
            database.query(
                "INSERT OR REPLACE INTO steps (audit, step, status, loss_bits, loss_claimed, evaluation_bits, entries, "
                "corrections, offences, log_bytes, freedom, seconds, checkpoint, digest) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        const auto& row = write.step;
        query.bind(id)
            .bind(step)
            .bind(row.status)
            .bind(row.lossBits)
            .bind(row.lossClaimedBits)
            .bind(row.evaluationBits)
            .bind(row.entries);
        query.bind(row.corrections)
            .bind(row.offences)
            .bind(row.logBytes)
            .bind(row.freedom)
            .bind(row.seconds)
            .bind(row.checkpoint);
        ASSAY_CHECK(query.bind(row.digest).run());
    }
    {
        ASSAY_TRY(query, database.query(
                             "INSERT OR REPLACE INTO site_stats (audit, step, site, entries, corrections, offences) "
                             "VALUES (?, ?, ?, ?, ?, ?)"));
        for (const auto& row : write.sites) {
            query.rewind();
            ASSAY_CHECK(query.bind(id)
                            .bind(step)
                            .bind(row.site)
                            .bind(row.entries)
                            .bind(row.corrections)
                            .bind(row.offences)
                            .run());
        }
    }
    {
        ASSAY_TRY(query, database.query(
                             "INSERT INTO corrections (audit, step, site, site_name, element, own_bits, taken_bits) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?)"));
        for (const auto& row : write.corrections) {
            query.rewind();
            query.bind(id).bind(step).bind(row.site).bind(row.siteName).bind(row.element);
            ASSAY_CHECK(query.bind(row.ownBits).bind(row.takenBits).run());
        }
    }
    return transaction.commit();
}

base::Result<void> AuditStore::addFindings(AuditId id, std::span<const FindingRow> findings) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(
            query,
            database.query(
                "INSERT INTO findings (audit, severity, source, step, part, tensor, operator, site, element, claimed, "
                "computed, claimed_bits, computed_bits, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        for (const auto& row : findings) {
            query.rewind();
            query.bind(id)
                .bind(row.severity)
                .bind(row.source)
                .bind(row.step)
                .bind(row.part)
                .bind(row.tensor)
                .bind(row.operator_);
            query.bind(row.site)
                .bind(row.element)
                .bind(row.claimed)
                .bind(row.computed)
                .bind(row.claimedBits)
                .bind(row.computedBits);
            ASSAY_CHECK(query.bind(row.text).run());
        }
    }
    return transaction.commit();
}

base::Result<void> AuditStore::forgetUnverified(AuditId id) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    for (const auto* sql :
         {"DELETE FROM steps WHERE audit = ?1 AND status <> 'matched'",
          "DELETE FROM site_stats WHERE audit = ?1 AND step NOT IN (SELECT step FROM steps WHERE audit = ?1)",
          "DELETE FROM corrections WHERE audit = ?1 AND step NOT IN (SELECT step FROM steps WHERE audit = ?1)",
          "DELETE FROM findings WHERE audit = ?1", "DELETE FROM checks WHERE audit = ?1"}) {
        ASSAY_TRY(query, database.query(sql));
        ASSAY_CHECK(query.bind(id).run());
    }
    return transaction.commit();
}

base::Result<std::vector<StepRow>> AuditStore::steps(AuditId id, std::optional<std::uint64_t> afterStep,
                                                     std::size_t limit) const {
    ASSAY_TRY(query,
              m_state->database->query(
                  "SELECT step, status, loss_bits, loss_claimed, evaluation_bits, entries, corrections, offences, "
                  "log_bytes, freedom, seconds, checkpoint, digest FROM steps WHERE audit = ? AND step > "
                  "coalesce(?, -1) ORDER BY step LIMIT ?"));
    query.bind(id).bind(afterStep).bind(detail::limitOf(limit));
    return collect(query, readStep);
}

base::Result<std::vector<StepSpan>> AuditStore::matchedSpans(AuditId id) const {
    ASSAY_TRY(query,
              m_state->database->query("SELECT step FROM steps WHERE audit = ? AND status = 'matched' ORDER BY step"));
    query.bind(id);
    std::vector<StepSpan> spans;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return spans;
        }
        const auto step = query.natural(0);
        if (!spans.empty() && spans.back().last + 1 == step) {
            spans.back().last = step;
        } else {
            spans.push_back({step, step});
        }
    }
}

base::Result<StepTotals> AuditStore::totals(AuditId id, std::optional<StepSpan> range) const {
    ASSAY_TRY(query,
              m_state->database->query(
                  "SELECT count(*), total(status = 'matched'), total(entries), total(corrections), total(offences), "
                  "total(log_bytes), total(freedom), total(seconds) FROM steps WHERE audit = ? AND step "
                  "BETWEEN coalesce(?, 0) AND coalesce(?, 9223372036854775807)"));
    query.bind(id)
        .bind(range ? std::optional(range->first) : std::nullopt)
        .bind(range ? std::optional(range->last) : std::nullopt);
    ASSAY_TRY(row, query.next());
    StepTotals totals;
    if (row) { // total() cannot overflow: it answers in floating point, exact below 2^53
        const auto count = [&](int column) { return static_cast<std::uint64_t>(query.real(column)); };
        totals = {query.natural(0), count(1), count(2), count(3), count(4), count(5), count(6), query.real(7)};
    }
    return totals;
}

base::Result<std::vector<CorrectionRow>> AuditStore::corrections(AuditId id, const CorrectionFilter& filter,
                                                                 std::optional<CorrectionKey> after,
                                                                 std::size_t limit) const {
    ASSAY_TRY(query, m_state->database->query(
                         fmt::format("SELECT step, id, site, site_name, element, own_bits, taken_bits FROM corrections "
                                     "WHERE {}{} ORDER BY step, id LIMIT ?",
                                     where(filter), after ? " AND (step, id) > (?, ?)" : "")));
    bind(query, id, filter);
    if (after) {
        query.bind(after->step).bind(after->id);
    }
    query.bind(detail::limitOf(limit));
    return collect(query, [](const Query& row) {
        return CorrectionRow{
            {row.natural(0), row.integer(1)}, row.word(2), row.text(3), row.natural(4), row.word(5), row.word(6)};
    });
}

base::Result<std::uint64_t> AuditStore::countCorrections(AuditId id, const CorrectionFilter& filter) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format("SELECT count(*) FROM corrections WHERE {}", where(filter))));
    bind(query, id, filter);
    ASSAY_TRY(row, query.next());
    return row ? query.natural(0) : 0;
}

base::Result<std::vector<std::optional<CorrectionKey>>>
AuditStore::correctionAnchors(AuditId id, const CorrectionFilter& filter, std::size_t every) const {
    if (every == 0) {
        return base::fail(base::ErrorCode::usage, "anchors need a distance of at least one row");
    }
    ASSAY_TRY(query, m_state->database->query(
                         fmt::format("SELECT step, id FROM corrections WHERE {} ORDER BY step, id", where(filter))));
    bind(query, id, filter);
    std::vector<std::optional<CorrectionKey>> anchors{std::nullopt};
    for (std::size_t row = 1;; ++row) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return anchors;
        }
        if (row % every == 0) {
            anchors.emplace_back(CorrectionKey{query.natural(0), query.integer(1)});
        }
    }
}

base::Result<std::vector<FindingRow>> AuditStore::findings(AuditId id, const FindingFilter& filter,
                                                           std::optional<std::int64_t> afterId,
                                                           std::size_t limit) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format(
                         "SELECT id, severity, source, step, part, tensor, operator, site, element, claimed, "
                         "computed, claimed_bits, computed_bits, text FROM findings WHERE {} AND id > "
                         "coalesce(?, 0) ORDER BY id LIMIT ?",
                         where(filter))));
    bind(query, id, filter);
    query.bind(afterId).bind(detail::limitOf(limit));
    return collect(query, readFinding);
}

base::Result<std::uint64_t> AuditStore::countFindings(AuditId id, const FindingFilter& filter) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format("SELECT count(*) FROM findings WHERE {}", where(filter))));
    bind(query, id, filter);
    ASSAY_TRY(row, query.next());
    return row ? query.natural(0) : 0;
}

base::Result<std::vector<SiteCountRow>> AuditStore::siteCounts(AuditId id, std::uint64_t step) const {
    ASSAY_TRY(
        query,
        m_state->database->query(
            "SELECT site, entries, corrections, offences FROM site_stats WHERE audit = ? AND step = ? ORDER BY site"));
    query.bind(id).bind(step);
    return collect(query, [](const Query& row) {
        return SiteCountRow{row.word(0), row.natural(1), row.natural(2), row.natural(3)};
    });
}

} // namespace assay::store
