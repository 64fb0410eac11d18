// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaType>
#include <QString>

#include "ui/theme/theme.h"

namespace assay::ui {

/// The headline of an audit in words: what holds, why, and what to do next. Shown on every page.
struct VerdictText {
    Tone tone = Tone::neutral; ///< green only for an accepted audit; "not checked" is always grey
    QString headline;
    QString reason;
    QString scope;        ///< what the verdict covers: "all 40 steps", "steps 1 to 20 of 40"
    QString nextLabel;    ///< text of the button, empty for none
    QString nextActionId; ///< id of the action that it triggers
    bool operator==(const VerdictText&) const = default;
};

} // namespace assay::ui
