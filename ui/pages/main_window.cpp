// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/main_window.h"

#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/dialogs/command_palette.h"
#include "ui/models/action_ids.h"
#include "ui/models/number_text.h"
#include "ui/pages/actions.h"
#include "ui/pages/console_page.h"
#include "ui/pages/page_base.h"
#include "ui/pages/replay_page.h"
#include "ui/pages/start_page.h"
#include "ui/pages/submission_page.h"
#include "ui/theme/icons.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/hash_label.h"
#include "ui/widgets/message_bar.h"
#include "ui/widgets/verdict_banner.h"

namespace assay::ui {

namespace {

constexpr const char* kPageActions[] = {action::goStart, action::goSubmission, action::goReplay, action::goConsole};

/// Actions that the replay page itself offers: one button for one action.
bool offeredBelow(const QString& id) {
    return id == QLatin1String(action::startReplay) || id == QLatin1String(action::resumeReplay) || id == QLatin1String(action::goReplay);
}

} // namespace

MainWindow::MainWindow(Workbench* workbench, bool persistent, QWidget* parent)
    : QMainWindow(parent), m_workbench(workbench), m_persistent(persistent) {
    setWindowTitle(tr("Assay workbench"));
    setWindowIcon(QIcon(QStringLiteral(":/icons/assay-workbench.svg")));
    setAcceptDrops(true);
    resize(1366, 768);
    setMinimumSize(1024, 640);
    m_selection = new Selection(this);
    m_actions = new Actions(this, workbench);
    askPath = [this](const QString& title, bool folder) {
        return folder ? QFileDialog::getExistingDirectory(this, title)
                      : QFileDialog::getOpenFileName(this, title, {}, tr("Submissions and orders (*.assay *.json);;All files (*)"));
    };
    auto* central = new QWidget(this);
    auto* columns = new QHBoxLayout(central);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(0);
    columns->addWidget(makeRail());
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    m_message = new MessageBar(central);
    auto* messageRow = new QHBoxLayout;
    messageRow->setContentsMargins(space::l, 0, space::l, 0);
    messageRow->addWidget(m_message);
    column->addLayout(messageRow);
    m_stack = new QStackedWidget(central);
    m_start = new StartPage(workbench, m_actions, m_stack);
    m_submissionPage = new SubmissionPage(workbench, m_actions, m_stack);
    m_replay = new ReplayPage(workbench, m_actions, m_selection, m_stack);
    m_console = new ConsolePage(workbench, m_actions, m_stack);
    for (QWidget* page : std::initializer_list<QWidget*>{m_start, m_submissionPage, m_replay, m_console}) {
        m_stack->addWidget(page);
    }
    column->addWidget(m_stack, 1);
    columns->addLayout(column, 1);
    setCentralWidget(central);
    m_storeLabel = makeLabel({}, "caption", this);
    statusBar()->setSizeGripEnabled(false);
    m_storeLabel->setContentsMargins(0, 0, space::l, 0);
    statusBar()->addPermanentWidget(m_storeLabel);
    wireActions();
    wireWorkbench();
    const auto say = [this](const QString& text) { statusBar()->showMessage(text, 6000); };
    connect(m_submissionPage, &SubmissionPage::notice, this, say);
    connect(m_replay, &ReplayPage::notice, this, say);
    connect(m_console, &ConsolePage::notice, this, say);
    connect(m_replay, &ReplayPage::failed, this, [this](const QString& text) { m_message->showMessage(Tone::bad, tr("The export failed"), text); });
    connect(&Theme::instance(), &Theme::changed, this, &MainWindow::refreshTheme);
    if (m_persistent) {
        QSettings settings;
        restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
        m_replay->restoreLayout(settings.value(QStringLiteral("window/replay")).toByteArray());
    }
    refreshHeader();
    refreshTheme();
    showPage(startPage);
}

MainWindow::~MainWindow() = default;

QWidget* MainWindow::makeRail() {
    auto* rail = new QFrame(this);
    rail->setProperty("kind", "rail");
    auto* layout = new QVBoxLayout(rail);
    layout->setContentsMargins(space::s, space::m, space::s, space::m);
    layout->setSpacing(space::xs);
    auto* logo = new QLabel(rail);
    logo->setPixmap(QIcon(QStringLiteral(":/icons/assay-workbench.svg")).pixmap(QSize(36, 36), devicePixelRatioF()));
    logo->setAccessibleName(tr("Assay"));
    layout->addWidget(logo, 0, Qt::AlignHCenter);
    layout->addSpacing(space::m);
    const auto makeButton = [&](QAction* target) {
        auto* button = new QToolButton(rail);
        button->setProperty("kind", "rail");
        button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
        button->setIconSize({24, 24});
        button->setFocusPolicy(Qt::TabFocus); // a click does not leave a focus ring behind
        button->setDefaultAction(target);
        button->setAccessibleName(target->iconText());
        layout->addWidget(button); // as wide as the rail
        return button;
    };
    for (const char* id : kPageActions) {
        auto* target = m_actions->at(id);
        target->setCheckable(true);
        m_rail << makeButton(target);
    }
    layout->addStretch(1);
    makeButton(m_actions->at(action::palette));
    auto* more = new QToolButton(rail);
    more->setProperty("kind", "rail");
    more->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    more->setIconSize({24, 24});
    more->setFocusPolicy(Qt::TabFocus);
    more->setIcon(icon(QStringLiteral("theme")));
    more->setText(tr("View"));
    more->setToolTip(tr("Theme, text size, layout, keys, help"));
    more->setAccessibleName(tr("View"));
    more->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(more);
    for (const char* id : {action::themeSystem, action::themeLight, action::themeDark}) {
        menu->addAction(m_actions->at(id));
    }
    menu->addSeparator();
    for (const char* id : {action::zoomIn, action::zoomOut, action::zoomReset, action::resetLayout}) {
        menu->addAction(m_actions->at(id));
    }
    menu->addSeparator();
    for (const char* id : {action::keySheet, action::help, action::quit}) {
        menu->addAction(m_actions->at(id));
    }
    more->setMenu(menu);
    layout->addWidget(more);
    for (auto* button : rail->findChildren<QToolButton*>()) {
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }
    const auto fit = [rail] { // the name of the page that is shown is bold: the rail keeps the width of the widest bold name
        QFont bold = Theme::instance().captionFont();
        bold.setWeight(QFont::DemiBold);
        int widest = 0;
        for (const auto* button : rail->findChildren<QToolButton*>()) {
            widest = std::max(widest, QFontMetrics(bold).horizontalAdvance(button->text()));
        }
        rail->setFixedWidth(std::max(widest + space::m, 72) + 2 * space::s);
    };
    fit();
    connect(&Theme::instance(), &Theme::changed, rail, fit);
    return rail;
}

QWidget* MainWindow::makeHeader() {
    m_header = new QWidget(this);
    auto* layout = new QVBoxLayout(m_header);
    layout->setContentsMargins(space::l, space::m, space::l, 0);
    layout->setSpacing(space::s);
    auto* row = new QHBoxLayout;
    row->setSpacing(space::m);
    m_title = makeLabel({}, "title", m_header);
    m_path = makeLabel({}, "caption", m_header);
    m_path->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_path->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_rootLabel = makeLabel(tr("Root"), "caption", m_header);
    m_root = new HashLabel(m_header);
    m_root->setHash({}, tr("Root"));
    row->addWidget(m_title);
    row->addWidget(m_path, 1);
    row->addWidget(m_rootLabel);
    row->addWidget(m_root);
    layout->addLayout(row);
    m_banner = new VerdictBanner(m_header);
    layout->addWidget(m_banner);
    connect(m_banner, &VerdictBanner::nextActionTriggered, this, [this](const QString& id) {
        if (auto* target = m_actions->at(id)) {
            target->trigger();
        }
    });
    return m_header;
}

void MainWindow::wireActions() {
    using namespace action;
    const auto on = [this](const char* id, std::function<void()> call) { m_actions->onTriggered(id, std::move(call)); };
    on(openFile, [this] { openPath(false); });
    on(openFolder, [this] { openPath(true); });
    on(demoHonest, [this] { m_workbench->tryDemo(DemoKind::honest); });
    on(demoTampered, [this] { m_workbench->tryDemo(DemoKind::tampered); });
    on(demoCancel, [this] { m_workbench->cancelDemo(); });
    on(closeAudit, [this] {
        m_workbench->close();
        showPage(startPage);
    });
    on(chooseOrder, [this] {
        if (const QString path = askPath(tr("The client's order"), false); !path.isEmpty()) {
            m_workbench->setClientOrder(path);
        }
    });
    on(chooseData, [this] {
        if (const QString path = askPath(tr("Folder with the data"), true); !path.isEmpty()) {
            m_workbench->setDataFolder(path);
        }
    });
    on(copyRoot, [this] {
        QApplication::clipboard()->setText(m_root->hash());
        statusBar()->showMessage(tr("Root copied"), 3000);
    });
    on(startReplay, [this] {
        showPage(replayPage);
        m_workbench->startReplay(m_replay->request());
    });
    on(pauseReplay, [this] { m_workbench->pauseReplay(); });
    on(resumeReplay, [this] {
        showPage(replayPage);
        m_workbench->resumeReplay();
    });
    on(cancelReplay, [this] { m_workbench->cancelReplay(); });
    on(showDivergence, [this] {
        showPage(replayPage);
        m_replay->showDivergence();
    });
    on(nextFinding, [this] {
        showPage(replayPage);
        m_replay->goToFinding(1);
    });
    on(previousFinding, [this] {
        showPage(replayPage);
        m_replay->goToFinding(-1);
    });
    on(action::goToStep, [this] { goToStep(); });
    on(action::filter, [this] {
        if (currentPage() == consolePage) {
            m_console->focusFilter();
        } else if (m_workbench->submission()) {
            showPage(submissionPage);
            m_submissionPage->focusFilter();
        }
    });
    for (int i = 0; i < 4; ++i) {
        on(kPageActions[i], [this, i] { showPage(static_cast<Page>(i)); });
    }
    on(copyCommand, [this] {
        QApplication::clipboard()->setText(m_workbench->commandFor(m_replay->request()));
        statusBar()->showMessage(tr("Copied: %1").arg(m_workbench->commandFor(m_replay->request())), 6000);
    });
    const auto theme = [this](ThemeChoice choice) {
        Theme::instance().apply(choice);
        if (m_persistent) {
            QSettings().setValue(QStringLiteral("view/theme"), static_cast<int>(choice));
        }
    };
    on(themeLight, [theme] { theme(ThemeChoice::light); });
    on(themeDark, [theme] { theme(ThemeChoice::dark); });
    on(themeSystem, [theme] { theme(ThemeChoice::system); });
    const auto zoom = [this](double factor) {
        Theme::instance().setZoom(factor == 0 ? 1.0 : Theme::instance().zoom() * factor);
        if (m_persistent) {
            QSettings().setValue(QStringLiteral("view/zoom"), Theme::instance().zoom());
        }
    };
    on(zoomIn, [zoom] { zoom(1.1); });
    on(zoomOut, [zoom] { zoom(1 / 1.1); });
    on(zoomReset, [zoom] { zoom(0); });
    on(action::resetLayout, [this] { m_replay->resetLayout(); });
    on(action::palette, [this] { openDialog(QStringLiteral("palette"), true); });
    on(keySheet, [this] { openDialog(QStringLiteral("keys"), true); });
    on(help, [this] { openDialog(QStringLiteral("help"), true); });
    on(quit, [this] { close(); });
}

void MainWindow::wireWorkbench() {
    connect(m_workbench, &Workbench::submissionChanged, this, &MainWindow::refreshHeader);
    connect(m_workbench, &Workbench::verdictChanged, this, &MainWindow::refreshHeader);
    for (auto signal : {&Workbench::runChanged, &Workbench::submissionChanged, &Workbench::findingsChanged, &Workbench::demoChanged,
                        &Workbench::verdictChanged}) {
        connect(m_workbench, signal, m_actions, &Actions::refresh);
    }
    connect(m_workbench, &Workbench::problem, this, [this](const QString& title, const QString& text, const QString& remedy) {
        m_message->showMessage(Tone::doubt, title, text, remedy);
    });
    connect(m_workbench, &Workbench::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 6000); });
    connect(m_workbench, &Workbench::auditLoaded, this, [this] {
        m_message->hide();
        if (currentPage() == startPage) { // an opened submission shows itself; a read-back audit its replay
            showPage(m_workbench->runState() == RunState::idle ? submissionPage : replayPage);
        }
    });
    connect(m_workbench, &Workbench::replayStarted, this, [this] {
        m_message->hide();
        m_selection->setStep(0);
        showPage(replayPage);
    });
    connect(m_workbench, &Workbench::findingsChanged, this, [this] {
        if (m_workbench->runState() == RunState::finished && m_workbench->firstDivergence()) {
            m_replay->showDivergence();
        }
    });
    connect(m_workbench, &Workbench::storeOpened, this, [this] {
        m_storeLabel->setText(tr("Audits are kept in %1").arg(m_workbench->storePath()));
    });
    m_actions->refresh();
}

