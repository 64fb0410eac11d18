// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QHash>
#include <QList>
#include <QObject>

class QAction;
class QWidget;

namespace assay::ui {

class Workbench;

/// Every action of the window, by id (ui/models/action_ids.h). What they do is wired by the main window.
class Actions : public QObject {
    Q_OBJECT

public:
    /// Creates all actions on `window`, so that their shortcuts work everywhere in it.
    Actions(QWidget* window, Workbench* workbench);
    [[nodiscard]] QAction* at(const char* id) const;
    [[nodiscard]] QAction* at(const QString& id) const { return m_actions.value(id); }
    [[nodiscard]] const QList<QAction*>& all() const { return m_order; }
    void onTriggered(const char* id, std::function<void()> call);
    /// Enables and disables with reasons.
    void refresh();

private:
    QAction* add(const char* id, const QString& text, const QString& shortText, const char* iconName, const QString& shortcut,
                 const QString& tooltip);

    QWidget* m_window = nullptr;
    Workbench* m_workbench = nullptr;
    QHash<QString, QAction*> m_actions;
    QList<QAction*> m_order;
};

} // namespace assay::ui
