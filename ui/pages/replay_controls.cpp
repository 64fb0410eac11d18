// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/replay_controls.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/models/audit_words.h"
#include "ui/models/number_text.h"
#include "ui/pages/actions.h"
#include "ui/widgets/basics.h"

namespace assay::ui {

namespace {

QSpinBox* makeSpin(const QString& name, QWidget* parent) {
    auto* spin = new QSpinBox(parent);
    spin->setAccessibleName(name);
    spin->setRange(1, 1);
    spin->setMinimumWidth(64);
    spin->setAlignment(Qt::AlignRight);
    return spin;
}

} // namespace

ReplayControls::ReplayControls(Workbench* workbench, Actions* actions, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_actions(actions) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    auto* row = new QHBoxLayout;
    row->setSpacing(space::s);
    auto* kernelLabel = makeLabel(tr("Kernel"), "secondary", this);
    m_kernel = new QComboBox(this);
    m_kernel->setAccessibleName(tr("Kernel profile of the replay"));
    m_kernel->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_kernel->setMinimumContentsLength(26);
    kernelLabel->setBuddy(m_kernel);
    m_extra = new QLineEdit(this);
    m_extra->setPlaceholderText(tr("options, e.g. threads=2"));
    m_extra->setAccessibleName(tr("Options of the kernel profile"));
    m_extra->setToolTip(tr("reversed, splitk, threads=N: other product orders that real machines could have.\n"
                           "noise=X: adds up to X of the bound to every product, to see the log at work."));
    m_extra->setFixedWidth(170);
    row->addWidget(kernelLabel);
    row->addWidget(m_kernel);
    row->addWidget(m_extra);
    row->addSpacing(space::m);
    m_scope = new SegmentBar(tr("Steps to replay"), {tr("All steps"), tr("Range"), tr("Sample")}, this);
    row->addWidget(m_scope);
    row->addStretch(1);
    m_start = new ActionButton(actions->at(action::startReplay), "primary", this);
    m_resume = new ActionButton(actions->at(action::resumeReplay), "primary", this);
    m_pause = new ActionButton(actions->at(action::pauseReplay), "normal", this);
    m_cancel = new ActionButton(actions->at(action::cancelReplay), "normal", this);
    for (auto* button : {m_resume, m_start, m_pause, m_cancel}) {
        row->addWidget(button);
    }
    layout->addLayout(row);
    auto* below = new QHBoxLayout;
    below->setSpacing(space::m);
    m_bar = new QProgressBar(this);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(220);
    m_bar->setAccessibleName(tr("Progress of the replay"));
    m_progress = makeLabel({}, nullptr, this);
    m_kernelText = makeLabel({}, "caption", this);
    m_ignoreLog = new QCheckBox(tr("Ignore the log (experiment)"), this);
    m_ignoreLog->setToolTip(tr("Replay without the trainer's entries, to see what they are for. Such a replay never ends accepted."));
    below->addWidget(makeScopeFields());
    below->addWidget(m_bar);
    below->addWidget(m_progress);
    below->addWidget(m_kernelText, 1);
    below->addWidget(m_ignoreLog);
    layout->addLayout(below);

    connect(m_scope, &SegmentBar::chosen, this, [this](int index) {
        m_fields->setCurrentIndex(index);
        refreshScope();
        refreshRun();
        refreshKernelText();
    });
    connect(m_kernel, &QComboBox::activated, this, [this] {
        m_kernelChosen = true;
        refreshKernelText();
    });
    connect(m_extra, &QLineEdit::textChanged, this, &ReplayControls::refreshKernelText);
    connect(workbench, &Workbench::kernelsChanged, this, &ReplayControls::refreshKernels);
    connect(workbench, &Workbench::submissionChanged, this, [this] {
        refreshKernels();
        refreshScope();
    });
    connect(workbench, &Workbench::runChanged, this, &ReplayControls::refreshRun);
    connect(workbench, &Workbench::progressChanged, this, &ReplayControls::refreshRun);
    connect(workbench, &Workbench::auditLoaded, this, [this] {
        if (m_workbench->auditId() > 0) {
            setRequest(m_workbench->lastRequest());
        }
    });
    connect(workbench, &Workbench::replayStarted, this, [this] { setRequest(m_workbench->lastRequest()); });
    refreshKernels();
    refreshRun();
}

QWidget* ReplayControls::makeScopeFields() {
    m_fields = new QStackedWidget(this);
    m_fields->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Maximum);
    m_fields->addWidget(new QWidget(m_fields));
    auto* range = new QWidget(m_fields);
    auto* rangeRow = new QHBoxLayout(range);
    rangeRow->setContentsMargins(0, 0, 0, 0);
    rangeRow->setSpacing(space::s);
    m_first = makeSpin(tr("First step"), range);
    m_last = makeSpin(tr("Last step"), range);
    rangeRow->addWidget(makeLabel(tr("Steps"), "secondary", range));
    rangeRow->addWidget(m_first);
    rangeRow->addWidget(makeLabel(tr("to"), "secondary", range));
    rangeRow->addWidget(m_last);
    m_fields->addWidget(range);
    auto* sample = new QWidget(m_fields);
    auto* sampleRow = new QHBoxLayout(sample);
    sampleRow->setContentsMargins(0, 0, 0, 0);
    sampleRow->setSpacing(space::s);
    m_segments = makeSpin(tr("Segments to replay"), sample);
    m_bad = makeSpin(tr("Segments assumed bad"), sample);
    m_segments->setMinimumWidth(96);
    m_segments->setToolTip(tr("Segments lie between checkpoints. Which ones is drawn after the submission was opened, so the trainer "
                              "could not foresee them."));
    m_plan = makeLabel({}, "caption", sample);
    sampleRow->addWidget(m_segments);
    sampleRow->addWidget(makeLabel(tr("segments, drawn by lot; if"), "secondary", sample));
    sampleRow->addWidget(m_bad);
    sampleRow->addWidget(makeLabel(tr("are bad:"), "secondary", sample));
    sampleRow->addWidget(m_plan);
    m_fields->addWidget(sample);
    m_fields->hide();
    for (auto* spin : {m_segments, m_bad}) {
        connect(spin, &QSpinBox::valueChanged, this, &ReplayControls::refreshScope);
    }
    return m_fields;
}

