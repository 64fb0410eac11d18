// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/loss_chart.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>

#include "ui/charts/plot.h"
#include "ui/models/number_text.h"
#include "ui/theme/theme.h"

namespace assay::ui {

LossChart::LossChart(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(260, 140);
    setAccessibleName(tr("Loss claimed and replayed, by step"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_plot = new QCustomPlot(this);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setAccessibleName(tr("Loss plot"));
    layout->addWidget(m_plot);
    m_replayed = m_plot->addGraph();
    m_claimed = m_plot->addGraph();
    m_notFinite = m_plot->addGraph();
    m_replayed->setName(tr("replayed"));
    m_claimed->setName(tr("claimed"));
    m_notFinite->setName(tr("NaN or Inf"));
    m_notFinite->setLineStyle(QCPGraph::lsNone);
    for (auto* graph : {m_replayed, m_claimed}) {
        graph->setAdaptiveSampling(true); // a min/max walk per pixel column: spikes stay
    }
    m_plot->xAxis->setLabel(tr("step"));
    m_plot->yAxis->setLabel(tr("loss"));
    auto ticker = QSharedPointer<QCPAxisTickerFixed>::create(); // a step is a whole number
    ticker->setTickStep(1.0);
    ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_plot->xAxis->setTicker(ticker);
    m_plot->legend->setVisible(true);
    m_plot->axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignRight | Qt::AlignTop);
    m_plot->axisRect()->setMinimumMargins(QMargins(space::s, space::s, space::l, space::xs));
    m_cross = new QCPItemLine(m_plot);
    m_cursorLine = new QCPItemLine(m_plot);
    for (auto* line : {m_cross, m_cursorLine}) {
        for (auto* position : {line->start, line->end}) {
            position->setTypeX(QCPItemPosition::ptPlotCoords);
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        }
        line->setVisible(false);
    }
    m_timer.setSingleShot(true);
    m_timer.setInterval(33);
    connect(&m_timer, &QTimer::timeout, this, &LossChart::reload);
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { showStep(stepAt(event->position().x())); });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (const auto step = stepAt(event->position().x()); step > 0) {
            Q_EMIT stepActivated(step);
        }
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        restyle();
        reload(); // the markers carry the colours too
    });
    restyle();
}

void LossChart::restyle() {
    const auto& theme = Theme::instance();
    const QColor surface = theme.colour(Colour::surface);
    const QColor text = theme.colour(Colour::secondary);
    m_plot->setBackground(surface);
    m_plot->axisRect()->setBackground(surface);
    for (auto* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(theme.colour(Colour::control), 1));
        axis->setTickPen(QPen(theme.colour(Colour::control), 1));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(text);
        axis->setLabelColor(text);
        axis->setTickLabelFont(theme.captionFont());
        axis->setLabelFont(theme.captionFont());
        axis->grid()->setPen(QPen(theme.colour(Colour::grid), 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    m_plot->legend->setFont(theme.captionFont());
    m_plot->legend->setTextColor(theme.colour(Colour::text));
    m_plot->legend->setBrush(surface);
    m_plot->legend->setBorderPen(Qt::NoPen);
    m_plot->legend->setIconSize(22, 12);
    m_replayed->setPen(QPen(theme.colour(Colour::seriesB), 1));
    QPen dashed(theme.colour(Colour::seriesA), 1);
    dashed.setDashPattern({5, 5});
    m_claimed->setPen(dashed);
    const QColor bad = theme.tone(Tone::bad).fill;
    m_notFinite->setPen(QPen(bad, 1));
    m_notFinite->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssTriangleInverted, bad, bad, 8));
    m_cross->setPen(QPen(theme.colour(Colour::secondary), 1, Qt::DotLine));
    m_cursorLine->setPen(QPen(theme.colour(Colour::text), 1));
}

void LossChart::setSeries(StepSeries* series) {
    if (m_series) {
        m_series->disconnect(this);
    }
    m_series = series;
    if (m_series) {
        connect(m_series, &StepSeries::changed, this, [this] {
            m_dirty = true;
            if (isVisible() && !m_timer.isActive()) {
                m_timer.start();
            }
        });
    }
    m_dirty = true;
    reload();
}

