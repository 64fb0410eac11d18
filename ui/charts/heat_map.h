// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

#include "ui/charts/chart_source.h"
#include "ui/models/site_matrix.h"

namespace assay::ui {

/// Site x step heat map. Each screen cell shows the largest value it stands for; unknown steps are hatched, never shown as zero.
/// The crosshair names site, step and raw values. Arrow keys move it.
class HeatMap : public QWidget, public ChartSource {
    Q_OBJECT

public:
    explicit HeatMap(QWidget* parent = nullptr);
    void setMatrix(SiteMatrix* matrix);
    void setMetric(SiteMetric metric);
    [[nodiscard]] SiteMetric metric() const { return m_metric; }
    void setCursorStep(std::uint64_t step);
    /// What the crosshair points at, shown in the line below the map; empty where nothing is.
    [[nodiscard]] QString readout() const;

    [[nodiscard]] QString chartTitle() const override;
    [[nodiscard]] QByteArray chartCsv() const override;
    void paintChart(QPainter& painter, const QRect& rect) override;
    [[nodiscard]] bool isReduced() const override { return m_grid.isReduced(); }
    [[nodiscard]] QSize sizeHint() const override { return {640, 260}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 140}; }

Q_SIGNALS:
    void stepActivated(std::uint64_t step);
    void readoutChanged(const QString& text);
    void reducedChanged(bool reduced);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Layout {
        QRect map;
        int gutter = 0;
        int legendTop = 0;
    };
    [[nodiscard]] Layout layoutFor(const QRect& rect, const QFontMetrics& metrics) const;
    [[nodiscard]] QRectF cellRect(const QRect& map, std::size_t row, std::size_t column) const;
    /// The values under the crosshair take the place of the legend while there is one.
    void paintLegend(QPainter& painter, const Layout& layout, const QRect& rect, bool withReadout) const;
    void paintLabels(QPainter& painter, const Layout& layout) const;
    [[nodiscard]] HeatGrid gridFor(const Layout& layout) const;
    void recompute();
    void moveCrosshair(int row, int column);

    QPointer<SiteMatrix> m_matrix;
    SiteMetric m_metric = SiteMetric::entries;
    HeatGrid m_grid;
    int m_row = -1; ///< crosshair, in grid cells
    int m_column = -1;
    std::uint64_t m_cursorStep = 0;
    bool m_onScreen = false; ///< painting the widget, not an export
};

} // namespace assay::ui
