// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/models/audit_types.h"

namespace assay::ui {

/// The words of the window for the stable names of the engine. Unknown names are shown as they are.
[[nodiscard]] QString partText(const QString& part);
[[nodiscard]] QString sourceText(const QString& source);
[[nodiscard]] QString checkText(const QString& check);
/// One line on what a check means.
[[nodiscard]] QString checkHelp(const QString& check);
[[nodiscard]] Tone checkTone(CheckState state);
[[nodiscard]] QString checkStateText(CheckState state);
/// "Step 7: the loss differs from the replay."
[[nodiscard]] QString divergenceSentence(const FindingRow& finding);
[[nodiscard]] QString runStateText(RunState state);

} // namespace assay::ui
