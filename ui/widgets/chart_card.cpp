// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart_card.h"

#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/data_table.h"

namespace assay::ui {

ChartCard::ChartCard(const QString& title, QWidget* chart, ChartSource* source, QAbstractItemModel* twin, QWidget* parent)
    : Card(title, parent), m_source(source) {
    m_readout = makeLabel({}, "caption", this);
    m_readout->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_readout->hide();
    addHeaderWidget(m_readout);
    m_reduced = makeLabel(tr("reduced"), "caption", this);
    m_reduced->setToolTip(tr("Several values share one screen cell. The largest and smallest are kept; the table and the "
                             "export hold every value."));
    m_reduced->setVisible(source->isReduced());
    addHeaderWidget(m_reduced);
    auto* twinButton = new QToolButton(this);
    twinButton->setCheckable(true);
    twinButton->setIcon(icon(QStringLiteral("table")));
    twinButton->setToolTip(tr("Show the same numbers as a table"));
    twinButton->setAccessibleName(tr("%1 as a table").arg(title));
    addHeaderWidget(twinButton);
    auto* exportButton = new QToolButton(this);
    exportButton->setIcon(icon(QStringLiteral("export")));
    exportButton->setToolTip(tr("Export chart or numbers"));
    exportButton->setAccessibleName(tr("Export %1").arg(title));
    exportButton->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(exportButton);
    for (const char* ending : {"png", "svg", "pdf", "csv"}) {
        const QString kind = QString::fromLatin1(ending);
        menu->addAction(kind == u"csv" ? tr("All numbers as CSV…") : tr("Picture as %1…").arg(kind.toUpper()), this,
                        [this, kind] { exportAs(kind); });
    }
    exportButton->setMenu(menu);
    addHeaderWidget(exportButton);
    setMaximisable(true);
    auto* holder = new QWidget(this);
    m_stack = new QStackedLayout(holder);
    m_stack->addWidget(chart);
    m_table = new DataTable(tr("%1, table").arg(title), twin, holder);
    m_table->setStretchColumn(0);
    m_stack->addWidget(m_table);
    body()->addWidget(holder, 1);
    connect(twinButton, &QToolButton::toggled, this, [this](bool on) { m_stack->setCurrentIndex(on ? 1 : 0); });
    askPath = [this](const QString& suggested) {
        return QFileDialog::getSaveFileName(this, tr("Export"), suggested);
    };
}

void ChartCard::setReadout(const QString& text) {
    m_readout->setText(text);
    m_readout->setVisible(!text.isEmpty());
}

void ChartCard::setReduced(bool reduced) { m_reduced->setVisible(reduced); }

void ChartCard::exportAs(const QString& ending) {
    const QString suggested = m_source->chartTitle().toLower().replace(u' ', u'-') + u'.' + ending;
    const QString path = askPath(suggested);
    if (path.isEmpty()) {
        return;
    }
    const QString problem = exportChart(*m_source, path);
    if (problem.isEmpty()) {
        Q_EMIT exported(tr("Exported to %1").arg(path));
    } else {
        Q_EMIT exportFailed(problem);
    }
}

} // namespace assay::ui
