// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/store/detail/state.h"

namespace assay::store {

using detail::Query;
using detail::Transaction;

namespace {

constexpr std::string_view kColumns =
    "id, created_ms, updated_ms, submission, title, root, order_digest, kernel, options, command, steps_total, "
    "first_step, state, owner, "
    "engine_json, kernel_trainer, verdict, reason, report_json, "
    "(SELECT count(*) FROM steps WHERE steps.audit = audits.id AND steps.status = 'matched')";

AuditState stateFrom(const std::string& name) {
    for (const auto state : {AuditState::running, AuditState::paused, AuditState::finished}) {
        if (name == auditStateName(state)) {
            return state;
        }
    }
    return AuditState::interrupted;
}

AuditRow readAudit(const Query& query) {
    AuditRow row;
    row.id = query.integer(0);
    row.createdMs = query.integer(1);
    row.updatedMs = query.integer(2);
    row.submission = query.text(3);
    row.title = query.text(4);
    row.work = {query.text(5), query.text(6), query.text(7), query.text(8)};
    row.command = query.text(9);
    row.stepsTotal = query.natural(10);
    row.firstStep = query.natural(11);
    row.state = stateFrom(query.text(12));
    row.owner = query.text(13);
    row.engineJson = query.text(14);
    row.kernelTrainer = query.text(15);
    row.verdict = query.text(16);
    row.reason = query.text(17);
    row.reportJson = query.text(18);
    row.stepsMatched = query.natural(19);
    return row;
}

tl::unexpected<base::Error> noSuchAudit(AuditId id) {
    return base::fail(base::ErrorCode::usage, fmt::format("there is no audit {} in this store", id),
                      "list the audits that are there");
}

struct Holder {
    std::string state, owner;
    [[nodiscard]] bool working() const { return (state == "running" || state == "paused") && ownerMayBeAlive(owner); }
};

base::Result<Holder> holderOf(detail::Database& database, AuditId id) {
    ASSAY_TRY(query, database.query("SELECT state, owner FROM audits WHERE id = ?"));
    ASSAY_TRY(found, query.bind(id).next());
    if (!found) {
        return noSuchAudit(id);
    }
    return Holder{query.text(0), query.text(1)};
}

} // namespace

base::Result<void> AuditStore::State::requireOwned(AuditId id) {
    {
        ASSAY_TRY(
            query,
            database->query(
                "UPDATE audits SET updated_ms = ? WHERE id = ? AND owner = ? AND state IN ('running', 'paused')"));
        ASSAY_CHECK(query.bind(detail::nowMs()).bind(id).bind(owner).run());
    }
    if (database->changes() == 1) {
        return {};
    }
    ASSAY_TRY(holder, holderOf(*database, id));
    if (holder.state == "finished" || holder.state == "interrupted") {
        return base::fail(base::ErrorCode::usage,
                          fmt::format("audit {} is {}, so nothing can be added to it", id, holder.state),
                          holder.state == "interrupted" ? "resume it first" : "start a new audit");
    }
    return base::fail(base::ErrorCode::usage, fmt::format("another process took over audit {}", id),
                      "let the other process finish");
}

base::Result<void> AuditStore::State::writeJournal(std::optional<AuditId> id, std::string_view action,
                                                   std::string_view detail) {
    ASSAY_TRY(query,
              database->query("INSERT INTO journal (at_ms, audit, owner, action, detail) VALUES (?, ?, ?, ?, ?)"));
    return query.bind(detail::nowMs()).bind(id).bind(owner).bind(action).bind(detail).run();
}

base::Result<AuditId> AuditStore::createAudit(const NewAudit& audit) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    {
        ASSAY_TRY(
            query,
            database.query(
                "INSERT INTO audits (created_ms, updated_ms, submission, title, root, order_digest, kernel, options, "
                "command, steps_total, first_step, state, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', "
                "?)"));
        const auto now = detail::nowMs();
        query.bind(now)
            .bind(now)
            .bind(audit.submission)
            .bind(audit.title)
            .bind(audit.work.root)
            .bind(audit.work.orderDigest);
        query.bind(audit.work.kernel)
            .bind(audit.work.options)
            .bind(audit.command)
            .bind(audit.stepsTotal)
            .bind(audit.firstStep);
        ASSAY_CHECK(query.bind(m_state->owner).run());
    }
    const AuditId id = database.lastInsertId();
    ASSAY_CHECK(m_state->writeJournal(id, "audit started", audit.command.empty() ? audit.submission : audit.command));
    ASSAY_CHECK(transaction.commit());
    return id;
}

base::Result<AuditRow> AuditStore::audit(AuditId id) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format("SELECT {} FROM audits WHERE id = ?", kColumns)));
    ASSAY_TRY(found, query.bind(id).next());
    if (!found) {
        return noSuchAudit(id);
    }
    return readAudit(query);
}

base::Result<std::vector<AuditRow>> AuditStore::audits(std::optional<AuditId> before, std::size_t limit) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format(
                         "SELECT {} FROM audits WHERE id < coalesce(?, 9223372036854775807) ORDER BY id DESC LIMIT ?",
                         kColumns)));
    query.bind(before).bind(detail::limitOf(limit));
    std::vector<AuditRow> rows;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return rows;
        }
        rows.push_back(readAudit(query));
    }
}