void LossChart::reload() {
    m_dirty = false;
    QVector<double> cx, cy, rx, ry, nx;
    double low = INFINITY;
    double high = -INFINITY;
    double total = 1;
    if (m_series) {
        total = static_cast<double>(std::max<std::uint64_t>(m_series->total(), 1));
        const auto add = [&](QVector<double>& xs, QVector<double>& ys, double x, double value) {
            xs.append(x);
            ys.append(std::isfinite(value) ? value : std::nan(""));
            if (std::isfinite(value)) {
                low = std::min(low, value);
                high = std::max(high, value);
            } else if (nx.isEmpty() || nx.last() != x) {
                nx.append(x);
            }
        };
        for (const auto& cell : m_series->cells()) {
            const auto x = static_cast<double>(cell.step);
            if (cell.hasClaimed) {
                add(cx, cy, x, cell.lossClaimed);
            }
            if (cell.hasReplayed) {
                add(rx, ry, x, cell.lossReplayed);
            }
        }
    }
    m_claimed->setData(cx, cy, true);
    m_replayed->setData(rx, ry, true);
    if (!(low <= high)) {
        low = 0;
        high = 1;
    }
    const double pad = std::max((high - low) * 0.06, std::abs(high) * 1e-6 + 1e-9);
    m_plot->yAxis->setRange(low - pad, high + pad);
    m_plot->xAxis->setRange(1 - total * 0.005 - 0.5, total + total * 0.005 + 0.5);
    m_notFinite->setData(nx, QVector<double>(nx.size(), high + pad * 0.5), true);
    const bool few = total <= 60;
    // Without a pen of its own a marker takes that of the line, and the dashes would break the square.
    m_replayed->setScatterStyle(few ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4) : QCPScatterStyle());
    m_claimed->setScatterStyle(few ? QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(m_claimed->pen().color(), 1), Qt::NoBrush, 7)
                                   : QCPScatterStyle());
    m_plot->legend->clearItems(); // anew, so that the order does not depend on what came first
    for (auto* graph : {m_claimed, m_replayed, m_notFinite}) {
        if (graph->dataCount() > 0) {
            graph->addToLegend();
        }
    }
    m_plot->legend->setVisible(m_plot->legend->itemCount() > 0);
    setAccessibleDescription(tr("%1 claimed and %2 replayed losses, from %3 to %4. The table shows the same numbers.")
                                 .arg(cx.size())
                                 .arg(rx.size())
                                 .arg(shortDecimal(low), shortDecimal(high)));
    updateReduced();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LossChart::updateReduced() {
    const double pixels = std::max(1, m_plot->axisRect()->width());
    const bool reduced = std::max(m_claimed->dataCount(), m_replayed->dataCount()) > pixels;
    if (reduced != m_reduced) {
        m_reduced = reduced;
        Q_EMIT reducedChanged(reduced);
    }
}

std::uint64_t LossChart::stepAt(double pixel) const {
    if (!m_series || m_series->total() == 0) {
        return 0;
    }
    const double step = std::round(m_plot->xAxis->pixelToCoord(pixel));
    return step < 1 || step > static_cast<double>(m_series->total()) ? 0 : static_cast<std::uint64_t>(step);
}

void LossChart::showStep(std::uint64_t step) {
    if (step == m_hover) {
        return;
    }
    m_hover = step;
    m_readout.clear();
    m_cross->setVisible(step > 0);
    if (step > 0) {
        const auto& cell = m_series->at(step);
        m_readout = tr("step %1: claimed %2, replayed %3")
                        .arg(groupedNumber(step), cell.hasClaimed ? exactDecimal(cell.lossClaimed) : tr("unknown"),
                             cell.hasReplayed ? exactDecimal(cell.lossReplayed) : tr("not replayed"));
        m_cross->start->setCoords(static_cast<double>(step), 0);
        m_cross->end->setCoords(static_cast<double>(step), 1);
    }
    Q_EMIT readoutChanged(m_readout);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LossChart::setCursorStep(std::uint64_t step) {
    m_cursor = step;
    m_cursorLine->setVisible(step > 0);
    m_cursorLine->start->setCoords(static_cast<double>(step), 0);
    m_cursorLine->end->setCoords(static_cast<double>(step), 1);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LossChart::resizeEvent(QResizeEvent* /*event*/) { updateReduced(); }

void LossChart::showEvent(QShowEvent* /*event*/) {
    if (m_dirty) {
        reload();
    }
}

void LossChart::keyPressEvent(QKeyEvent* event) {
    if (!m_series || m_series->total() == 0 || (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right)) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto at = m_hover;
    showStep(event->key() == Qt::Key_Right ? std::min(at + 1, m_series->total()) : std::max<std::uint64_t>(at, 2) - 1);
}

QString LossChart::chartTitle() const { return tr("Loss claimed and replayed"); }
QByteArray LossChart::chartCsv() const { return m_series ? m_series->toCsv() : QByteArray(); }

void LossChart::paintChart(QPainter& painter, const QRect& rect) {
    if (m_dirty) {
        reload();
    }
    QCPPainter inner;
    QPicture picture; // QCustomPlot paints with its own painter class only; a picture carries it to any device unrasterised
    inner.begin(&picture);
    inner.setMode(QCPPainter::pmVectorized);
    const bool cross = m_cross->visible();
    m_cross->setVisible(false);
    m_plot->toPainter(&inner, rect.width(), rect.height());
    m_cross->setVisible(cross);
    inner.end();
    painter.drawPicture(rect.topLeft(), picture);
}

} // namespace assay::ui