void ReplayControls::refreshKernels() {
    const QString before = m_kernel->currentData().toString();
    m_kernel->clear();
    auto* items = qobject_cast<QStandardItemModel*>(m_kernel->model());
    const auto& kernels = m_workbench->kernels();
    if (kernels.empty()) {
        m_kernel->addItem(tr("asking the engine…"), QString());
    }
    for (const auto& kernel : kernels) {
        m_kernel->addItem(kernel.available ? kernel.label : tr("%1: not on this machine").arg(kernel.label), kernel.profile);
        auto* item = items->item(m_kernel->count() - 1);
        item->setEnabled(kernel.available);
        item->setToolTip(kernel.available ? tr("kernel profile %1").arg(kernel.profile) : kernel.why);
    }
    m_kernel->view()->setMinimumWidth(m_kernel->view()->sizeHintForColumn(0) + 2 * space::l);
    const QString wanted = m_kernelChosen && !before.isEmpty() ? before : m_workbench->defaultKernel();
    m_kernel->setCurrentIndex(std::max(0, m_kernel->findData(wanted)));
    refreshKernelText();
}

void ReplayControls::refreshKernelText() {
    QStringList missing;
    for (const auto& kernel : m_workbench->kernels()) {
        if (!kernel.available) {
            missing << tr("%1: %2").arg(kernel.profile, kernel.why);
        }
    }
    const auto submission = m_workbench->submission();
    const QString trainer = submission && !submission->profiles.empty() ? QString::fromStdString(submission->profiles.front().profile) : QString();
    QString words = trainer.isEmpty() ? QString() : tr("trained under %1, replayed under %2").arg(trainer, request().kernel);
    if (!missing.isEmpty() && !m_bar->isVisibleTo(this) && m_scope->current() == 0) { // where there is room
        words += tr(" · %1 cannot run here").arg(countText(static_cast<std::uint64_t>(missing.size()), tr("profile")));
    }
    m_kernelText->setText(words);
    m_kernelText->setToolTip(missing.join(u'\n') + (missing.isEmpty() ? QString() : QStringLiteral("\n")) +
                             tr("No GPU engine is part of this installation; replays run on the processor."));
}

