-- SPDX-License-Identifier: Apache-2.0
-- What belongs to the auditor: notes, the journal, the list of recent files, settings.

CREATE TABLE notes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    audit      INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    subject    TEXT    NOT NULL,
    text       TEXT    NOT NULL
);
CREATE INDEX notes_by_audit ON notes (audit, id);

-- Append-only. `audit` is no foreign key: the journal outlives the audit that it speaks of.
CREATE TABLE journal (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms  INTEGER NOT NULL,
    audit  INTEGER,
    owner  TEXT    NOT NULL,
    action TEXT    NOT NULL,
    detail TEXT    NOT NULL
);
CREATE INDEX journal_by_audit ON journal (audit, id);
CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- INSERT OR REPLACE deletes without the trigger above unless recursive triggers are on; this one also guards foreign tools.
CREATE TRIGGER journal_no_replace BEFORE INSERT ON journal
WHEN NEW.id IS NOT NULL AND EXISTS (SELECT 1 FROM journal WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TABLE recent (
    path      TEXT    PRIMARY KEY,
    kind      TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    opened_ms INTEGER NOT NULL,
    ord       INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX recent_by_order ON recent (ord);

CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
