// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/store/detail/state.h"

namespace assay::store {

using detail::Transaction;

base::Result<std::int64_t> AuditStore::addNote(const NewNote& note) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_TRY(row, audit(note.audit));
    {
        ASSAY_TRY(
            query,
            database.query("INSERT INTO notes (audit, created_ms, updated_ms, subject, text) VALUES (?, ?, ?, ?, ?)"));
        const auto now = detail::nowMs();
        ASSAY_CHECK(query.bind(row.id).bind(now).bind(now).bind(note.subject).bind(note.text).run());
    }
    const auto id = database.lastInsertId();
    ASSAY_CHECK(m_state->writeJournal(note.audit, "note added", note.text));
    ASSAY_CHECK(transaction.commit());
    return id;
}

base::Result<void> AuditStore::editNote(std::int64_t noteId, std::string_view text) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    std::optional<AuditId> owner;
    {
        ASSAY_TRY(query, database.query("UPDATE notes SET text = ?, updated_ms = ? WHERE id = ? RETURNING audit"));
        ASSAY_TRY(found, query.bind(text).bind(detail::nowMs()).bind(noteId).next());
        if (!found) {
            return base::fail(base::ErrorCode::usage, fmt::format("there is no note {}", noteId));
        }
        owner = query.integer(0);
        ASSAY_CHECK(query.run());
    }
    ASSAY_CHECK(m_state->writeJournal(owner, "note edited", text));
    return transaction.commit();
}

base::Result<void> AuditStore::deleteNote(std::int64_t noteId) {
    auto& database = *m_state->database;
    ASSAY_TRY(transaction, Transaction::begin(database));
    std::optional<AuditId> owner;
    std::string text;
    {
        ASSAY_TRY(query, database.query("DELETE FROM notes WHERE id = ? RETURNING audit, text"));
        ASSAY_TRY(found, query.bind(noteId).next());
        if (!found) {
            return base::fail(base::ErrorCode::usage, fmt::format("there is no note {}", noteId));
        }
        owner = query.integer(0);
        text = query.text(1);
        ASSAY_CHECK(query.run());
    }
    ASSAY_CHECK(m_state->writeJournal(owner, "note deleted", text));
    return transaction.commit();
}

base::Result<std::vector<NoteRow>> AuditStore::notes(AuditId id) const {
    ASSAY_TRY(query,
              m_state->database->query(
                  "SELECT id, audit, created_ms, updated_ms, subject, text FROM notes WHERE audit = ? ORDER BY id"));
    query.bind(id);
    std::vector<NoteRow> rows;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return rows;
        }
        rows.push_back(
            {query.integer(0), query.integer(1), query.integer(2), query.integer(3), query.text(4), query.text(5)});
    }
}

base::Result<void> AuditStore::appendJournal(std::optional<AuditId> id, std::string_view action,
                                             std::string_view detail) {
    ASSAY_TRY(transaction, Transaction::begin(*m_state->database));
    ASSAY_CHECK(m_state->writeJournal(id, action, detail));
    return transaction.commit();
}

base::Result<std::vector<JournalRow>>
AuditStore::journal(std::optional<AuditId> id, std::optional<std::int64_t> afterId, std::size_t limit) const {
    ASSAY_TRY(query, m_state->database->query(fmt::format(
                         "SELECT id, at_ms, audit, owner, action, detail FROM journal WHERE {} id > coalesce(?, 0) "
                         "ORDER BY id LIMIT ?",
                         id ? "audit = ? AND" : "")));
    if (id) {
        query.bind(*id);
    }
    query.bind(afterId).bind(detail::limitOf(limit));
    std::vector<JournalRow> rows;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return rows;
        }
        JournalRow row;
        row.id = query.integer(0);
        row.atMs = query.integer(1);
        if (const auto audit = query.optionalNatural(2)) {
            row.audit = static_cast<AuditId>(*audit);
        }
        row.owner = query.text(3);
        row.action = query.text(4);
        row.detail = query.text(5);
        rows.push_back(std::move(row));
    }
}

base::Result<void> AuditStore::touchRecent(std::string_view path, std::string_view kind, std::string_view title) {
    // `ord` and not the time decides the order: clocks go back, and two files may be opened in one millisecond.
    ASSAY_TRY(query, m_state->database->query(
                         "INSERT INTO recent (path, kind, title, opened_ms, ord) VALUES (?, ?, ?, ?, "
                         "(SELECT coalesce(max(ord), 0) + 1 FROM recent)) ON CONFLICT (path) DO UPDATE SET kind = "
                         "excluded.kind, title = excluded.title, opened_ms = excluded.opened_ms, ord = excluded.ord"));
    return query.bind(path).bind(kind).bind(title).bind(detail::nowMs()).run();
}

base::Result<void> AuditStore::forgetRecent(std::string_view path) {
    ASSAY_TRY(query, m_state->database->query("DELETE FROM recent WHERE path = ?"));
    return query.bind(path).run();
}

base::Result<std::vector<RecentRow>> AuditStore::recent(std::size_t limit) const {
    ASSAY_TRY(query,
              m_state->database->query("SELECT path, kind, title, opened_ms FROM recent ORDER BY ord DESC LIMIT ?"));
    query.bind(detail::limitOf(limit));
    std::vector<RecentRow> rows;
    for (;;) {
        ASSAY_TRY(more, query.next());
        if (!more) {
            return rows;
        }
        rows.push_back({query.text(0), query.text(1), query.text(2), query.integer(3)});
    }
}

base::Result<void> AuditStore::setSetting(std::string_view key, std::string_view value) {
    ASSAY_TRY(
        query,
        m_state->database->query(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"));
    return query.bind(key).bind(value).run();
}

base::Result<std::optional<std::string>> AuditStore::setting(std::string_view key) const {
    ASSAY_TRY(query, m_state->database->query("SELECT value FROM settings WHERE key = ?"));
    ASSAY_TRY(found, query.bind(key).next());
    return found ? std::optional(query.text(0)) : std::nullopt;
}

} // namespace assay::store