void MainWindow::refreshHeader() {
    const auto submission = m_workbench->submission();
    m_header->setVisible(submission != nullptr);
    if (!submission) {
        setWindowTitle(tr("Assay workbench"));
        return;
    }
    VerdictText verdict = m_workbench->verdict();
    if (currentPage() == replayPage && offeredBelow(verdict.nextActionId)) {
        verdict.nextLabel.clear();
    }
    m_banner->setVerdict(verdict);
    m_title->setText(submission->title);
    m_path->setText(QFontMetrics(m_path->font()).elidedText(submission->path, Qt::ElideMiddle, 560));
    m_path->setToolTip(submission->path);
    m_root->setVisible(!submission->orderOnly);
    m_rootLabel->setVisible(!submission->orderOnly);
    m_root->setHash(submission->root, tr("Root"));
    setWindowTitle(tr("%1: %2 – Assay workbench").arg(m_workbench->verdict().headline, submission->title));
}

void MainWindow::refreshTheme() {
    const auto choice = Theme::instance().choice();
    m_actions->at(action::themeLight)->setChecked(choice == ThemeChoice::light);
    m_actions->at(action::themeDark)->setChecked(choice == ThemeChoice::dark);
    m_actions->at(action::themeSystem)->setChecked(choice == ThemeChoice::system);
}

