// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

#include "ui/models/table_model.h"

namespace assay::ui {

/// The one table look: rows selected as a whole, Ctrl+C copies them with tabs, sortable, and a text where there are no rows.
class DataTable : public QTableView {
    Q_OBJECT

public:
    /// `name` for screen readers. The model must outlive the view.
    DataTable(const QString& name, QAbstractItemModel* model, QWidget* parent = nullptr);
    void setEmptyText(const QString& text);
    /// The column that takes the room that is left; the others fit their content.
    void setStretchColumn(int column);
    /// As tall as its rows, at most `rows` of them; for tables inside a scrolling page.
    void fitRows(int rows);
    /// Long texts of the stretched column take several lines instead of being cut.
    void setWrapping(bool on);

Q_SIGNALS:
    /// Enter or double click on a row with an id.
    void rowActivated(const QVariant& id);
    /// Another row became current.
    void rowSelected(const QVariant& id);

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void fitColumns();
    void stretch();
    [[nodiscard]] int fittedHeight() const;
    QString m_empty;
    int m_stretch = -1;
    bool m_fitted = false; ///< the columns fit the content
    int m_least = 0; ///< what the stretched column needs; with less room the table scrolls
    int m_fitRows = 0;
};

} // namespace assay::ui
