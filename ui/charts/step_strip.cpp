// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/step_strip.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include "ui/models/number_text.h"
#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

constexpr double kMinCell = 4.0;  // narrower cells are reduced
constexpr int kLane = 26;         // height of a full cell
constexpr int kMarks = 10;        // lane of the checkpoint marks
constexpr int kAxis = 16;

Tone toneOf(StepState state) {
    return state == StepState::matched ? Tone::good : state == StepState::mismatched ? Tone::bad : Tone::neutral;
}

/// Height share of the cell: the state is readable without colour.
double heightOf(StepState state) {
    return state == StepState::matched ? 0.72 : state == StepState::mismatched ? 1.0 : 0.2;
}

void drawGlyph(QPainter& painter, const QRectF& box, StepState state, const QColor& colour) {
    const double r = std::min({box.width(), box.height(), 11.0}) * 0.32;
    const QPointF c = box.center();
    painter.setPen(QPen(colour, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    if (state == StepState::matched) {
        painter.drawPolyline(QPolygonF({c + QPointF(-r, 0.1 * r), c + QPointF(-0.25 * r, 0.8 * r), c + QPointF(r, -0.7 * r)}));
    } else if (state == StepState::mismatched) {
        painter.drawLine(c + QPointF(-r, -r), c + QPointF(r, r));
        painter.drawLine(c + QPointF(-r, r), c + QPointF(r, -r));
    }
}

void drawState(QPainter& painter, const QRectF& slot, StepState state, bool mixed) {
    const auto tone = Theme::instance().tone(toneOf(state));
    QRectF bar = slot;
    bar.setTop(slot.bottom() - slot.height() * heightOf(state));
    painter.setPen(Qt::NoPen);
    if (state == StepState::notReplayed) {
        painter.setBrush(Theme::instance().colour(Colour::control));
        painter.drawRect(bar);
        return;
    }
    painter.setBrush(tone.fill);
    painter.drawRect(bar);
    if (mixed) { // a notch: some steps of this cell were not replayed
        painter.setBrush(Theme::instance().colour(Colour::surface));
        painter.drawRect(QRectF(bar.left(), bar.bottom() - bar.height() * 0.4, bar.width(), 1.5));
    }
    if (slot.width() >= 9.0) {
        painter.setBrush(Qt::NoBrush);
        drawGlyph(painter, bar, state, tone.onFill);
    }
}

void drawCheckpoint(QPainter& painter, const QPointF& centre) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().tone(Tone::info).fill);
    constexpr double r = 3.5;
    painter.drawPolygon(QPolygonF({centre + QPointF(0, -r), centre + QPointF(r, 0), centre + QPointF(0, r), centre + QPointF(-r, 0)}));
}

} // namespace

StepStrip::StepStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Step strip"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void StepStrip::setSeries(StepSeries* series) {
    if (m_series) {
        m_series->disconnect(this);
    }
    m_series = series;
    if (m_series) {
        connect(m_series, &StepSeries::changed, this, &StepStrip::refresh);
    }
    refresh();
}

void StepStrip::setCursorStep(std::uint64_t step) {
    if (m_series && step <= m_series->total()) {
        m_cursor = step;
        refresh();
    }
}

void StepStrip::refresh() {
    if (m_series) {
        setAccessibleDescription(tr("%1 of %2 steps replayed, %3 mismatched. %4")
                                     .arg(m_series->replayed())
                                     .arg(m_series->total())
                                     .arg(m_series->mismatched())
                                     .arg(m_cursor == 0 || m_cursor > m_series->total()
                                              ? QString()
                                              : tr("Step %1: %2").arg(m_cursor).arg(stepStateText(m_series->at(m_cursor).state))));
    }
    update();
}

QRectF StepStrip::cellRect(std::size_t cell, const QRectF& area) const {
    const double width = std::min(area.width() / static_cast<double>(std::max<std::size_t>(m_cells.size(), 1)), 40.0);
    const double gap = width >= 6.0 ? 1.5 : width >= 3.0 ? 1.0 : 0.0;
    return {area.left() + static_cast<double>(cell) * width, area.top(), width - gap, area.height()};
}