void MainWindow::showPage(Page page) {
    if ((page == submissionPage || page == replayPage) && !m_workbench->submission()) {
        page = startPage;
    }
    // The stack hands the focus to some widget of the new page, where a ring would point at nothing in particular. The page itself
    // takes it, unless somebody walks the rail with the keyboard.
    const bool another = m_stack->currentIndex() != page;
    const bool walking = focusWidget() == m_rail[page];
    m_stack->setCurrentIndex(page);
    for (int i = 0; i < 4; ++i) {
        m_actions->at(kPageActions[i])->setChecked(i == page);
    }
    refreshHeader();
    if ((another || focusWidget() == nullptr) && !walking) {
        m_stack->currentWidget()->setFocus(Qt::OtherFocusReason);
    }
}

MainWindow::Page MainWindow::currentPage() const { return static_cast<Page>(m_stack->currentIndex()); }

QStringList MainWindow::viewNames() {
    return {QStringLiteral("start"),           QStringLiteral("submission"),      QStringLiteral("submission-logs"),
            QStringLiteral("submission-program"), QStringLiteral("submission-data"), QStringLiteral("replay"),
            QStringLiteral("replay-findings"), QStringLiteral("replay-corrections"), QStringLiteral("console"),
            QStringLiteral("console-commands"), QStringLiteral("console-journal"), QStringLiteral("palette"),
            QStringLiteral("keys"),            QStringLiteral("help")};
}

