// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QPointer>
#include <QWidget>

#include "ui/charts/chart_source.h"
#include "ui/models/step_series.h"

namespace assay::ui {

/// One cell per step: matched, mismatched, not replayed, checkpoint. State is told by height and glyph as well as by colour.
/// Arrow keys move the cursor; Enter or a click activates a step.
class StepStrip : public QWidget, public ChartSource {
    Q_OBJECT

public:
    explicit StepStrip(QWidget* parent = nullptr);
    void setSeries(StepSeries* series);
    /// Highlights a step, 0 for none.
    void setCursorStep(std::uint64_t step);
    [[nodiscard]] std::uint64_t cursorStep() const { return m_cursor; }

    [[nodiscard]] QString chartTitle() const override;
    [[nodiscard]] QByteArray chartCsv() const override;
    void paintChart(QPainter& painter, const QRect& rect) override;
    [[nodiscard]] bool isReduced() const override { return m_reduced; }
    [[nodiscard]] QSize sizeHint() const override { return {600, 58}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, 58}; }

Q_SIGNALS:
    void stepActivated(std::uint64_t step);
    void reducedChanged(bool reduced);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int cellAt(const QPoint& point) const;
    [[nodiscard]] QRectF cellRect(std::size_t cell, const QRectF& area) const;
    [[nodiscard]] QString tooltipFor(const StripCell& cell) const;
    void refresh();

    QPointer<StepSeries> m_series;
    std::vector<StripCell> m_cells;
    std::uint64_t m_cursor = 0;
    bool m_reduced = false;
};

/// The legend of the strip: the same glyphs with words.
class StripLegend : public QWidget {
public:
    explicit StripLegend(QWidget* parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace assay::ui