void StepStrip::paintChart(QPainter& painter, const QRect& rect) {
    const auto& theme = Theme::instance();
    if (!m_series || m_series->total() == 0) {
        painter.setPen(theme.colour(Colour::secondary));
        painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, tr("No steps are known yet"));
        return;
    }
    m_cells = reduceStrip(m_series->cells(), static_cast<std::size_t>(std::max(1.0, rect.width() / kMinCell)));
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(rect.left() + 1, rect.top() + 2, rect.width() - 2, kLane);
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        const QRectF slot = cellRect(i, area);
        drawState(painter, slot, m_cells[i].worst, m_cells[i].mixed);
        if (m_cells[i].checkpoint) {
            drawCheckpoint(painter, {slot.center().x(), area.bottom() + kMarks / 2.0 + 1});
        }
    }
    // Axis: first step, last step, and round numbers between them where there is room.
    painter.setFont(theme.captionFont());
    painter.setPen(theme.colour(Colour::secondary));
    const QFontMetrics metrics(theme.captionFont(), painter.device());
    const auto total = m_series->total();
    const double span = cellRect(m_cells.size() - 1, area).right() - area.left();
    const double labelWidth = metrics.horizontalAdvance(groupedNumber(total)) + 14.0;
    double step = 1.0;
    for (int i = 0; step * span / static_cast<double>(total) < labelWidth && i < 60; ++i) {
        step *= i % 3 == 1 ? 2.5 : 2.0; // 1 2 5 10
    }
    const auto every = static_cast<std::uint64_t>(step);
    const auto label = [&](std::uint64_t at) {
        const std::size_t cell = static_cast<std::size_t>((at - 1) / (m_cells[0].lastStep - m_cells[0].firstStep + 1));
        const double x = cellRect(std::min(cell, m_cells.size() - 1), area).center().x();
        const QString text = groupedNumber(at);
        const double w = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - w / 2, area.left(), area.right() - w);
        painter.drawText(QRectF(left, area.bottom() + kMarks, w + 2, kAxis), Qt::AlignLeft | Qt::AlignVCenter, text);
    };
    label(1);
    for (std::uint64_t at = every; at <= total; at += every) {
        const double toStart = static_cast<double>(at - 1) * span / static_cast<double>(total);
        const bool odd = every == 2 && at == 2; // 1, 2, 4 would look like a missing number
        if (toStart > labelWidth * 0.8 && !odd) {
            label(at);
        }
    }
}

