// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QMetaType>
#include <QString>

#include "core/audit/engine_events.h"
#include "core/audit/verdict.h"
#include "core/store/rows.h"
#include "ui/models/audit_types.h"
#include "ui/models/corrections_model.h"
#include "ui/models/site_matrix.h"
#include "ui/models/step_series.h"

namespace assay::ui {

/// Counts of one step by the engine's site index (not yet by matrix row).
struct StepCounts {
    std::uint64_t step = 0;
    std::vector<SiteCount> counts; ///< `row` holds the site index
};

/// What a bundle of engine lines said, parsed and stored off the GUI thread.
struct EventBatch {
    std::optional<audit::HelloEvent> hello;
    std::optional<std::vector<SiteRow>> sites; ///< product sites only
    std::vector<StepCell> steps;
    std::vector<StepCounts> counts;
    std::vector<CheckRow> checks;
    std::vector<FindingRow> findings;
    std::vector<CorrectionsModel::Row> corrections;
    std::optional<RunProgress> progress;
    std::optional<audit::VerifyReport> report;
    std::optional<QString> error;  ///< message with place and remedy
    std::optional<QString> done;   ///< result JSON of the verb
    std::vector<LogLine> log;
};
using EventBatchPtr = std::shared_ptr<const EventBatch>;

/// A stored audit, read back whole (corrections are paged separately).
struct AuditSnapshot {
    store::AuditRow audit;
    EventBatch events;
    std::optional<std::uint64_t> lastVerified; ///< where a resumed replay goes on
};
using AuditSnapshotPtr = std::shared_ptr<const AuditSnapshot>;

} // namespace assay::ui

Q_DECLARE_METATYPE(assay::ui::EventBatchPtr)
Q_DECLARE_METATYPE(assay::ui::AuditSnapshotPtr)
