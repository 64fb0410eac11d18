// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/program_graph.h"

#include <algorithm>

#include <QGraphicsItem>
#include <QGraphicsScene>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QWheelEvent>

#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

constexpr double kWidth = 190;
constexpr double kHeight = 38;
constexpr double kColumn = 214;
constexpr double kLayer = 60;

class BoxItem : public QGraphicsItem {
public:
    BoxItem(const GraphNode& node, bool marked) : m_node(node), m_marked(marked) { setToolTip(node.tooltip); }
    [[nodiscard]] QRectF boundingRect() const override { return {-2, -2, kWidth + 4, kHeight + 4}; }

    void paint(QPainter* painter, const QStyleOptionGraphicsItem* /*option*/, QWidget* /*widget*/) override {
        const auto& theme = Theme::instance();
        const bool io = m_node.kind == u"batch";
        painter->setRenderHint(QPainter::Antialiasing);
        const QColor frame = m_marked ? theme.tone(Tone::bad).fill : theme.colour(m_node.product ? Colour::accent : Colour::control);
        painter->setPen(QPen(frame, m_marked ? 3.0 : m_node.product ? 2.0 : 1.0));
        painter->setBrush(io ? theme.tone(Tone::info).soft : theme.colour(Colour::surface));
        painter->drawRoundedRect(QRectF(0, 0, kWidth, kHeight), io ? kHeight / 2 : 6, io ? kHeight / 2 : 6);
        QFont title = theme.captionFont();
        title.setWeight(QFont::DemiBold);
        painter->setFont(title);
        painter->setPen(theme.colour(Colour::text));
        const QFontMetricsF metrics(title);
        QString name = m_node.title;
        if (!m_node.group.isEmpty() && name.startsWith(m_node.group + u'.')) {
            name = name.mid(m_node.group.size() + 1); // the band names the group
        }
        painter->drawText(QRectF(10, 3, kWidth - 20, kHeight / 2 - 1), Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(name, Qt::ElideMiddle, kWidth - 20));
        painter->setFont(theme.captionFont());
        painter->setPen(theme.colour(Colour::secondary));
        painter->drawText(QRectF(10, kHeight / 2 - 1, kWidth - 20, kHeight / 2 - 1), Qt::AlignLeft | Qt::AlignVCenter, m_node.kind);
        if (m_node.product) { // three bars: a log
            painter->setPen(QPen(theme.colour(Colour::accent), 1.6));
            for (int i = 0; i < 3; ++i) {
                const double y = kHeight - 13 + i * 3.5;
                painter->drawLine(QPointF(kWidth - 22, y), QPointF(kWidth - 10 - i * 3, y));
            }
        }
    }

private:
    GraphNode m_node;
    bool m_marked;
};

} // namespace

ProgramGraph::ProgramGraph(QWidget* parent) : QGraphicsView(parent) {
    setScene(new QGraphicsScene(this));
    setDragMode(QGraphicsView::ScrollHandDrag);
    setFrameShape(QFrame::NoFrame);
    setRenderHint(QPainter::Antialiasing);
    setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    setTransformationAnchor(QGraphicsView::AnchorUnderMouse);
    setAccessibleName(tr("Operator graph"));
    viewport()->setFocusPolicy(Qt::NoFocus); // the view itself takes the keys
    connect(&Theme::instance(), &Theme::changed, this, &ProgramGraph::rebuild);
}

void ProgramGraph::setNodes(std::vector<GraphNode> nodes) {
    m_nodes = std::move(nodes);
    setAccessibleDescription(tr("%1 operators; the list beside it holds the same").arg(m_nodes.size()));
    rebuild();
    centerOn(0, 0);
}

void ProgramGraph::rebuild() {
    auto* canvas = scene();
    canvas->clear();
    m_boxes.clear();
    const auto& theme = Theme::instance();
    canvas->setBackgroundBrush(theme.colour(Colour::surface));
    for (const auto& node : m_nodes) {
        m_boxes.emplace_back(node.column * kColumn, node.layer * kLayer, kWidth, kHeight);
    }
    // One soft band per module, with its name, behind the boxes.
    for (std::size_t i = 0; i < m_nodes.size();) {
        std::size_t end = i + 1;
        QRectF band = m_boxes[i];
        while (end < m_nodes.size() && m_nodes[end].group == m_nodes[i].group) {
            band = band.united(m_boxes[end++]);
        }
        if (!m_nodes[i].group.isEmpty()) {
            const QRectF area = band.adjusted(-96, -10, 14, 10);
            QPainterPath path;
            path.addRoundedRect(area, 8, 8);
            canvas->addPath(path, Qt::NoPen, theme.colour(Colour::raised))->setZValue(-2);
            auto* label = canvas->addText(m_nodes[i].group, theme.captionFont());
            label->setDefaultTextColor(theme.colour(Colour::secondary));
            label->setPos(area.left() + 6, area.top() + 4);
            label->setZValue(-1);
        }
        i = end;
    }
    QPen pen(theme.colour(Colour::control), 1.2);
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        for (const int input : m_nodes[i].inputs) {
            const auto& source = m_boxes[static_cast<std::size_t>(input)];
            const QPointF from(source.center().x(), source.bottom());
            const QPointF to(m_boxes[i].center().x(), m_boxes[i].top());
            QPainterPath path(from);
            const bool skips = m_nodes[i].layer - m_nodes[static_cast<std::size_t>(input)].layer > 1;
            if (skips && qFuzzyCompare(from.x(), to.x())) { // around the boxes between
                const double right = source.right() + 10;
                path.cubicTo(from + QPointF(0, 14), QPointF(right, from.y() + 4), QPointF(right, from.y() + 20));
                path.lineTo(QPointF(right, to.y() - 20));
                path.cubicTo(QPointF(right, to.y() - 4), to + QPointF(0, -14), to);
            } else {
                const double bend = std::min(30.0, (to.y() - from.y()) / 2);
                path.cubicTo(from + QPointF(0, bend), to - QPointF(0, bend), to);
            }
            canvas->addPath(path, pen)->setZValue(-1);
            QPolygonF head{to, to + QPointF(-3.5, -6), to + QPointF(3.5, -6)};
            canvas->addPolygon(head, Qt::NoPen, theme.colour(Colour::control));
        }
        auto* box = new BoxItem(m_nodes[i], !m_highlight.isEmpty() && m_nodes[i].title == m_highlight);
        box->setPos(m_boxes[i].topLeft());
        canvas->addItem(box);
    }
    canvas->setSceneRect(canvas->itemsBoundingRect().adjusted(-16, -16, 16, 16));
}

void ProgramGraph::highlight(const QString& name) {
    m_highlight = name;
    rebuild();
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (m_nodes[i].title == name) {
            centerOn(m_boxes[i].center());
        }
    }
}

void ProgramGraph::zoomBy(double factor) {
    const double now = transform().m11() * factor;
    if (now >= 0.2 && now <= 3.0) {
        scale(factor, factor);
    }
}

void ProgramGraph::wheelEvent(QWheelEvent* event) {
    if ((event->modifiers() & Qt::ControlModifier) != 0) {
        zoomBy(event->angleDelta().y() > 0 ? 1.15 : 1 / 1.15);
        event->accept();
        return;
    }
    QGraphicsView::wheelEvent(event);
}

void ProgramGraph::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal) {
        zoomBy(1.15);
    } else if (event->key() == Qt::Key_Minus) {
        zoomBy(1 / 1.15);
    } else {
        QGraphicsView::keyPressEvent(event);
    }
}

} // namespace assay::ui
