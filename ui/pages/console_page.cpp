// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/console_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/pages/actions.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/card.h"
#include "ui/widgets/data_table.h"

namespace assay::ui {

ConsolePage::ConsolePage(Workbench* workbench, Actions* actions, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
    auto* page = new QVBoxLayout(this);
    page->setContentsMargins(space::l, space::m, space::l, space::m);
    auto* card = new Card(tr("Console"), this);
    card->setCaption(tr("What the engine said, what you did, and how to do the same in a terminal"));
    m_filter = new QLineEdit(card);
    m_filter->setPlaceholderText(tr("Filter (Ctrl+F)"));
    m_filter->setAccessibleName(tr("Filter the console"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(220);
    card->addHeaderWidget(m_filter);
    card->addHeaderWidget(new ActionButton(actions->at(action::copyCommand), "normal", card));
    m_tabs = new QTabWidget(card);
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(makeTab(tr("Engine log"), workbench->logModel(), 2, tr("Nothing has run yet. What the engine says appears here.")),
                   tr("Engine log"));
    m_tabs->addTab(makeTab(tr("Commands"), workbench->commandModel(), 2,
                           tr("Every action that runs something appears here as the command line that does the same.\n"
                              "Double-click copies it.")),
                   tr("Commands"));
    m_tabs->addTab(makeTab(tr("Journal"), workbench->journalModel(), 2,
                           tr("The journal records what was done with audits. It is append-only and kept in the store.")),
                   tr("Journal"));
    card->body()->addWidget(m_tabs, 1);
    page->addWidget(card);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        for (auto* model : {m_workbench->logModel(), m_workbench->commandModel(), m_workbench->journalModel()}) {
            model->setFilter(text.trimmed());
        }
    });
    connect(m_tabs, &QTabWidget::currentChanged, this, [this](int index) {
        if (index == 2) {
            m_workbench->refreshJournal();
        }
    });
}

QWidget* ConsolePage::makeTab(const QString& name, TableModel* model, int stretch, const QString& empty) {
    auto* table = new DataTable(name, model);
    table->setStretchColumn(stretch);
    table->setEmptyText(empty);
    connect(table, &DataTable::rowActivated, this, [this](const QVariant& id) {
        QApplication::clipboard()->setText(id.toString());
        Q_EMIT notice(tr("Command copied"));
    });
    return table;
}

void ConsolePage::focusFilter() {
    m_filter->setFocus();
    m_filter->selectAll();
}

void ConsolePage::showTab(int index) { m_tabs->setCurrentIndex(index); }

void ConsolePage::showEvent(QShowEvent* /*event*/) { m_workbench->refreshJournal(); }

} // namespace assay::ui
