// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/table_model.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QStackedLayout;
class QTabWidget;
class QVBoxLayout;

namespace assay::ui {

class Actions;
class Card;
class DataTable;
class FactGrid;
class Figure;
class ProgramGraph;
class SampleGallery;
class SegmentBar;
class StatusPill;
class Workbench;
class OrderCard;

/// What the trainer claims: order against submission, signature, commitments, checkpoints, logs, program, data.
class SubmissionPage : public QWidget {
    Q_OBJECT

public:
    SubmissionPage(Workbench* workbench, Actions* actions, QWidget* parent = nullptr);
    /// "overview", "logs", "program", "data".
    void showTab(const QString& name);
    void focusFilter();

Q_SIGNALS:
    void notice(const QString& text);

private:
    [[nodiscard]] QWidget* makeOverview();
    [[nodiscard]] QWidget* makeLogs();
    [[nodiscard]] QWidget* makeProgram();
    [[nodiscard]] QWidget* makeData();
    void refresh();
    void refreshChecks();
    void refreshLogs();

    Workbench* m_workbench;
    Actions* m_actions;
    QTabWidget* m_tabs = nullptr;

    TableModel m_checkModel;
    TableModel m_checkpointModel;
    TableModel m_siteModel;
    TableModel m_operatorModel;
    TableModel m_tensorModel;
    TableModel m_fileModel;
    OrderCard* m_order = nullptr;
    Card* m_checks = nullptr;
    Card* m_signatureCard = nullptr;
    FactGrid* m_signature = nullptr;
    QLabel* m_signatureFound = nullptr; ///< lives as long as the rows of m_signature
    StatusPill* m_signaturePill = nullptr;
    FactGrid* m_commitment = nullptr;
    Card* m_checkpoints = nullptr;
    DataTable* m_checkpointTable = nullptr;

    Figure* m_entries = nullptr;
    Figure* m_perStep = nullptr;
    Figure* m_logBytes = nullptr;
    Figure* m_corrections = nullptr;
    Figure* m_freedom = nullptr;
    Card* m_siteCard = nullptr;
    QLineEdit* m_siteFilter = nullptr;

    Card* m_programCard = nullptr;
    SegmentBar* m_programViews = nullptr;
    QStackedLayout* m_programStack = nullptr;
    ProgramGraph* m_graph = nullptr;
    QPlainTextEdit* m_programText = nullptr;
    QLineEdit* m_programFilter = nullptr;
    QString m_shownProgram;

    FactGrid* m_data = nullptr;
    SampleGallery* m_gallery = nullptr;
    QWidget* m_dataProblem = nullptr;
    QLabel* m_dataProblemText = nullptr;
};

} // namespace assay::ui
