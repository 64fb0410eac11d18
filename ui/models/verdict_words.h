// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "core/audit/verdict.h"
#include "ui/models/audit_types.h"
#include "ui/models/verdict_text.h"

namespace assay::ui {

/// What the headline is made of.
struct VerdictSituation {
    bool hasSubmission = false;
    bool orderOnly = false;
    bool clientOrderKnown = false;
    bool dataKnown = true; ///< a replay needs the data; the client's order says where they are
    RunState run = RunState::idle;
    std::uint64_t stepsMatched = 0;
    std::uint64_t stepsMismatched = 0;
    std::uint64_t stepsTotal = 0;
    QString problem;                          ///< error of the engine, in words
    std::optional<audit::VerifyReport> report; ///< once there is a verdict
};

/// The headline for a situation. Green is only ever said for a report whose verdict is accepted.
[[nodiscard]] VerdictText verdictText(const VerdictSituation& situation);
/// The headline of a stored verdict name alone ("accepted"), for lists.
/// `part`: fewer steps than the submission has were replayed, which an acceptance must say in its first words.
[[nodiscard]] VerdictText verdictTextOf(audit::Verdict verdict, bool part);
/// "all 40 steps", "steps 3 to 8 of 40", "3 sampled segments: 12 of 40 steps, detection probability 41 %".
[[nodiscard]] QString scopeText(const audit::VerifyReport& report);

[[nodiscard]] FindingRow findingRow(const audit::Finding& finding);
[[nodiscard]] FindingRow findingRow(const audit::FirstDivergence& divergence, const QString& text);
[[nodiscard]] CheckRow checkRow(const audit::CheckResult& check);

} // namespace assay::ui
