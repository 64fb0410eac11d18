// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/heat_map.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/models/number_text.h"
#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

constexpr int kLegend = 20;
constexpr int kMinRow = 3;
constexpr int kMinColumn = 2;

/// Logarithmic, so that one entry is visible beside thousands; zero has its own, palest step.
double shareOf(std::uint32_t value, std::uint32_t max) {
    if (value == 0 || max == 0) {
        return 0.0;
    }
    return max == 1 ? 0.75 : 0.25 + 0.75 * std::log(static_cast<double>(value)) / std::log(static_cast<double>(max));
}

} // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Heat map of sites by steps"));
    connect(&Theme::instance(), &Theme::changed, this, &HeatMap::recompute);
}

void HeatMap::setMatrix(SiteMatrix* matrix) {
    if (m_matrix) {
        m_matrix->disconnect(this);
    }
    m_matrix = matrix;
    if (m_matrix) {
        connect(m_matrix, &SiteMatrix::changed, this, &HeatMap::recompute);
    }
    m_row = m_column = -1;
    recompute();
}

void HeatMap::setMetric(SiteMetric metric) {
    m_metric = metric;
    recompute();
    Q_EMIT readoutChanged(readout());
}

void HeatMap::setCursorStep(std::uint64_t step) {
    m_cursorStep = step;
    update();
}

HeatMap::Layout HeatMap::layoutFor(const QRect& rect, const QFontMetrics& metrics) const {
    Layout layout;
    int widest = 0;
    if (m_matrix) {
        for (const auto& row : m_matrix->rows()) {
            widest = std::max(widest, metrics.horizontalAdvance(row.name));
        }
    }
    layout.gutter = std::min(widest + space::s, rect.width() * 2 / 5);
    layout.map = rect.adjusted(layout.gutter, 0, -1, -(kLegend + metrics.height() + space::xs));
    layout.legendTop = rect.bottom() - kLegend + 1;
    return layout;
}

HeatGrid HeatMap::gridFor(const Layout& layout) const {
    return m_matrix ? m_matrix->reduce(m_metric, static_cast<std::size_t>(std::max(1, layout.map.width() / kMinColumn)),
                                       static_cast<std::size_t>(std::max(1, layout.map.height() / kMinRow)))
                    : HeatGrid();
}

void HeatMap::recompute() {
    const bool before = m_grid.isReduced();
    const Layout layout = layoutFor(rect(), QFontMetrics(Theme::instance().captionFont()));
    m_grid = gridFor(layout);
    if (m_matrix) {
        setAccessibleDescription(tr("%1 sites, %2 of %3 steps known, largest value %4. The table shows the same numbers.")
                                     .arg(m_matrix->rows().size())
                                     .arg(m_matrix->knownSteps())
                                     .arg(m_matrix->steps())
                                     .arg(m_grid.max));
    }
    if (before != m_grid.isReduced()) {
        Q_EMIT reducedChanged(m_grid.isReduced());
    }
    update();
}

QRectF HeatMap::cellRect(const QRect& map, std::size_t row, std::size_t column) const {
    const double w = std::min(static_cast<double>(map.width()) / static_cast<double>(m_grid.columns), 40.0);
    const double h = std::min(static_cast<double>(map.height()) / static_cast<double>(m_grid.rows), 26.0);
    return {map.left() + w * static_cast<double>(column), map.top() + h * static_cast<double>(row), w, h};
}

void HeatMap::paintLabels(QPainter& painter, const Layout& layout) const {
    const auto& theme = Theme::instance();
    const QFontMetrics metrics(painter.font(), painter.device());
    painter.setPen(theme.colour(Colour::secondary));
    double free = layout.map.top();
    for (std::size_t r = 0; r < m_grid.rows; ++r) {
        const QRectF cell = cellRect(layout.map, r, 0);
        const double top = cell.center().y() - metrics.height() / 2.0;
        if (top < free - 1) {
            continue; // no room: the crosshair names every row
        }
        const QString name = m_matrix->rows()[r * m_grid.sitesPerRow].name;
        painter.drawText(QRectF(layout.map.left() - layout.gutter, top, layout.gutter - space::xs, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideMiddle, layout.gutter - space::xs));
        free = top + metrics.height();
    }
    const double bottom = cellRect(layout.map, m_grid.rows - 1, 0).bottom();
    const double right = cellRect(layout.map, 0, m_grid.columns - 1).right();
    const QString first = tr("step 1");
    const QString last = groupedNumber(m_matrix->steps());
    painter.drawText(QPointF(layout.map.left(), bottom + metrics.ascent() + 2), first);
    const double at = right - metrics.horizontalAdvance(last);
    if (at > layout.map.left() + metrics.horizontalAdvance(first) + space::s) {
        painter.drawText(QPointF(at, bottom + metrics.ascent() + 2), last);
    }
}

