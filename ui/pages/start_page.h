// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QStackedLayout;

namespace assay::ui {

class Actions;
class ActionButton;
class ChoiceCard;
class RecentList;
class Workbench;

/// Opening, the demo, recent audits. Never empty: without audits it tells how one goes.
class StartPage : public QWidget {
    Q_OBJECT

public:
    StartPage(Workbench* workbench, Actions* actions, QWidget* parent = nullptr);

private:
    [[nodiscard]] QWidget* makeOpening();
    [[nodiscard]] QWidget* makeDemo();
    [[nodiscard]] QWidget* makeRecent();
    void refresh();

    Workbench* m_workbench;
    Actions* m_actions;
    RecentList* m_recent = nullptr;
    QStackedLayout* m_recentStack = nullptr;
    ChoiceCard* m_honest = nullptr;
    ChoiceCard* m_tampered = nullptr;
    QLabel* m_demoText = nullptr;
    QWidget* m_demoRow = nullptr;
};

} // namespace assay::ui