bool MainWindow::showView(const QString& view) {
    if (!viewNames().contains(view)) {
        return false;
    }
    const QString page = view.section(u'-', 0, 0);
    const QString part = view.section(u'-', 1, 1);
    if (page == u"submission") {
        showPage(submissionPage);
        m_submissionPage->showTab(part.isEmpty() ? QStringLiteral("overview") : part);
    } else if (page == u"replay") {
        showPage(replayPage);
        m_replay->showTab(part.isEmpty() ? QStringLiteral("divergence") : part);
        if (part == u"corrections") {
            m_replay->setMetric(SiteMetric::corrections);
        }
    } else if (page == u"console") {
        showPage(consolePage);
        m_console->showTab(part == u"commands" ? 1 : part == u"journal" ? 2 : 0);
    } else if (page == u"start") {
        showPage(startPage);
    } else {
        openDialog(page, false);
    }
    return true;
}

QWidget* MainWindow::openDialog(const QString& name, bool block) {
    QDialog* dialog = nullptr;
    if (name == u"palette") {
        dialog = new CommandPalette(m_actions->all(), this);
    } else if (name == u"keys") {
        dialog = new KeySheet(m_actions->all(), this);
    } else {
        dialog = new HelpDialog(this);
    }
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setModal(block);
    dialog->open();
    return dialog;
}

