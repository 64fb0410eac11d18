// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLineEdit;
class QTabWidget;

namespace assay::ui {

class Actions;
class DataTable;
class TableModel;
class Workbench;

/// Engine log, every action as a command, and the journal of the store.
class ConsolePage : public QWidget {
    Q_OBJECT

public:
    ConsolePage(Workbench* workbench, Actions* actions, QWidget* parent = nullptr);
    void focusFilter();
    void showTab(int index); ///< 0 log, 1 commands, 2 journal

Q_SIGNALS:
    void notice(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] QWidget* makeTab(const QString& name, TableModel* model, int stretch, const QString& empty);
    Workbench* m_workbench;
    QTabWidget* m_tabs = nullptr;
    QLineEdit* m_filter = nullptr;
};

} // namespace assay::ui