void HeatMap::paintLegend(QPainter& painter, const Layout& layout, const QRect& rect, bool withReadout) const {
    const auto& theme = Theme::instance();
    const QFontMetrics metrics(painter.font(), painter.device());
    double x = rect.left() + layout.gutter;
    const double y = layout.legendTop + 6;
    const double h = 10;
    const auto text = [&](const QString& words) {
        painter.setPen(theme.colour(Colour::secondary));
        painter.drawText(QPointF(x, y + h / 2 + metrics.ascent() / 2.0 - 1), words);
        x += metrics.horizontalAdvance(words) + space::s;
    };
    if (const QString values = withReadout ? readout() : QString(); !values.isEmpty()) {
        painter.setPen(theme.colour(Colour::text));
        const double left = rect.left();
        painter.drawText(QPointF(left, y + h / 2 + metrics.ascent() / 2.0 - 1), metrics.elidedText(values, Qt::ElideMiddle, rect.width()));
        return;
    }
    text(siteMetricText(m_metric) + QStringLiteral(":"));
    text(QStringLiteral("0"));
    painter.fillRect(QRectF(x, y, 14, h), theme.heat(0));
    x += 18;
    if (m_grid.max > 0) {
        text(QStringLiteral("1"));
        for (int i = 0; i < 60; ++i) {
            painter.fillRect(QRectF(x + i, y, 1.5, h), theme.heat(m_grid.max == 1 ? 0.75 : 0.25 + 0.75 * i / 59.0));
        }
        x += 66;
        text(groupedNumber(m_grid.max) + (m_grid.max > 9 ? tr(" (log scale)") : QString()));
    }
    x += space::s;
    painter.fillRect(QRectF(x, y, 14, h), QBrush(theme.colour(Colour::control), Qt::BDiagPattern));
    x += 18;
    text(tr("not replayed"));
}

void HeatMap::paintChart(QPainter& painter, const QRect& rect) {
    const auto& theme = Theme::instance();
    painter.setFont(theme.captionFont());
    if (!m_matrix || m_grid.cells.empty()) {
        painter.setPen(theme.colour(Colour::secondary));
        painter.drawText(rect, Qt::AlignCenter | Qt::TextWordWrap,
                         tr("The first replayed step fills this map:\none row per product site, one column per step."));
        return;
    }
    const Layout layout = layoutFor(rect, QFontMetrics(theme.captionFont(), painter.device()));
    const HeatGrid onScreen = m_grid;
    if (rect.size() != size()) { // an export: as fine as its own size allows
        m_grid = gridFor(layout);
    }
    const QRectF whole = cellRect(layout.map, 0, 0).united(cellRect(layout.map, m_grid.rows - 1, m_grid.columns - 1));
    painter.fillRect(whole, QBrush(theme.colour(Colour::control), Qt::BDiagPattern));
    for (std::size_t r = 0; r < m_grid.rows; ++r) {
        for (std::size_t c = 0; c < m_grid.columns; ++c) {
            const auto& cell = m_grid.at(r, c);
            if (cell.known == 0) {
                continue;
            }
            QRectF box = cellRect(layout.map, r, c);
            const double gapX = box.width() >= 8 ? 1.0 : 0.0;
            const double gapY = box.height() >= 8 ? 1.0 : 0.0;
            if (gapX > 0 || gapY > 0) {
                painter.fillRect(box, theme.colour(Colour::surface));
            }
            box.adjust(0, 0, -gapX, -gapY);
            painter.fillRect(box, theme.heat(shareOf(cell.max, m_grid.max)));
        }
    }
    paintLabels(painter, layout);
    paintLegend(painter, layout, rect, m_onScreen);
    m_grid = onScreen;
}

void HeatMap::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    m_onScreen = true;
    paintChart(painter, rect());
    m_onScreen = false;
    if (m_grid.cells.empty()) {
        return;
    }
    const auto& theme = Theme::instance();
    const Layout layout = layoutFor(rect(), QFontMetrics(theme.captionFont()));
    const QRectF whole = cellRect(layout.map, 0, 0).united(cellRect(layout.map, m_grid.rows - 1, m_grid.columns - 1));
    if (m_cursorStep > 0) {
        const auto column = static_cast<std::size_t>((m_cursorStep - 1) / m_grid.stepsPerColumn);
        if (column < m_grid.columns) {
            QRectF box = cellRect(layout.map, 0, column);
            painter.setPen(QPen(theme.colour(Colour::text), 1.0));
            painter.drawRect(QRectF(box.left() - 0.5, whole.top(), box.width(), whole.height()));
        }
    }
    if (m_row >= 0 && m_column >= 0 && static_cast<std::size_t>(m_row) < m_grid.rows &&
        static_cast<std::size_t>(m_column) < m_grid.columns) {
        const QRectF box = cellRect(layout.map, static_cast<std::size_t>(m_row), static_cast<std::size_t>(m_column));
        painter.setPen(QPen(theme.colour(Colour::secondary), 1, Qt::DotLine));
        painter.drawLine(QPointF(box.center().x(), whole.top()), QPointF(box.center().x(), whole.bottom()));
        painter.drawLine(QPointF(whole.left(), box.center().y()), QPointF(whole.right(), box.center().y()));
        painter.setPen(QPen(theme.colour(Colour::text), 1.5));
        painter.drawRect(box.adjusted(-1, -1, 1, 1));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme.colour(Colour::focus), 1, Qt::DashLine));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

