// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "ui/charts/chart_source.h"
#include "ui/models/step_series.h"

class QCustomPlot;
class QCPGraph;
class QCPItemLine;

namespace assay::ui {

/// Loss claimed by the trainer against the loss of the replay. The claimed line is dashed and lies on top, so that equal curves
/// still show both. NaN and infinite losses appear as markers at the upper edge. The crosshair gives the raw values.
class LossChart : public QWidget, public ChartSource {
    Q_OBJECT

public:
    explicit LossChart(QWidget* parent = nullptr);
    void setSeries(StepSeries* series);
    void setCursorStep(std::uint64_t step);
    [[nodiscard]] QString readout() const { return m_readout; }

    [[nodiscard]] QString chartTitle() const override;
    [[nodiscard]] QByteArray chartCsv() const override;
    void paintChart(QPainter& painter, const QRect& rect) override;
    [[nodiscard]] bool isReduced() const override { return m_reduced; }

Q_SIGNALS:
    void stepActivated(std::uint64_t step);
    void readoutChanged(const QString& text);
    void reducedChanged(bool reduced);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void restyle();
    void reload();
    void showStep(std::uint64_t step);
    void updateReduced();
    [[nodiscard]] std::uint64_t stepAt(double pixel) const;

    QPointer<StepSeries> m_series;
    QCustomPlot* m_plot = nullptr;
    QCPGraph* m_replayed = nullptr;
    QCPGraph* m_claimed = nullptr;
    QCPGraph* m_notFinite = nullptr;
    QCPItemLine* m_cross = nullptr;
    QCPItemLine* m_cursorLine = nullptr;
    QTimer m_timer; ///< at most 30 redraws a second while results stream in
    QString m_readout;
    std::uint64_t m_cursor = 0;
    std::uint64_t m_hover = 0;
    bool m_reduced = false;
    bool m_dirty = true;
};

} // namespace assay::ui
