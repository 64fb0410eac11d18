// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the real engine and command line: demo, replay, pause, cancel, resume, crash, restart, pictures.
#include <csignal>

#include <QAction>
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

using namespace assay;
using namespace assay::ui;

class EngineTest : public QObject {
    Q_OBJECT

    static constexpr int kLong = 120'000;
    QTemporaryDir m_folder;

    [[nodiscard]] Workbench::Options options() const { return {m_folder.filePath(QStringLiteral("audits.sqlite")), m_folder.filePath(QStringLiteral("demo"))}; }
    [[nodiscard]] QString honest() const { return m_folder.filePath(QStringLiteral("demo/honest")); }
    [[nodiscard]] QString order() const { return m_folder.filePath(QStringLiteral("demo/order/order.json")); }

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
        QCOMPARE(divergence->step.value(), 15u);
        QCOMPARE(workbench.steps()->firstMismatch(), 15u);
        QCOMPARE(workbench.verdict().nextActionId, QString::fromLatin1(action::showDivergence));
    }

    void withoutTheClientsOrderItIsInconclusive() {
        Workbench workbench(options());
        prepare(workbench);
        QSettings().clear(); // an order chosen before would be remembered
        workbench.openWith({honest(), {}, m_folder.filePath(QStringLiteral("demo/order"))});
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
        QVERIFY(workbench.verdict().reason.contains(QStringLiteral("signal")));
        workbench.resumeReplay();
        QTRY_COMPARE_WITH_TIMEOUT(workbench.runState(), RunState::finished, kLong);
        QCOMPARE(workbench.verdict().headline, QStringLiteral("Accepted"));
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
        request.step = 15;
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
