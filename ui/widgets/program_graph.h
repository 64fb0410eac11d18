// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QGraphicsView>

#include "ui/models/program_model.h"

namespace assay::ui {

/// The program as boxes from top to bottom. Boxes of products, whose roundings are logged, have a heavy frame and a mark.
class ProgramGraph : public QGraphicsView {
    Q_OBJECT

public:
    explicit ProgramGraph(QWidget* parent = nullptr);
    void setNodes(std::vector<GraphNode> nodes);
    /// Scrolls to an operator and marks it; unknown names clear the mark.
    void highlight(const QString& name);
    void zoomBy(double factor);

protected:
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void rebuild();
    std::vector<GraphNode> m_nodes;
    std::vector<QRectF> m_boxes;
    QString m_highlight;
};

} // namespace assay::ui