void MainWindow::goToStep() {
    const auto total = m_workbench->steps()->total();
    bool ok = false;
    const int step = QInputDialog::getInt(this, tr("Go to step"), tr("Step (1 to %1)").arg(groupedNumber(total)),
                                          static_cast<int>(std::max<std::uint64_t>(m_selection->step(), 1)), 1, static_cast<int>(total), 1, &ok);
    if (ok) {
        showPage(replayPage);
        m_selection->setStep(static_cast<std::uint64_t>(step));
    }
}

void MainWindow::openPath(bool folder) {
    const QString path = askPath(folder ? tr("Open a submission folder") : tr("Open a submission, bundle or order"), folder);
    if (!path.isEmpty()) {
        openHere(path);
    }
}

void MainWindow::openHere(const QString& path) {
    if (!m_workbench->isBusy()) { // while a replay runs its page stays; the workbench says why
        showPage(startPage);
    }
    m_workbench->open(path);
}

void MainWindow::restoreSession() {
    QSettings settings;
    const QString last = settings.value(QStringLiteral("session/submission")).toString();
    if (!last.isEmpty() && QFileInfo::exists(last)) {
        m_workbench->open(last);
    }
}

void MainWindow::saveSession() {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/replay"), m_replay->saveLayout());
    settings.setValue(QStringLiteral("session/submission"), m_workbench->submission() ? m_workbench->submission()->path : QString());
}

bool MainWindow::event(QEvent* event) {
    const bool done = QMainWindow::event(event);
    if (event->type() == QEvent::Paint && !m_painted) {
        m_painted = true;
        QMetaObject::invokeMethod(this, &MainWindow::firstPaint, Qt::QueuedConnection);
    }
    return done;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_persistent) {
        saveSession();
    }
    event->accept();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && m_replay->restorePanel()) {
        return;
    }
    QMainWindow::keyPressEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().size() == 1 && event->mimeData()->urls()[0].isLocalFile()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    openHere(event->mimeData()->urls()[0].toLocalFile());
}

} // namespace assay::ui
