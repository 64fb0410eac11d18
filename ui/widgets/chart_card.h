// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "ui/charts/chart_source.h"
#include "ui/widgets/card.h"

class QAbstractItemModel;
class QStackedLayout;

namespace assay::ui {

class DataTable;

/// A card around one chart: readout of the crosshair, "reduced" badge, the table twin and the export menu.
class ChartCard : public Card {
    Q_OBJECT

public:
    /// `chart` is the widget, `source` the same object; both and `twin` must outlive the card or be its children.
    ChartCard(const QString& title, QWidget* chart, ChartSource* source, QAbstractItemModel* twin, QWidget* parent = nullptr);
    void setReadout(const QString& text);
    void setReduced(bool reduced);
    [[nodiscard]] DataTable* table() const { return m_table; }
    /// Asks for a file name; replaceable in tests. Arguments: suggested name. Returns an empty path for "cancelled".
    std::function<QString(const QString&)> askPath;

Q_SIGNALS:
    void exported(const QString& message);
    void exportFailed(const QString& message);

private:
    void exportAs(const QString& ending);

    ChartSource* m_source = nullptr;
    DataTable* m_table = nullptr;
    QStackedLayout* m_stack = nullptr;
    QLabel* m_readout = nullptr;
    QLabel* m_reduced = nullptr;
};

} // namespace assay::ui
