// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "core/audit/verdict.h"
#include "core/audit/verified_steps.h"
#include "ui/models/audit_types.h"

namespace assay::ui {

/// Everything that decides what a replay does.
struct ReplayInputs {
    QString submission;
    QString clientOrder; ///< empty: not known
    QString dataFolder;  ///< empty: the engine's default
    QString storePath;
    QString nonce;       ///< hex, for samples
    std::vector<audit::StepRange> drawn; ///< what that nonce draws; does not change the command
    audit::VerifiedSteps verified; ///< what an interrupted replay need not do again
    ReplayRequest request;
};

/// Program and arguments as a line for a POSIX shell.
[[nodiscard]] QString commandLine(const QString& program, const QStringList& arguments);
/// The same replay as `assay verify ...`.
[[nodiscard]] QString verifyCommand(const ReplayInputs& inputs);
/// Inverse of verifyCommand, for audits read back from the store; empty if the line is something else.
[[nodiscard]] std::optional<ReplayInputs> parseVerifyCommand(const QString& line);
/// The request line for `assay-engine run`.
[[nodiscard]] QByteArray verifyRequest(const ReplayInputs& inputs);

} // namespace assay::ui
