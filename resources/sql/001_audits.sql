-- SPDX-License-Identifier: Apache-2.0
-- Audits and what their engines report. Persistent: never edit a released migration, add the next number.
-- FP32 values are stored as their bits (0 .. 2^32-1), digests and nonces as lower-case hex, times as Unix milliseconds (UTC).

CREATE TABLE audits (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    created_ms     INTEGER NOT NULL,
    updated_ms     INTEGER NOT NULL,
    submission     TEXT    NOT NULL,
    title          TEXT    NOT NULL DEFAULT '',
    root           TEXT    NOT NULL,
    order_digest   TEXT    NOT NULL,
    kernel         TEXT    NOT NULL,
    options        TEXT    NOT NULL,
    command        TEXT    NOT NULL DEFAULT '',
    steps_total    INTEGER NOT NULL CHECK (steps_total >= 0),
    first_step     INTEGER NOT NULL DEFAULT 1 CHECK (first_step >= 0),
    state          TEXT    NOT NULL CHECK (state IN ('running', 'paused', 'interrupted', 'finished')),
    owner          TEXT    NOT NULL,
    engine_json    TEXT    NOT NULL DEFAULT '',
    kernel_trainer TEXT    NOT NULL DEFAULT '',
    verdict        TEXT    NOT NULL DEFAULT 'not_checked'
                           CHECK (verdict IN ('not_checked', 'accepted', 'rejected', 'inconclusive')),
    reason         TEXT    NOT NULL DEFAULT '',
    report_json    TEXT    NOT NULL DEFAULT '',
    -- No verdict but "not checked" without a closed audit and its report.
    CHECK (verdict = 'not_checked' OR (state = 'finished' AND report_json <> ''))
);
CREATE INDEX audits_by_work ON audits (root, order_digest, kernel, state);
CREATE INDEX audits_by_state ON audits (state);

CREATE TABLE checks (
    audit  INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    name   TEXT    NOT NULL,
    state  TEXT    NOT NULL CHECK (state IN ('not_checked', 'passed', 'failed')),
    detail TEXT    NOT NULL,
    part   TEXT,
    step   INTEGER,
    ord    INTEGER NOT NULL,
    PRIMARY KEY (audit, name)
) WITHOUT ROWID;

CREATE TABLE sites (
    audit     INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    site      INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    direction TEXT    NOT NULL,
    product   INTEGER NOT NULL,
    site_values INTEGER NOT NULL,
    PRIMARY KEY (audit, site)
) WITHOUT ROWID;

CREATE TABLE steps (
    audit           INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    step            INTEGER NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('matched', 'mismatched', 'trained')),
    loss_bits       INTEGER NOT NULL,
    loss_claimed    INTEGER,
    evaluation_bits INTEGER,
    entries         INTEGER NOT NULL,
    corrections     INTEGER NOT NULL,
    offences        INTEGER NOT NULL,
    log_bytes       INTEGER NOT NULL,
    freedom         INTEGER NOT NULL,
    seconds         REAL    NOT NULL,
    checkpoint      INTEGER NOT NULL,
    digest          TEXT    NOT NULL,
    PRIMARY KEY (audit, step)
) WITHOUT ROWID;

CREATE TABLE site_stats (
    audit       INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    step        INTEGER NOT NULL,
    site        INTEGER NOT NULL,
    entries     INTEGER NOT NULL,
    corrections INTEGER NOT NULL,
    offences    INTEGER NOT NULL,
    PRIMARY KEY (audit, step, site)
) WITHOUT ROWID;

CREATE TABLE corrections (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    audit      INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    step       INTEGER NOT NULL,
    site       INTEGER NOT NULL,
    site_name  TEXT    NOT NULL,
    element    INTEGER NOT NULL,
    own_bits   INTEGER NOT NULL,
    taken_bits INTEGER NOT NULL
);
CREATE INDEX corrections_by_step ON corrections (audit, step, id);
CREATE INDEX corrections_by_site ON corrections (audit, site, step, id);

CREATE TABLE findings (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    audit         INTEGER NOT NULL REFERENCES audits (id) ON DELETE CASCADE,
    severity      TEXT    NOT NULL,
    source        TEXT,
    step          INTEGER,
    part          TEXT,
    tensor        TEXT,
    operator      TEXT,
    site          TEXT,
    element       INTEGER,
    claimed       TEXT,
    computed      TEXT,
    claimed_bits  INTEGER,
    computed_bits INTEGER,
    text          TEXT    NOT NULL
);
CREATE INDEX findings_by_audit ON findings (audit, id);
