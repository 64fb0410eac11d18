// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/submission_summary.h"
#include "ui/models/table_model.h"
#include "ui/widgets/card.h"

class QLabel;
class QPushButton;

namespace assay::ui {

class ActionButton;
class Actions;
class DataTable;
class FactGrid;
class StatusPill;

/// The client's order against the one inside the submission: only the differences, then what was ordered.
class OrderCard : public Card {
    Q_OBJECT

public:
    OrderCard(Actions* actions, QWidget* parent);
    /// The pill says what the check of the order says, in the same words.
    void showCheck(const CheckRow& check);
    /// `beside`: an order.json that lies beside the submission but that nobody has confirmed.
    void show(const SubmissionSummary& submission, const QString& beside);

Q_SIGNALS:
    void orderConfirmed(const QString& path);

private:
    StatusPill* m_pill = nullptr;
    QLabel* m_text = nullptr;
    QWidget* m_choose = nullptr;
    QPushButton* m_beside = nullptr;
    TableModel m_differences;
    DataTable* m_table = nullptr;
    FactGrid* m_facts = nullptr;
    QString m_besidePath;
};

} // namespace assay::ui