base::Result<void> AuditStore::setState(AuditId id, AuditState state) {
    if (state != AuditState::running && state != AuditState::paused) {
        return base::fail(base::ErrorCode::usage, "an audit becomes finished or interrupted only through its end");
    }
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(query, database.query("UPDATE audits SET state = ? WHERE id = ?"));
        ASSAY_CHECK(query.bind(auditStateName(state)).bind(id).run());
    }
    ASSAY_CHECK(m_state->writeJournal(id, state == AuditState::paused ? "audit paused" : "audit continued", ""));
    return transaction.commit();
}

base::Result<void> AuditStore::takeOver(AuditId id) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_TRY(holder, holderOf(database, id));
    if (holder.state == "finished") {
        return base::fail(base::ErrorCode::usage, fmt::format("audit {} is finished", id), "start a new audit");
    }
    if (holder.working()) {
        return base::fail(base::ErrorCode::usage, fmt::format("another process works on audit {}", id),
                          "wait for it or end it");
    }
    {
        ASSAY_TRY(query, database.query("UPDATE audits SET state = 'running', owner = ?, updated_ms = ? WHERE id = ?"));
        ASSAY_CHECK(query.bind(m_state->owner).bind(detail::nowMs()).bind(id).run());
    }
    ASSAY_CHECK(m_state->writeJournal(id, "audit resumed", ""));
    return transaction.commit();
}

base::Result<void> AuditStore::setFacts(AuditId id, const AuditFacts& facts) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(query, database.query("UPDATE audits SET engine_json = coalesce(nullif(?, ''), engine_json), "
                                        "kernel_trainer = coalesce(nullif(?, ''), kernel_trainer) WHERE id = ?"));
        ASSAY_CHECK(query.bind(facts.engineJson).bind(facts.kernelTrainer).bind(id).run());
    }
    return transaction.commit();
}

base::Result<void> AuditStore::finishAudit(AuditId id, std::string_view verdict, std::string_view reason,
                                           std::string_view reportJson) {
    if (reportJson.empty()) {
        return base::fail(base::ErrorCode::usage, "an audit ends only with its report");
    }
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(query,
                  database.query(
                      "UPDATE audits SET state = 'finished', verdict = ?, reason = ?, report_json = ? WHERE id = ?"));
        ASSAY_CHECK(query.bind(verdict).bind(reason).bind(reportJson).bind(id).run());
    }
    ASSAY_CHECK(m_state->writeJournal(id, "audit finished", fmt::format("{}: {}", verdict, reason)));
    return transaction.commit();
}

base::Result<void> AuditStore::interruptAudit(AuditId id, std::string_view why) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_CHECK(m_state->requireOwned(id));
    {
        ASSAY_TRY(query, database.query("UPDATE audits SET state = 'interrupted', reason = ? WHERE id = ?"));
        ASSAY_CHECK(query.bind(why).bind(id).run());
    }
    ASSAY_CHECK(m_state->writeJournal(id, "audit interrupted", why));
    return transaction.commit();
}

base::Result<std::vector<AuditId>> AuditStore::markInterrupted() {
    auto& database = *m_state->database;
    std::vector<AuditId> gone;
    ASSAY_TRY(transaction, Transaction::begin(database));
    {
        ASSAY_TRY(query,
                  database.query("SELECT id, owner FROM audits WHERE state IN ('running', 'paused') ORDER BY id"));
        for (;;) {
            ASSAY_TRY(more, query.next());
            if (!more) {
                break;
            }
            if (!ownerMayBeAlive(query.text(1))) {
                gone.push_back(query.integer(0));
            }
        }
    }
    for (const auto id : gone) {
        constexpr std::string_view kWhy = "the process that worked on it ended without a verdict";
        {
            ASSAY_TRY(query, database.query("UPDATE audits SET state = 'interrupted', reason = ? WHERE id = ?"));
            ASSAY_CHECK(query.bind(kWhy).bind(id).run());
        }
        ASSAY_CHECK(m_state->writeJournal(id, "audit interrupted", kWhy));
    }
    ASSAY_CHECK(transaction.commit());
    return gone;
}

base::Result<std::optional<ResumableAudit>> AuditStore::findResumable(const WorkKey& work) const {
    auto& database = *m_state->database;
    ResumableAudit found;
    std::uint64_t first = 0;
    {
        ASSAY_TRY(
            query,
            database.query(
                "SELECT id, first_step, state, owner FROM audits WHERE root = ? AND order_digest = ? AND kernel = ? "
                "AND options = ? AND state <> 'finished' ORDER BY id DESC"));
        query.bind(work.root).bind(work.orderDigest).bind(work.kernel).bind(work.options);
        for (;;) {
            ASSAY_TRY(more, query.next());
            if (!more) {
                return std::optional<ResumableAudit>();
            }
            if (!Holder{query.text(2), query.text(3)}.working()) {
                found.id = query.integer(0);
                first = query.natural(1);
                break;
            }
        }
    }
    ASSAY_TRY(spans, matchedSpans(found.id));
    for (const auto& span : spans) {
        if (span.first <= first && first <= span.last) {
            found.lastVerified = span.last;
        }
    }
    return std::optional(found);
}

base::Result<void> AuditStore::deleteAudit(AuditId id) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_TRY(holder, holderOf(database, id));
    if (holder.working()) {
        return base::fail(base::ErrorCode::usage, fmt::format("audit {} is being worked on", id), "cancel it first");
    }
    ASSAY_TRY(row, audit(id));
    {
        ASSAY_TRY(query, database.query("DELETE FROM audits WHERE id = ?"));
        ASSAY_CHECK(query.bind(id).run());
    }
    ASSAY_CHECK(m_state->writeJournal(id, "audit deleted", fmt::format("{}, {}", row.submission, row.verdict)));
    return transaction.commit();
}

} // namespace assay::store
