// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/audit_types.h"
#include "ui/models/site_matrix.h"
#include "ui/models/table_model.h"
#include "ui/models/twin_models.h"

class QLabel;
class QSplitter;
class QTabWidget;

namespace assay::ui {

class Actions;
class Card;
class ChartCard;
class DivergencePanel;
class HeatMap;
class LossChart;
class ReplayControls;
class SegmentBar;
class Selection;
class StepStrip;
class Workbench;

/// Running the steps again: controls, strip, charts, findings, first divergence, corrections.
class ReplayPage : public QWidget {
    Q_OBJECT

public:
    ReplayPage(Workbench* workbench, Actions* actions, Selection* selection, QWidget* parent = nullptr);
    [[nodiscard]] ReplayRequest request() const;
    void showDivergence();
    void showTab(const QString& name); ///< "divergence", "findings", "corrections", "checks"
    void setMetric(SiteMetric metric);
    /// Moves through the findings; `direction` is 1 or -1.
    void goToFinding(int direction);
    void resetLayout();
    [[nodiscard]] QByteArray saveLayout() const;
    void restoreLayout(const QByteArray& state);
    /// Back from a maximised panel; false if none was.
    bool restorePanel();

Q_SIGNALS:
    void notice(const QString& text);
    void failed(const QString& text);

private:
    [[nodiscard]] QWidget* makeRunCard();
    [[nodiscard]] QWidget* makeCharts();
    [[nodiscard]] QWidget* makeEvidence();
    void maximise(Card* card, bool on);
    void refreshFindings();
    void refreshStep();
    void refreshCorrections();

    Workbench* m_workbench;
    Actions* m_actions;
    Selection* m_selection;
    StepTableModel m_stepTable;
    MatrixTableModel m_siteTable;
    TableModel m_findingModel;
    ReplayControls* m_controls = nullptr;
    StepStrip* m_strip = nullptr;
    QLabel* m_stepText = nullptr;
    LossChart* m_loss = nullptr;
    HeatMap* m_heat = nullptr;
    SegmentBar* m_metric = nullptr;
    ChartCard* m_lossCard = nullptr;
    ChartCard* m_heatCard = nullptr;
    Card* m_runCard = nullptr;
    Card* m_evidence = nullptr;
    QTabWidget* m_tabs = nullptr;
    DivergencePanel* m_divergence = nullptr;
    QSplitter* m_main = nullptr;
    QSplitter* m_left = nullptr;
    Card* m_maximised = nullptr;
    int m_finding = -1;
};

} // namespace assay::ui
