// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/actions.h"

#include <QAction>
#include <QWidget>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/theme/icons.h"
#include "ui/widgets/basics.h"

namespace assay::ui {

Actions::Actions(QWidget* window, Workbench* workbench) : QObject(window), m_window(window), m_workbench(workbench) {
    using namespace action;
    add(openFile, tr("Open a submission, bundle or order…"), tr("Open file…"), "open", QStringLiteral("Ctrl+O"),
        tr("Open a manifest.json, a .assay file or an order.json"));
    add(openFolder, tr("Open a submission folder…"), tr("Open folder…"), "open", QStringLiteral("Ctrl+Shift+O"),
        tr("Open the folder of a submission"));
    add(demoHonest, tr("Try the demo: honest run"), tr("Honest run"), "honest", {},
        tr("Train a small model on this machine as ordered, then replay it on another kernel"));
    add(demoTampered, tr("Try the demo: tampered run"), tr("Tampered run"), "tampered", {},
        tr("The same run with a planted fault: the replay finds it"));
    add(demoCancel, tr("Stop preparing the demo"), tr("Stop"), "stop", {}, tr("Stop preparing the demo; what was made is kept"));
    add(closeAudit, tr("Close the submission"), tr("Close"), "close", QStringLiteral("Ctrl+W"),
        tr("Close the submission; its audit stays in the store"));
    add(chooseOrder, tr("Choose the client's order…"), tr("Choose order…"), "order", {},
        tr("Every value of the audit is taken from the order that the client holds"));
    add(chooseData, tr("Choose the data folder…"), tr("Choose data folder…"), "data", {},
        tr("Where the data files of the order are"));
    add(copyRoot, tr("Copy the root"), tr("Copy root"), "copy", {}, tr("Copy the Merkle root of the submission"));
    add(startReplay, tr("Start the replay"), tr("Start replay"), "play", QStringLiteral("F5"),
        tr("Run the steps again with the log enforced and compare every leaf"));
    add(pauseReplay, tr("Pause the replay"), tr("Pause"), "pause", QStringLiteral("F6"), tr("Pause after the current step"));
    add(resumeReplay, tr("Resume the replay"), tr("Resume"), "resume", QStringLiteral("F7"),
        tr("Go on where the replay stopped; verified steps are kept"));
    add(cancelReplay, tr("Cancel the replay"), tr("Cancel"), "stop", QStringLiteral("Shift+F5"),
        tr("Stop after the current step; what was verified is kept and can be resumed"));
    add(showDivergence, tr("Show the first divergence"), tr("First divergence"), "divergence", QStringLiteral("Ctrl+D"),
        tr("Where the claim and the replay part"));
    add(nextFinding, tr("Next finding"), tr("Next finding"), "next", QStringLiteral("F8"), tr("Go to the step of the next finding"));
    add(previousFinding, tr("Previous finding"), tr("Previous finding"), "back", QStringLiteral("Shift+F8"),
        tr("Go to the step of the previous finding"));
    add(goToStep, tr("Go to step…"), tr("Go to step…"), "search", QStringLiteral("Ctrl+G"), tr("Mark a step in strip, chart and map"));
    add(filter, tr("Filter the list"), tr("Filter"), "filter", QStringLiteral("Ctrl+F"), tr("Put the cursor into the filter of this page"));
    add(goStart, tr("Go to Start"), tr("Start"), "start", QStringLiteral("Ctrl+1"), tr("Recent audits, opening, demo"));
    add(goSubmission, tr("Go to Submission"), tr("Submission"), "submission", QStringLiteral("Ctrl+2"),
        tr("What the trainer claims"));
    add(goReplay, tr("Go to Replay"), tr("Replay"), "replay", QStringLiteral("Ctrl+3"), tr("Run the steps again"));
    add(goConsole, tr("Go to Console"), tr("Console"), "console", QStringLiteral("Ctrl+4"), tr("Engine log, commands, journal"));
    add(copyCommand, tr("Copy the replay as a command"), tr("Copy as command"), "copy", QStringLiteral("Ctrl+Shift+C"),
        tr("The command line that does the same in a terminal"));
    add(themeLight, tr("Light theme"), tr("Light"), "theme", {}, tr("Dark text on light ground"));
    add(themeDark, tr("Dark theme"), tr("Dark"), "theme", {}, tr("Light text on dark ground"));
    add(themeSystem, tr("Theme of the desktop"), tr("System"), "theme", {}, tr("Follow the desktop"));
    add(zoomIn, tr("Larger text"), tr("Larger"), "search", QStringLiteral("Ctrl++"), tr("Larger text everywhere"));
    add(zoomOut, tr("Smaller text"), tr("Smaller"), "search", QStringLiteral("Ctrl+-"), tr("Smaller text everywhere"));
    add(zoomReset, tr("Normal text size"), tr("Normal size"), "search", QStringLiteral("Ctrl+0"), tr("Text size of the desktop"));
    add(resetLayout, tr("Reset the layout"), tr("Reset layout"), "reset", {}, tr("Put all panels back where they were at first"));
    add(action::palette, tr("All commands…"), tr("Commands"), "search", QStringLiteral("Ctrl+Shift+P"), tr("Find a command by its name"));
    add(keySheet, tr("Show all keys"), tr("Keys"), "keyboard", QStringLiteral("?"), tr("All keys on one sheet"));
    add(help, tr("Help"), tr("Help"), "info", QStringLiteral("F1"), tr("How an audit goes and what the words mean"));
    add(quit, tr("Quit"), tr("Quit"), "close", QStringLiteral("Ctrl+Q"), tr("Close the workbench; a running replay can be resumed"));
    for (const char* id : {themeLight, themeDark, themeSystem}) {
        at(id)->setCheckable(true);
    }
}

QAction* Actions::add(const char* id, const QString& text, const QString& shortText, const char* iconName, const QString& shortcut,
                      const QString& tooltip) {
    auto* action = new QAction(icon(QString::fromLatin1(iconName)), text, m_window);
    action->setObjectName(QString::fromLatin1(id));
    action->setIconText(shortText);
    action->setToolTip(tooltip);
    action->setStatusTip(tooltip);
    if (!shortcut.isEmpty()) {
        action->setShortcut(QKeySequence(shortcut));
        action->setShortcutContext(Qt::WindowShortcut);
    }
    m_window->addAction(action);
    m_actions.insert(action->objectName(), action);
    m_order << action;
    return action;
}

QAction* Actions::at(const char* id) const { return m_actions.value(QString::fromLatin1(id)); }

void Actions::onTriggered(const char* id, std::function<void()> call) { connect(at(id), &QAction::triggered, this, std::move(call)); }

void Actions::refresh() {
    using namespace action;
    const auto run = m_workbench->runState();
    const bool running = run == RunState::starting || run == RunState::running;
    const bool busy = running || run == RunState::paused || run == RunState::stopping;
    const bool any = m_workbench->submission() != nullptr;
    const QString nothing = tr("nothing is open");
    const auto set = [&](const char* id, bool enabled, const QString& why) { setActionState(at(id), enabled, why); };
    const QString whyReplay = m_workbench->whyNoReplay();
    set(startReplay, whyReplay.isEmpty(), whyReplay);
    set(pauseReplay, running, run == RunState::paused ? tr("the replay is paused already") : tr("no replay is running"));
    const bool canResume = run == RunState::paused || (run == RunState::interrupted && whyReplay.isEmpty());
    set(resumeReplay, canResume, run == RunState::interrupted ? whyReplay : tr("no replay was paused or interrupted"));
    set(cancelReplay, busy && run != RunState::stopping,
        run == RunState::stopping ? tr("it is stopping already") : tr("no replay is running"));
    const QString whyDemo = m_workbench->whyNoDemo();
    set(demoHonest, whyDemo.isEmpty(), whyDemo);
    set(demoTampered, whyDemo.isEmpty(), whyDemo);
    set(demoCancel, !m_workbench->demoText().isEmpty(), tr("no demo is being prepared"));
    set(closeAudit, any && !busy, busy ? tr("a replay is running") : nothing);
    set(chooseOrder, m_workbench->hasSubmission() && !busy, busy ? tr("a replay is running") : tr("no submission is open"));
    set(chooseData, any && !busy, busy ? tr("a replay is running") : nothing);
    set(openFile, !busy, tr("a replay is running"));
    set(openFolder, !busy, tr("a replay is running"));
    set(copyRoot, m_workbench->hasSubmission(), tr("no submission is open"));
    set(copyCommand, m_workbench->hasSubmission(), tr("no submission is open"));
    set(goSubmission, any, nothing);
    set(goReplay, m_workbench->hasSubmission(), any ? tr("this is an order; a submission is needed") : nothing);
    set(goToStep, any && m_workbench->steps()->total() > 0, nothing);
    set(showDivergence, m_workbench->firstDivergence().has_value(), tr("no divergence is known"));
    const bool findings = !m_workbench->findings().empty();
    set(nextFinding, findings, tr("there are no findings"));
    set(previousFinding, findings, tr("there are no findings"));
}

} // namespace assay::ui
