// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/replay_page.h"

#include <QDataStream>
#include <QHBoxLayout>
#include <QIODevice>
#include <QLabel>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/charts/heat_map.h"
#include "ui/charts/loss_chart.h"
#include "ui/charts/step_strip.h"
#include "ui/models/audit_words.h"
#include "ui/models/number_text.h"
#include "ui/pages/page_base.h"
#include "ui/pages/replay_controls.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/chart_card.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/divergence_panel.h"

namespace assay::ui {

namespace {

Tone severityTone(const QString& severity) {
    return severity == u"failure" ? Tone::bad : severity == u"warning" ? Tone::doubt : Tone::info;
}

QString valueText(const QString& text, const std::optional<std::uint32_t>& bits) {
    return bits ? floatDecimal(*bits) : text.size() == 64 ? text.left(12) + QChar(0x2026) : text;
}

} // namespace

ReplayPage::ReplayPage(Workbench* workbench, Actions* actions, Selection* selection, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_actions(actions), m_selection(selection), m_stepTable(workbench->steps()),
      m_siteTable(workbench->sites()),
      m_findingModel({tr("Severity"), tr("Step"), tr("What"), tr("Part"), tr("Place"), tr("Claimed"), tr("Computed")}) {
    auto* page = new QVBoxLayout(this);
    page->setContentsMargins(space::l, space::m, space::l, space::m);
    page->setSpacing(space::m);
    page->addWidget(makeRunCard());
    m_main = new QSplitter(Qt::Horizontal, this);
    m_main->setHandleWidth(space::m);
    m_main->setChildrenCollapsible(false);
    m_main->addWidget(makeCharts());
    m_main->addWidget(makeEvidence());
    page->addWidget(m_main, 1);
    resetLayout();

    connect(m_strip, &StepStrip::stepActivated, selection, &Selection::setStep);
    connect(m_loss, &LossChart::stepActivated, selection, &Selection::setStep);
    connect(m_heat, &HeatMap::stepActivated, selection, &Selection::setStep);
    connect(selection, &Selection::stepChanged, this, &ReplayPage::refreshStep);
    connect(workbench->steps(), &StepSeries::changed, this, &ReplayPage::refreshStep);
    connect(workbench, &Workbench::findingsChanged, this, &ReplayPage::refreshFindings);
    connect(workbench, &Workbench::runChanged, this, &ReplayPage::refreshFindings);
    connect(workbench, &Workbench::submissionChanged, this, &ReplayPage::refreshFindings);
    connect(workbench->corrections(), &QAbstractItemModel::rowsInserted, this, &ReplayPage::refreshCorrections);
    connect(workbench->corrections(), &QAbstractItemModel::modelReset, this, &ReplayPage::refreshCorrections);
    refreshFindings();
    refreshStep();
}

QWidget* ReplayPage::makeRunCard() {
    m_runCard = new Card(tr("Replay"), this);
    m_runCard->addHeaderWidget(new StripLegend(m_runCard));
    m_controls = new ReplayControls(m_workbench, m_actions, m_runCard);
    m_runCard->body()->addWidget(m_controls);
    m_strip = new StepStrip(m_runCard);
    m_strip->setSeries(m_workbench->steps());
    m_runCard->body()->addWidget(m_strip);
    m_stepText = makeLabel({}, "caption", m_runCard);
    m_runCard->body()->addWidget(m_stepText);
    m_runCard->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    return m_runCard;
}

QWidget* ReplayPage::makeCharts() {
    m_left = new QSplitter(Qt::Vertical, this);
    m_left->setHandleWidth(space::m);
    m_left->setChildrenCollapsible(false);
    m_loss = new LossChart;
    m_loss->setSeries(m_workbench->steps());
    m_lossCard = new ChartCard(tr("Loss claimed and replayed"), m_loss, m_loss, &m_stepTable, m_left);
    m_heat = new HeatMap;
    m_heat->setMatrix(m_workbench->sites());
    m_heatCard = new ChartCard(tr("Sites by steps"), m_heat, m_heat, &m_siteTable, m_left);
    m_metric = new SegmentBar(tr("What the map shows"),
                              {siteMetricText(SiteMetric::entries), siteMetricText(SiteMetric::corrections), siteMetricText(SiteMetric::offences)},
                              m_heatCard);
    m_heatCard->addHeaderWidget(m_metric);
    m_heatCard->table()->setEmptyText(tr("No site of a replayed step has entries, corrections or offences."));
    m_left->addWidget(m_lossCard);
    m_left->addWidget(m_heatCard);
    connect(m_metric, &SegmentBar::chosen, this, [this](int index) { m_heat->setMetric(static_cast<SiteMetric>(index)); });
    connect(m_loss, &LossChart::readoutChanged, m_lossCard, &ChartCard::setReadout);
    connect(m_loss, &LossChart::reducedChanged, m_lossCard, &ChartCard::setReduced);
    connect(m_heat, &HeatMap::reducedChanged, m_heatCard, &ChartCard::setReduced);
    for (auto* card : {m_lossCard, m_heatCard}) {
        connect(card, &Card::maximiseRequested, this, [this, card](bool on) { maximise(card, on); });
        connect(card, &ChartCard::exported, this, &ReplayPage::notice);
        connect(card, &ChartCard::exportFailed, this, &ReplayPage::failed);
        connect(card->table(), &DataTable::rowActivated, this, [this](const QVariant& id) { m_selection->setStep(id.toULongLong()); });
    }
    return m_left;
}

QWidget* ReplayPage::makeEvidence() {
    m_evidence = new Card(tr("Evidence"), this);
    m_evidence->setMaximisable(true);
    connect(m_evidence, &Card::maximiseRequested, this, [this](bool on) { maximise(m_evidence, on); });
    m_tabs = new QTabWidget(m_evidence);
    m_tabs->setDocumentMode(true);
    auto* scroll = new QScrollArea(m_tabs);
    scroll->setProperty("kind", "plain");
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    m_divergence = new DivergencePanel;
    m_divergence->setProperty("kind", "plain");
    m_divergence->setContentsMargins(0, space::s, 0, 0);
    scroll->setWidget(m_divergence);
    m_tabs->addTab(scroll, tr("First divergence"));
    auto* findings = new DataTable(tr("Findings"), &m_findingModel, m_tabs);
    findings->setStretchColumn(2);
    findings->setWrapping(true);
    findings->setEmptyText(tr("No findings. Every difference between claim and replay appears here."));
    m_tabs->addTab(findings, tr("Findings"));
    auto* corrections = new DataTable(tr("Corrections"), m_workbench->corrections(), m_tabs);
    corrections->setStretchColumn(1);
    corrections->setEmptyText(tr("No corrections. An entry of the log that changes the auditor's own rounding appears here.\n"
                                 "With blocks of 256 terms real kernels may need none."));
    m_tabs->addTab(corrections, tr("Corrections"));
    m_evidence->body()->addWidget(m_tabs, 1);
    for (auto* table : {findings, corrections}) {
        connect(table, &DataTable::rowActivated, this, [this](const QVariant& id) { m_selection->setStep(id.toULongLong()); });
    }
    return m_evidence;
}

ReplayRequest ReplayPage::request() const { return m_controls->request(); }

void ReplayPage::showDivergence() {
    m_tabs->setCurrentIndex(0);
    if (const auto divergence = m_workbench->firstDivergence(); divergence && divergence->step && *divergence->step > 0) {
        m_selection->setStep(*divergence->step);
    }
}

void ReplayPage::showTab(const QString& name) {
    const QStringList names{QStringLiteral("divergence"), QStringLiteral("findings"), QStringLiteral("corrections")};
    if (const auto at = names.indexOf(name); at >= 0) {
        m_tabs->setCurrentIndex(static_cast<int>(at));
    }
}

void ReplayPage::setMetric(SiteMetric metric) { m_metric->setCurrent(static_cast<int>(metric)); }

void ReplayPage::goToFinding(int direction) {
    const auto& findings = m_workbench->findings();
    if (findings.empty()) {
        return;
    }
    const int count = static_cast<int>(findings.size());
    m_finding = (m_finding + direction + count) % count;
    m_tabs->setCurrentIndex(1);
    if (const auto& finding = findings[static_cast<std::size_t>(m_finding)]; finding.step && *finding.step > 0) {
        m_selection->setStep(*finding.step);
    }
}

void ReplayPage::refreshFindings() {
    std::vector<TableRow> rows;
    for (const auto& finding : m_workbench->findings()) {
        const QString place = !finding.site.isEmpty() ? finding.site : !finding.tensor.isEmpty() ? finding.tensor : finding.operatorName;
        TableRow row;
        row.cells = {toneCell(severityTone(finding.severity), finding.severity),
                     finding.step ? numberCell(*finding.step) : textCell(QStringLiteral("–")), textCell(finding.text),
                     textCell(finding.part.isEmpty() ? QStringLiteral("–") : partText(finding.part)),
                     textCell(place.isEmpty() ? QStringLiteral("–")
                              : finding.element ? tr("%1, element %2").arg(place, groupedNumber(*finding.element))
                                                : place),
                     textCell(valueText(finding.claimed, finding.claimedBits), finding.claimed),
                     textCell(valueText(finding.computed, finding.computedBits), finding.computed)};
        if (finding.step) {
            row.id = QVariant::fromValue(static_cast<qulonglong>(*finding.step));
        }
        rows.push_back(std::move(row));
    }
    const auto count = rows.size();
    m_findingModel.setRows(std::move(rows));
    m_tabs->setTabText(1, count == 0 ? tr("Findings") : tr("Findings (%1)").arg(count));
    m_finding = -1;
    QString title;
    QString words;
    switch (m_workbench->runState()) {
    case RunState::finished:
        title = tr("No divergence");
        words = tr("Every replayed step gave the leaf that the trainer committed to: batch, learning rate, loss, log and the whole "
                   "training state, bit for bit.");
        if (m_workbench->report() && m_workbench->report()->verdict != audit::Verdict::accepted) {
            words = tr("No difference was found in what was compared; the headline says what is missing.");
        }
        break;
    case RunState::running:
    case RunState::starting:
    case RunState::paused:
    case RunState::stopping:
        title = tr("None so far");
        words = tr("The first step whose leaf differs from the claim will be shown here, down to the bits that are known.");
        break;
    default:
        if (const auto done = m_workbench->steps()->replayed(); done > 0) {
            title = tr("None in what was replayed");
            words = done == 1 ? tr("One step was replayed and gave the leaf that the trainer committed to. The others are still open.")
                              : tr("%1 were replayed, and each gave the leaf that the trainer committed to. The others are still open.")
                                    .arg(countText(done, tr("step")));
            break;
        }
        title = tr("Nothing was replayed yet");
        words = tr("If a step differs from the claim, this panel names it: step, part, tensor, site and element as far as the evidence "
                   "goes, and both values as decimal, hex and bits.");
    }
    auto divergence = m_workbench->firstDivergence();
    if (divergence) {
        divergence->text.clear(); // the headline above says it in one sentence
    }
    m_divergence->setFinding(divergence, title, words);
}

void ReplayPage::refreshCorrections() {
    const auto count = m_workbench->totalCorrections();
    m_tabs->setTabText(2, count == 0 ? tr("Corrections") : tr("Corrections (%1)").arg(groupedNumber(count)));
}

void ReplayPage::refreshStep() {
    const auto step = m_selection->step();
    auto* series = m_workbench->steps();
    m_strip->setCursorStep(step);
    m_loss->setCursorStep(step <= series->total() ? step : 0);
    m_heat->setCursorStep(step <= series->total() ? step : 0);
    if (step == 0 || step > series->total()) {
        m_stepText->setText(series->total() == 0 ? QString()
                                                 : tr("%1 of %2 replayed, %3 mismatched. Click a cell to look at one step.")
                                                       .arg(groupedNumber(series->replayed()), countText(series->total(), QStringLiteral("step")),
                                                            groupedNumber(series->mismatched())));
        refreshCorrections();
        return;
    }
    const auto& cell = series->at(step);
    QString words = tr("Step %1: %2").arg(groupedNumber(step), stepStateText(cell.state));
    if (cell.checkpoint) {
        words += tr(", checkpoint");
    }
    if (cell.hasClaimed) {
        words += tr(" · loss claimed %1").arg(exactDecimal(cell.lossClaimed));
    }
    if (cell.hasReplayed) {
        words += tr(", replayed %1 · %2, %3, log %4, %5")
                     .arg(exactDecimal(cell.lossReplayed), cell.entries == 1 ? tr("1 entry") : tr("%1 entries").arg(groupedNumber(cell.entries)),
                          countText(cell.corrections, tr("correction")), byteText(cell.logBytes), durationText(cell.seconds));
    }
    if (cell.offences > 0) {
        words += tr(" · %1").arg(countText(cell.offences, tr("offence")));
    }
    m_stepText->setText(words);
    refreshCorrections();
}

void ReplayPage::maximise(Card* card, bool on) {
    m_maximised = on ? card : nullptr;
    card->setMaximised(on);
    m_runCard->setVisible(!on);
    for (Card* other : {static_cast<Card*>(m_lossCard), static_cast<Card*>(m_heatCard), m_evidence}) {
        other->setVisible(!on || other == card);
    }
    m_left->setVisible(!on || card != m_evidence);
}

bool ReplayPage::restorePanel() {
    if (m_maximised == nullptr) {
        return false;
    }
    maximise(m_maximised, false);
    return true;
}

void ReplayPage::resetLayout() {
    restorePanel();
    m_main->setSizes({600, 480});
    m_main->setStretchFactor(0, 5);
    m_main->setStretchFactor(1, 4);
    m_left->setSizes({180, 230});
}

QByteArray ReplayPage::saveLayout() const {
    QByteArray out;
    QDataStream stream(&out, QIODevice::WriteOnly);
    stream << m_main->saveState() << m_left->saveState();
    return out;
}

void ReplayPage::restoreLayout(const QByteArray& state) {
    QByteArray main;
    QByteArray left;
    QDataStream stream(state);
    stream >> main >> left;
    if (stream.status() == QDataStream::Ok && !main.isEmpty()) {
        m_main->restoreState(main);
        m_left->restoreState(left);
    }
}

} // namespace assay::ui
