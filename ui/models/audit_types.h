// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QDateTime>
#include <QMetaType>
#include <QString>

#include "ui/models/verdict_text.h"

namespace assay::ui {

enum class CheckState { notChecked, passed, failed };

/// One of the separate checks of an audit: signature, order, files, Merkle consistency, ...
struct CheckRow {
    QString name;  ///< stable name of the engine ("merkle")
    CheckState state = CheckState::notChecked;
    QString detail;
    QString part;
    std::optional<std::uint64_t> step;
};

/// Where two sides differ, with whatever is known. Fields that cannot be known stay empty, never guessed.
struct FindingRow {
    QString severity;
    QString source; ///< leaf, log, tensor, checkpoint, trace, dispute
    std::optional<std::uint64_t> step;
    QString part;
    QString tensor;
    QString operatorName;
    QString site;
    std::optional<std::uint64_t> element;
    QString claimed;
    QString computed;
    std::optional<std::uint32_t> claimedBits;
    std::optional<std::uint32_t> computedBits;
    QString text;
};

/// An entry that changed the auditor's own rounding.
struct CorrectionRow {
    std::uint64_t step = 0;
    QString site;
    std::uint64_t element = 0;
    std::uint32_t ownBits = 0;
    std::uint32_t takenBits = 0;
};

/// A line of the list of recent audits.
struct RecentAudit {
    std::int64_t id = 0;
    QString path;
    QString title;
    Tone tone = Tone::neutral;
    QString headline;
    QString detail; ///< "40 of 40 steps, skylakex"
    QString clientOrder; ///< what the audit was made with, so that it is opened with the same
    QString dataFolder;
    QDateTime when;
    bool interrupted = false; ///< can be resumed
    bool missing = false;     ///< the submission is no longer where it was
};

enum class RunState { idle, starting, running, paused, stopping, interrupted, finished, failed };

struct RunProgress {
    QString phase;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    QString unit;
    double perSecond = 0;
    double etaSeconds = -1;
};

/// A kernel profile and whether this machine can run it.
struct KernelChoice {
    QString profile; ///< what --kernel takes
    QString label;
    bool available = false;
    QString why; ///< why not, or what it is
};

enum class ReplayScope { all, range, sample };

/// What a replay is asked to do.
struct ReplayRequest {
    QString kernel;
    ReplayScope scope = ReplayScope::all;
    std::uint64_t firstStep = 1;
    std::uint64_t lastStep = 1;
    std::uint64_t segments = 1;
    bool ignoreLog = false;
    bool operator==(const ReplayRequest&) const = default;
};

/// What sampling costs and buys.
struct SamplePlan {
    std::uint64_t segmentsTotal = 0;
    std::uint64_t segments = 0;
    std::uint64_t steps = 0;
    double detection = 0; ///< probability of replaying at least one bad segment, given `bad` of them
    std::uint64_t bad = 1;
};

/// An action of the auditor and the command that does the same in a terminal.
struct CommandLine {
    QDateTime when;
    QString what;
    QString command;
    QString result;
};

struct LogLine {
    QDateTime when;
    Tone tone = Tone::neutral;
    QString source; ///< engine, workbench, demo
    QString text;
};

} // namespace assay::ui

Q_DECLARE_METATYPE(assay::ui::ReplayRequest)