void ReplayControls::refreshScope() {
    const auto submission = m_workbench->submission();
    const int steps = submission ? static_cast<int>(std::min<std::uint64_t>(submission->steps, 1'000'000'000)) : 1;
    const auto segments = static_cast<int>(std::max<std::uint64_t>(1, m_workbench->segmentsTotal()));
    const bool fresh = m_last->maximum() != std::max(steps, 1);
    m_first->setMaximum(std::max(steps, 1));
    m_last->setMaximum(std::max(steps, 1));
    if (fresh) {
        m_first->setValue(1);
        m_last->setValue(steps);
    }
    m_segments->setMaximum(segments);
    m_bad->setMaximum(segments);
    m_segments->setSuffix(tr(" of %1").arg(segments));
    const auto plan = m_workbench->planFor(static_cast<std::uint64_t>(m_segments->value()), static_cast<std::uint64_t>(m_bad->value()));
    m_plan->setText(tr("found with %1, about %2").arg(shareText(plan.detection), countText(plan.steps, QStringLiteral("step"))));
}

ReplayRequest ReplayControls::request() const {
    ReplayRequest request;
    request.kernel = m_kernel->currentData().toString();
    if (request.kernel.isEmpty()) {
        request.kernel = QStringLiteral("default");
    }
    if (const QString extra = m_extra->text().remove(u' '); !extra.isEmpty()) {
        request.kernel += u',' + extra;
    }
    request.scope = m_scope->current() == 1 ? ReplayScope::range : m_scope->current() == 2 ? ReplayScope::sample : ReplayScope::all;
    request.firstStep = static_cast<std::uint64_t>(std::min(m_first->value(), m_last->value()));
    request.lastStep = static_cast<std::uint64_t>(std::max(m_first->value(), m_last->value()));
    request.segments = static_cast<std::uint64_t>(m_segments->value());
    request.ignoreLog = m_ignoreLog->isChecked();
    return request;
}

void ReplayControls::setRequest(const ReplayRequest& request) {
    const QString core = request.kernel.section(u',', 0, 0);
    if (const int at = m_kernel->findData(core); at >= 0) {
        m_kernel->setCurrentIndex(at);
        m_kernelChosen = true;
        m_extra->setText(request.kernel.section(u',', 1));
    }
    m_scope->setCurrent(request.scope == ReplayScope::range ? 1 : request.scope == ReplayScope::sample ? 2 : 0);
    if (request.scope == ReplayScope::range) {
        m_first->setValue(static_cast<int>(request.firstStep));
        m_last->setValue(static_cast<int>(request.lastStep));
    } else if (request.scope == ReplayScope::sample) {
        m_segments->setValue(static_cast<int>(request.segments));
    }
    m_ignoreLog->setChecked(request.ignoreLog);
    refreshKernelText();
}

QString ReplayControls::progressText(const RunProgress& p) {
    if (p.total == 0) {
        return p.phase;
    }
    if (p.unit != u"steps") {
        return p.unit == u"bytes" ? tr("%1: %2 of %3").arg(p.phase, byteText(p.done), byteText(p.total))
                                  : tr("%1: %2 of %3 %4").arg(p.phase, groupedNumber(p.done), groupedNumber(p.total), p.unit);
    }
    QString text = tr("%1 of %2 steps").arg(groupedNumber(p.done), groupedNumber(p.total));
    if (p.done < p.total) {
        text += tr(", %1 left").arg(groupedNumber(p.total - p.done));
        if (p.etaSeconds >= 0) {
            text += tr(", about %1").arg(durationText(p.etaSeconds));
        }
        if (p.perSecond > 0) {
            text += tr(" (%1 steps/s)").arg(QString::number(p.perSecond, 'g', p.perSecond < 100 ? 2 : 3));
        }
    }
    return text;
}

void ReplayControls::refreshRun() {
    const auto run = m_workbench->runState();
    const bool busy = run == RunState::starting || run == RunState::running || run == RunState::paused || run == RunState::stopping;
    m_start->setVisible(!busy);
    m_start->setKind(run == RunState::idle || run == RunState::failed ? "primary" : "normal"); // afterwards the headline says what is next
    m_pause->setVisible(busy && run != RunState::paused);
    m_cancel->setVisible(busy);
    m_resume->setVisible(run == RunState::paused || run == RunState::interrupted);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_kernel, m_extra, m_scope, m_fields, m_ignoreLog}) {
        widget->setEnabled(!busy);
    }
    const auto& p = m_workbench->progress();
    const bool was = m_bar->isVisibleTo(this);
    m_bar->setVisible(busy);
    m_fields->setVisible(m_scope->current() != 0 && !busy);
    if (was != busy) {
        refreshKernelText();
    }
    m_bar->setRange(0, p.total > 0 ? 1000 : 0);
    m_bar->setValue(p.total > 0 ? static_cast<int>(1000 * p.done / p.total) : 0);
    QString text = busy ? run == RunState::running && p.total > 0 ? progressText(p) : runStateText(run) : QString();
    if (run == RunState::paused && p.total > 0) {
        RunProgress still = p; // no time and no speed while nothing moves
        still.etaSeconds = -1;
        still.perSecond = 0;
        text = tr("%1 after %2").arg(runStateText(run), progressText(still));
    }
    m_progress->setText(text);
    m_progress->setVisible(!text.isEmpty());
    m_bar->setAccessibleDescription(text);
}

} // namespace assay::ui