QString HeatMap::readout() const {
    if (!m_matrix || m_row < 0 || m_column < 0 || static_cast<std::size_t>(m_row) >= m_grid.rows ||
        static_cast<std::size_t>(m_column) >= m_grid.columns) {
        return {};
    }
    const auto row = static_cast<std::size_t>(m_row) * m_grid.sitesPerRow;
    const auto step = static_cast<std::uint64_t>(m_column) * m_grid.stepsPerColumn + 1;
    const auto& name = m_matrix->rows()[row].name;
    if (!m_grid.isReduced()) {
        if (!m_matrix->isKnown(step)) {
            return tr("%1, step %2: not replayed").arg(name, groupedNumber(step));
        }
        const auto count = m_matrix->at(row, step);
        return tr("%1, step %2: %3 entries, %4 corrections, %5 offences")
            .arg(name, groupedNumber(step))
            .arg(count.entries)
            .arg(count.corrections)
            .arg(count.offences);
    }
    const auto& cell = m_grid.at(static_cast<std::size_t>(m_row), static_cast<std::size_t>(m_column));
    const auto lastStep = std::min(step + m_grid.stepsPerColumn - 1, m_matrix->steps());
    const auto lastRow = std::min(row + m_grid.sitesPerRow, m_matrix->rows().size()) - 1;
    const QString sites = lastRow == row ? name : tr("%1 to %2").arg(name, m_matrix->rows()[lastRow].name);
    const QString steps = lastStep == step ? groupedNumber(step) : tr("%1 to %2").arg(groupedNumber(step), groupedNumber(lastStep));
    if (cell.known == 0) {
        return tr("%1, step %2: not replayed").arg(sites, steps);
    }
    return tr("%1, step %2: %3 from %4 to %5%6")
        .arg(sites, steps, siteMetricText(m_metric).toLower(), groupedNumber(cell.min), groupedNumber(cell.max),
             cell.unknown > 0 ? tr(", partly not replayed") : QString());
}

void HeatMap::moveCrosshair(int row, int column) {
    if (row != m_row || column != m_column) {
        m_row = row;
        m_column = column;
        update();
        Q_EMIT readoutChanged(readout());
    }
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
    if (m_grid.cells.empty()) {
        return;
    }
    const Layout layout = layoutFor(rect(), QFontMetrics(Theme::instance().captionFont()));
    const QRectF one = cellRect(layout.map, 0, 0);
    const double x = (event->position().x() - one.left()) / one.width();
    const double y = (event->position().y() - one.top()) / one.height();
    const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(m_grid.columns) && y < static_cast<double>(m_grid.rows);
    moveCrosshair(inside ? static_cast<int>(y) : -1, inside ? static_cast<int>(x) : -1);
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
    mouseMoveEvent(event);
    if (m_column >= 0) {
        Q_EMIT stepActivated(static_cast<std::uint64_t>(m_column) * m_grid.stepsPerColumn + 1);
    }
}

void HeatMap::leaveEvent(QEvent* /*event*/) { moveCrosshair(-1, -1); }
void HeatMap::resizeEvent(QResizeEvent* /*event*/) { recompute(); }

void HeatMap::keyPressEvent(QKeyEvent* event) {
    const int rows = static_cast<int>(m_grid.rows);
    const int columns = static_cast<int>(m_grid.columns);
    int row = std::max(m_row, 0);
    int column = std::max(m_column, 0);
    switch (event->key()) {
    case Qt::Key_Left:
        --column;
        break;
    case Qt::Key_Right:
        ++column;
        break;
    case Qt::Key_Up:
        --row;
        break;
    case Qt::Key_Down:
        ++row;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    if (rows == 0 || columns == 0) {
        return;
    }
    moveCrosshair(std::clamp(row, 0, rows - 1), std::clamp(column, 0, columns - 1));
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        Q_EMIT stepActivated(static_cast<std::uint64_t>(m_column) * m_grid.stepsPerColumn + 1);
    }
}

QString HeatMap::chartTitle() const { return tr("%1 per site and step").arg(siteMetricText(m_metric)); }
QByteArray HeatMap::chartCsv() const { return m_matrix ? m_matrix->toCsv() : QByteArray(); }

} // namespace assay::ui
