// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the real engine and command line: demo, replay, pause, cancel, resume, crash, restart, pictures.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <QAction>
#include <QDir>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/pages/actions.h"
#include "ui/pages/main_window.h"
#include "ui/pages/screenshot.h"
#include "ui/theme/theme.h"
#include "ui/widgets/verdict_banner.h"

using namespace assay;
using namespace assay::ui;

class EngineTest : public QObject {
    Q_OBJECT

    static constexpr int kLong = 120'000;
    QTemporaryDir m_folder;

    [[nodiscard]] Workbench::Options options() const { return {m_folder.filePath(QStringLiteral("audits.sqlite")), m_folder.filePath(QStringLiteral("demo"))}; }
    [[nodiscard]] QString honest() const { return m_folder.filePath(QStringLiteral("demo/honest")); }
    [[nodiscard]] QString order() const { return m_folder.filePath(QStringLiteral("demo/order/order.json")); }

    /// A submission that no audit in the store knows.
    [[nodiscard]] QString copyOf(const QString& folder, const QString& name) const {
        const QString to = m_folder.filePath(name);
        std::filesystem::copy(folder.toStdString(), to.toStdString(), std::filesystem::copy_options::recursive);
        return to;
    }
    static void prepare(Workbench& workbench) {
        QSignalSpy kernels(&workbench, &Workbench::kernelsChanged);
        workbench.askKernels();
        QTRY_VERIFY_WITH_TIMEOUT(!kernels.isEmpty(), kLong);
    }
    void openHonest(Workbench& workbench) const {
        workbench.openWith({honest(), order(), {}});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
    }

private Q_SLOTS:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("assay-test"));
        QCoreApplication::setApplicationName(QStringLiteral("engine-test"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
        Theme::instance().apply(ThemeChoice::light);
        if (findProgram(QStringLiteral("assay-engine")).isEmpty() || findProgram(QStringLiteral("assay")).isEmpty()) {
            QSKIP("assay and assay-engine are not built beside this test");
        }
    }

    void kernelsAreListedWithReasons() {
        Workbench workbench(options());
        prepare(workbench);
        QVERIFY(workbench.kernels().size() >= 4);
        int available = 0;
        for (const auto& kernel : workbench.kernels()) {
            available += kernel.available ? 1 : 0;
            QVERIFY2(kernel.available || !kernel.why.isEmpty(), qPrintable(kernel.profile));
        }
        QVERIFY(available >= 1);
    }

    void theHonestDemoIsAccepted() {
        Workbench workbench(options());
        MainWindow window(&workbench, false);
        window.show();
        prepare(workbench);
        QSignalSpy problems(&workbench, &Workbench::problem);
        window.actions()->at(action::demoHonest)->trigger();
        QVERIFY(!window.actions()->at(action::demoTampered)->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(workbench.runState() == RunState::finished || !problems.isEmpty(), kLong);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.value(0).value(1).toString()));
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
        QCOMPARE(workbench.verdict().tone, Tone::good);
        QCOMPARE(workbench.steps()->replayed(), workbench.steps()->total());
        QCOMPARE(workbench.steps()->mismatched(), 0u);
        QCOMPARE(window.currentPage(), MainWindow::replayPage);
        QVERIFY(workbench.sites()->rows().size() > 10);
        QCOMPARE(workbench.sites()->knownSteps(), workbench.steps()->total());
        QVERIFY(workbench.totalEntries() > 0);
        QCOMPARE(workbench.totalEntries(), workbench.report()->entries); // chart, table and report agree
        QVERIFY(!workbench.firstDivergence());
        for (const auto& check : workbench.checks()) {
            QVERIFY2(check.state == CheckState::passed, qPrintable(check.name + u' ' + check.detail));
        }
    }

    void theTamperedDemoIsRejectedAtItsStep() {
        Workbench workbench(options());
        MainWindow window(&workbench, false);
        window.show();
        prepare(workbench);
        QSignalSpy problems(&workbench, &Workbench::problem);
        window.actions()->at(action::demoTampered)->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(workbench.runState() == RunState::finished || !problems.isEmpty(), kLong);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.value(0).value(1).toString()));
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Rejected"));
        QCOMPARE(workbench.verdict().tone, Tone::bad);
        const auto divergence = workbench.firstDivergence();
        QVERIFY(divergence);
        QCOMPARE(divergence->step.value(), 16u);
        QCOMPARE(workbench.steps()->firstMismatch(), 16u);
        QVERIFY(divergence->element && divergence->claimedBits && divergence->computedBits); // down to the bits: the step has a checkpoint
        QCOMPARE(workbench.verdict().nextActionId, QString::fromLatin1(action::showDivergence));
    }

    void withoutTheClientsOrderItIsInconclusive() {
        Workbench workbench(options());
        prepare(workbench);
        QSettings().clear(); // an order chosen before would be remembered, as would one of an earlier audit of the same submission
        workbench.openWith({copyOf(honest(), QStringLiteral("no-order")), {}, m_folder.filePath(QStringLiteral("demo/order"))});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QVERIFY(workbench.submission()->clientOrderPath.isEmpty());
        ReplayRequest request;
        request.kernel = workbench.defaultKernel();
        request.scope = ReplayScope::range;
        request.firstStep = 1;
        request.lastStep = 2;
        workbench.startReplay(request);
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Inconclusive"));
        QCOMPARE(workbench.verdict().nextActionId, QString::fromLatin1(action::chooseOrder));
        QCOMPARE(workbench.steps()->replayed(), 2u);
        QVERIFY(workbench.verdict().scope.contains(QStringLiteral("steps 1 to 2")));
    }

    void aCancelledReplayIsResumedAfterARestart() {
        std::uint64_t done = 0;
        {
            Workbench workbench(options());
            prepare(workbench);
            openHonest(workbench);
            ReplayRequest request;
            request.kernel = workbench.defaultKernel() + QStringLiteral(",threads=1");
            workbench.startReplay(request);
            QTRY_VERIFY_WITH_TIMEOUT(workbench.steps()->replayed() >= 2, kLong);
            workbench.pauseReplay();
            QCOMPARE(workbench.runState(), RunState::paused);
            workbench.cancelReplay();
            QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::interrupted, kLong);
            done = workbench.steps()->replayed();
            QVERIFY(done < workbench.steps()->total());
            QCOMPARE(workbench.verdict().tone, Tone::neutral);
        }
        Workbench workbench(options());
        prepare(workbench);
        openHonest(workbench);
        QCOMPARE(workbench.runState(), RunState::interrupted);
        QVERIFY(workbench.steps()->replayed() >= done);
        QCOMPARE(workbench.verdict().nextActionId, QString::fromLatin1(action::resumeReplay));
        workbench.resumeReplay();
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
        QCOMPARE(workbench.steps()->replayed(), workbench.steps()->total());
        QCOMPARE(workbench.totalEntries(), workbench.report()->entries);
    }

    void openingSaysWhatItCheckedAndNoMore() {
        Workbench workbench(options());
        prepare(workbench);
        MainWindow window(&workbench, false);
        QSettings().clear();
        const QString fresh = copyOf(honest(), QStringLiteral("unchecked"));
        workbench.openWith({fresh, order(), {}});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QCOMPARE(workbench.check(QStringLiteral("signature")).state, CheckState::passed);
        QCOMPARE(workbench.check(QStringLiteral("order")).state, CheckState::passed);
        for (const char* later : {"files", "merkle", "initial_state", "data", "replay", "final_checkpoint"}) {
            QCOMPARE(workbench.check(QString::fromLatin1(later)).state, CheckState::notChecked);
        }
        QCOMPARE(workbench.verdict().tone, Tone::neutral);
        const auto& keys = workbench.submission()->trainerKeys;
        QCOMPARE(keys.size(), 1u);
        QVERIFY(workbench.check(QStringLiteral("signature")).detail.contains(keys[0].id.left(16)));
        // Table, pills and header use the same words.
        window.show();
        window.showView(QStringLiteral("submission"));
        int passed = 0;
        for (const auto* widget : window.findChildren<QWidget*>()) {
            passed += dynamic_cast<const StatusPill*>(widget) != nullptr && widget->accessibleName() == u"passed" ? 1 : 0;
        }
        QCOMPARE(passed, 2);
        QVERIFY(workbench.logs().names.size() > 10); // sites have names before a replay
        // Without the client's order nothing is known, and the next action is the one that can be done.
        workbench.close();
        workbench.openWith({fresh, {}, {}});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QCOMPARE(workbench.check(QStringLiteral("signature")).state, CheckState::notChecked);
        QCOMPARE(workbench.check(QStringLiteral("order")).state, CheckState::notChecked);
        QCOMPARE(workbench.verdict().nextActionId, QString::fromLatin1(action::chooseOrder));
        QVERIFY(window.actions()->at(action::chooseOrder)->isEnabled());
        QVERIFY(!window.actions()->at(action::startReplay)->isEnabled());
    }

    void oneButtonForOneAction() {
        Workbench workbench(options());
        prepare(workbench);
        MainWindow window(&workbench, false);
        window.show();
        workbench.openWith({copyOf(honest(), QStringLiteral("buttons")), order(), {}});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        for (const char* view : {"submission", "replay", "console"}) {
            window.showView(QString::fromLatin1(view));
            int primary = 0;
            for (const auto* button : window.findChildren<QPushButton*>()) {
                primary += button->isVisible() && button->property("kind").toString() == u"primary" ? 1 : 0;
            }
            QVERIFY2(primary == 1, view);
        }
    }

    void wrongClicksWhileAReplayRuns() {
        Workbench workbench(options());
        prepare(workbench);
        MainWindow window(&workbench, false);
        window.show();
        openHonest(workbench);
        ReplayRequest request;
        request.kernel = QStringLiteral("default,threads=1");
        workbench.startReplay(request);
        QTRY_VERIFY_WITH_TIMEOUT(workbench.auditId() > 0 && workbench.steps()->replayed() >= 1, kLong);
        workbench.pauseReplay(); // from here on nothing moves, however long the rest takes
        QCOMPARE(workbench.runState(), RunState::paused);
        const auto audit = workbench.auditId();
        const auto path = workbench.submission()->path;
        QSignalSpy problems(&workbench, &Workbench::problem);
        workbench.startReplay(request);
        QCOMPARE(problems.size(), 1);
        workbench.open(m_folder.filePath(QStringLiteral("demo/tampered")));
        workbench.openWith({m_folder.filePath(QStringLiteral("demo/tampered")), order(), {}});
        workbench.openAudit(workbench.recent().front().id);
        workbench.setClientOrder(order());
        workbench.setDataFolder(m_folder.path());
        QCOMPARE(problems.size(), 6);
        workbench.close();
        QVERIFY(!window.actions()->at(action::openFile)->isEnabled());
        QVERIFY(!window.actions()->at(action::closeAudit)->isEnabled());
        QVERIFY(!workbench.whyNoDemo().isEmpty());
        QCOMPARE(workbench.auditId(), audit);
        QCOMPARE(workbench.submission()->path, path);
        QCOMPARE(window.currentPage(), MainWindow::replayPage);
        QCOMPARE(workbench.runState(), RunState::paused);
        workbench.resumeReplay();
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
    }

    void aWindowClosedInTheMiddleGoesOnAfterARestart() {
        std::uint64_t done = 0;
        {
            Workbench workbench(options());
            prepare(workbench);
            auto window = std::make_unique<MainWindow>(&workbench, false);
            window->show();
            openHonest(workbench);
            ReplayRequest request;
            request.kernel = workbench.defaultKernel() + QStringLiteral(",splitk");
            workbench.startReplay(request);
            QTRY_VERIFY_WITH_TIMEOUT(workbench.steps()->replayed() >= 2, kLong);
            workbench.pauseReplay(); // so that it cannot end before the window does
            QCoreApplication::processEvents();
            done = workbench.steps()->replayed();
            window->close();
            window.reset();
        }
        Workbench workbench(options());
        prepare(workbench);
        QTRY_VERIFY_WITH_TIMEOUT(!workbench.recent().empty() && !workbench.storePath().isEmpty(), kLong);
        QVERIFY(workbench.recent().front().interrupted);
        workbench.openAudit(workbench.recent().front().id);
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QCOMPARE(workbench.runState(), RunState::interrupted);
        QVERIFY(workbench.steps()->replayed() >= done);
        QVERIFY(!workbench.submission()->clientOrderPath.isEmpty()); // it is opened with the order it was made with
        workbench.resumeReplay();
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
    }

    void aRejectedAuditIsReopenedWithItsFindings() {
        Workbench workbench(options());
        prepare(workbench);
        MainWindow window(&workbench, false);
        window.show();
        QTRY_VERIFY_WITH_TIMEOUT(!workbench.recent().empty(), kLong);
        const auto& recent = workbench.recent();
        const auto it = std::find_if(recent.begin(), recent.end(), [](const RecentAudit& a) { return a.headline == u"Rejected"; });
        QVERIFY(it != recent.end());
        workbench.openAudit(it->id);
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QCOMPARE(workbench.runState(), RunState::finished);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Rejected"));
        QVERIFY(!workbench.findings().empty());
        QCOMPARE(workbench.firstDivergence()->step.value(), 16u);
        QCOMPARE(workbench.check(QStringLiteral("replay")).state, CheckState::failed);
        QCOMPARE(workbench.check(QStringLiteral("signature")).state, CheckState::passed); // signed properly, and false
        QCOMPARE(window.currentPage(), MainWindow::replayPage);
        QVERIFY(workbench.commandFor(workbench.lastRequest()).contains(QStringLiteral("--order")));
    }

    void anotherOrderDropsTheVerdict() {
        const QString folder = m_folder.filePath(QStringLiteral("other"));
        QProcess assay;
        assay.start(findProgram(QStringLiteral("assay")),
                    {QStringLiteral("order"), QStringLiteral("new"), QStringLiteral("--program"), QStringLiteral("gpt"), QStringLiteral("--steps"),
                     QStringLiteral("24"), QStringLiteral("--seed"), QStringLiteral("7"), QStringLiteral("--out"), folder});
        QVERIFY(assay.waitForFinished(kLong));
        QCOMPARE(assay.exitCode(), 0);
        Workbench workbench(options());
        prepare(workbench);
        openHonest(workbench);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
        workbench.setClientOrder(folder + QStringLiteral("/order.json"));
        QTRY_VERIFY_WITH_TIMEOUT(!workbench.submission()->differences.empty() && workbench.isSettled(), kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Not checked yet"));
        QCOMPARE(workbench.check(QStringLiteral("order")).state, CheckState::failed);
        QCOMPARE(workbench.steps()->replayed(), 0u);
        QSettings().clear();
    }

    void aFolderThatGoesAwayIsSaid() {
        const QString path = copyOf(honest(), QStringLiteral("vanishing"));
        Workbench workbench(options());
        prepare(workbench);
        workbench.openWith({path, order(), {}});
        QTRY_VERIFY_WITH_TIMEOUT(workbench.submission() && workbench.isSettled(), kLong);
        QVERIFY(QDir(path).removeRecursively());
        ReplayRequest request;
        request.kernel = workbench.defaultKernel();
        workbench.startReplay(request);
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::failed, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("No verdict"));
        QVERIFY2(workbench.verdict().reason.contains(QStringLiteral("vanishing")), qPrintable(workbench.verdict().reason));
        QSignalSpy problems(&workbench, &Workbench::problem);
        const auto gone = [&] { // the list is told by the store
            return !workbench.recent().empty() && workbench.recent().front().missing;
        };
        QTRY_VERIFY_WITH_TIMEOUT(gone(), kLong);
        workbench.openAudit(workbench.recent().front().id);
        QCOMPARE(problems.size(), 1);
        QVERIFY(problems.last()[1].toString().contains(QStringLiteral("vanishing")));
    }

    void aKilledEngineLosesNothing() {
        Workbench workbench(options());
        prepare(workbench);
        openHonest(workbench);
        ReplayRequest request;
        request.kernel = workbench.defaultKernel() + QStringLiteral(",reversed");
        workbench.startReplay(request);
        QTRY_VERIFY_WITH_TIMEOUT(workbench.steps()->replayed() >= 2, kLong);
        ::kill(static_cast<pid_t>(workbench.engineProcessId()), SIGKILL);
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::interrupted, kLong);
        QVERIFY2(workbench.verdict().reason.contains(QStringLiteral("assay-engine was ended by signal 9")), qPrintable(workbench.verdict().reason));
        QVERIFY(workbench.verdict().reason.contains(QStringLiteral("are kept")));
        workbench.resumeReplay();
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
    }

    void replaysArePicturedInTheirStates_data() {
        QTest::addColumn<QString>("state");
        QTest::addColumn<RunState>("run");
        QTest::newRow("paused") << QStringLiteral("paused") << RunState::paused;
        QTest::newRow("cancelled") << QStringLiteral("cancelled") << RunState::interrupted;
        QTest::newRow("finished") << QStringLiteral("finished") << RunState::finished;
    }
    void replaysArePicturedInTheirStates() {
        QFETCH(QString, state);
        QFETCH(RunState, run);
        Workbench workbench(options());
        workbench.askKernels();
        MainWindow window(&workbench, false);
        ScreenshotRequest request;
        request.view = QStringLiteral("replay");
        request.open = honest();
        request.order = order();
        request.replay = state;
        request.replaySteps = 1;
        request.kernel = QStringLiteral("default,threads=1");
        request.size = {1366, 768};
        request.out = m_folder.filePath(state + QStringLiteral(".png"));
        QString problem;
        QCOMPARE(takeScreenshot(window, request, &problem), 0);
        QCOMPARE(workbench.runState(), run);
        QCOMPARE(QImage(request.out).size(), request.size);
        request.replay = QStringLiteral("sideways");
        QCOMPARE(takeScreenshot(window, request, &problem), 2);
        QVERIFY(problem.contains(QStringLiteral("paused")));
    }

    void everyViewIsPictured_data() {
        QTest::addColumn<QString>("view");
        for (const auto& view : MainWindow::viewNames()) {
            QTest::newRow(qPrintable(view)) << view;
        }
    }
    void everyViewIsPictured() {
        QFETCH(QString, view);
        Workbench workbench(options());
        workbench.askKernels();
        MainWindow window(&workbench, false);
        ScreenshotRequest request;
        request.view = view;
        request.open = m_folder.filePath(QStringLiteral("demo/tampered"));
        request.order = order();
        request.step = 16;
        request.size = {1366, 768};
        request.out = m_folder.filePath(view + QStringLiteral(".png"));
        QString problem;
        QCOMPARE(takeScreenshot(window, request, &problem), 0);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QCOMPARE(QImage(request.out).size(), request.size);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Rejected")); // read back from the store
    }
};

QTEST_MAIN(EngineTest)
#include "engine_test.moc"