void StepStrip::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    paintChart(painter, rect());
    const bool reduced = m_series && m_cells.size() < m_series->total();
    if (reduced != m_reduced) {
        m_reduced = reduced;
        QMetaObject::invokeMethod(this, [this] { Q_EMIT reducedChanged(m_reduced); }, Qt::QueuedConnection);
    }
    if (m_cells.empty()) {
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(1, 2, width() - 2, kLane);
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        if (m_cursor >= m_cells[i].firstStep && m_cursor <= m_cells[i].lastStep) {
            painter.setPen(QPen(Theme::instance().colour(Colour::text), 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(cellRect(i, area).adjusted(-1.5, -1, 1.5, 1), 2, 2);
        }
    }
    if (hasFocus()) {
        painter.setPen(QPen(Theme::instance().colour(Colour::focus), 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

int StepStrip::cellAt(const QPoint& point) const {
    const QRectF area(1, 2, width() - 2, kLane);
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        const QRectF slot = cellRect(i, area);
        if (point.x() >= slot.left() && point.x() < slot.right() + 2) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

QString StepStrip::tooltipFor(const StripCell& cell) const {
    if (cell.firstStep != cell.lastStep) {
        return tr("Steps %1 to %2, reduced\nworst state: %3%4%5")
            .arg(groupedNumber(cell.firstStep), groupedNumber(cell.lastStep), stepStateText(cell.worst),
                 cell.mixed ? tr("\nsome of them were not replayed") : QString(),
                 cell.checkpoint ? tr("\nholds a checkpoint") : QString());
    }
    const auto& step = m_series->at(cell.firstStep);
    QString text = tr("Step %1: %2").arg(groupedNumber(step.step), stepStateText(step.state));
    if (step.hasClaimed) {
        text += tr("\nloss claimed %1").arg(exactDecimal(step.lossClaimed));
    }
    if (step.hasReplayed) {
        text += tr("\nloss replayed %1").arg(exactDecimal(step.lossReplayed));
        text += tr("\n%1 entries, %2 corrections").arg(groupedNumber(step.entries), groupedNumber(step.corrections));
    }
    if (step.offences > 0) {
        text += tr("\n%1 log offences").arg(groupedNumber(step.offences));
    }
    return text + (step.checkpoint ? tr("\ncheckpoint") : QString());
}

void StepStrip::mousePressEvent(QMouseEvent* event) {
    const int cell = cellAt(event->position().toPoint());
    if (cell >= 0) {
        m_cursor = m_cells[static_cast<std::size_t>(cell)].firstStep;
        refresh();
        Q_EMIT stepActivated(m_cursor);
    }
}

void StepStrip::keyPressEvent(QKeyEvent* event) {
    if (!m_series || m_series->total() == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto total = m_series->total();
    switch (event->key()) {
    case Qt::Key_Right:
        m_cursor = std::min(m_cursor + 1, total);
        break;
    case Qt::Key_Left:
        m_cursor = std::max<std::uint64_t>(m_cursor, 2) - 1;
        break;
    case Qt::Key_Home:
        m_cursor = 1;
        break;
    case Qt::Key_End:
        m_cursor = total;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    refresh();
    if (m_cursor > 0) {
        Q_EMIT stepActivated(m_cursor);
    }
}

bool StepStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int cell = cellAt(help->pos());
        if (cell >= 0 && m_series) {
            QToolTip::showText(help->globalPos(), tooltipFor(m_cells[static_cast<std::size_t>(cell)]), this);
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return QWidget::event(event);
}

QString StepStrip::chartTitle() const { return tr("Steps"); }
QByteArray StepStrip::chartCsv() const { return m_series ? m_series->toCsv() : QByteArray(); }

namespace {

struct LegendItem {
    QString text;
    StepState state;
    bool checkpoint;
};

std::array<LegendItem, 4> legendItems() {
    return {{{stepStateText(StepState::matched), StepState::matched, false},
             {stepStateText(StepState::mismatched), StepState::mismatched, false},
             {stepStateText(StepState::notReplayed), StepState::notReplayed, false},
             {StepStrip::tr("checkpoint"), StepState::notReplayed, true}}};
}

constexpr int kSwatch = 14;

} // namespace

StripLegend::StripLegend(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(StepStrip::tr("Legend: matched, mismatched, not replayed, checkpoint"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize StripLegend::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().captionFont());
    int width = 0;
    for (const auto& item : legendItems()) {
        width += kSwatch + space::xs + metrics.horizontalAdvance(item.text) + space::l;
    }
    return {width, std::max(metrics.height(), 18)};
}

void StripLegend::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::instance().captionFont());
    const QFontMetrics metrics(painter.font());
    double x = 0;
    for (const auto& item : legendItems()) {
        const QRectF slot(x, (height() - 16) / 2.0, kSwatch - 1, 16);
        if (item.checkpoint) {
            drawCheckpoint(painter, slot.center());
        } else {
            drawState(painter, slot, item.state, false);
        }
        painter.setPen(Theme::instance().colour(Colour::secondary));
        x += kSwatch + space::xs;
        painter.drawText(QRectF(x, 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter, item.text);
        x += metrics.horizontalAdvance(item.text) + space::l;
    }
}

} // namespace assay::ui
