// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

class QPainter;
class QRect;

namespace assay::ui {

/// What every chart offers besides its picture: the same numbers as text, so that chart, table and export agree.
class ChartSource {
public:
    virtual ~ChartSource() = default;
    [[nodiscard]] virtual QString chartTitle() const = 0;
    /// All values at full resolution, never reduced.
    [[nodiscard]] virtual QByteArray chartCsv() const = 0;
    /// Paints the chart into `rect`, without interaction marks.
    virtual void paintChart(QPainter& painter, const QRect& rect) = 0;
    /// True while several values share one screen cell.
    [[nodiscard]] virtual bool isReduced() const = 0;
};

/// Writes a chart; the kind follows the ending: png, svg, pdf or csv. Returns an empty text or what went wrong.
[[nodiscard]] QString exportChart(ChartSource& chart, const QString& path, int width = 1600, int height = 900);

} // namespace assay::ui
