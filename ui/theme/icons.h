// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QPixmap>
#include <QString>

#include "ui/theme/theme.h"

namespace assay::ui {

/// Icon `name` of resources/icons, drawn in the text colour of the current theme (accent when checked, grey when disabled).
/// It follows theme changes by itself.
[[nodiscard]] QIcon icon(const QString& name);
/// The same in a fixed colour, `size` in device-independent pixels.
[[nodiscard]] QPixmap iconPixmap(const QString& name, const QColor& colour, int size, double devicePixelRatio = 1.0);
/// Glyph of a tone: a different shape for each, so that colour never stands alone.
[[nodiscard]] QString toneIconName(Tone tone);

} // namespace assay::ui
