// SPDX-License-Identifier: GPL-3.0-or-later
#include <bit>
#include <cmath>
#include <ctime>

#include <QAction>
#include <QDialog>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/pages/actions.h"
#include "ui/pages/main_window.h"
#include "ui/pages/replay_controls.h"
#include "ui/pages/screenshot.h"
#include "ui/theme/theme.h"

using namespace assay::ui;

class WindowTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    [[nodiscard]] Workbench::Options options(const char* name) const {
        return {m_folder.filePath(QString::fromLatin1(name) + QStringLiteral(".sqlite")), m_folder.filePath(QStringLiteral("demo"))};
    }

private Q_SLOTS:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("assay-test"));
        QCoreApplication::setApplicationName(QStringLiteral("window-test"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
        Theme::instance().apply(ThemeChoice::light);
    }

    void everyActionHasIdTextAndTooltip() {
        Workbench workbench(options("actions"));
        MainWindow window(&workbench, false);
        QStringList ids;
        QStringList keys;
        for (const auto* action : window.actions()->all()) {
            QVERIFY(!action->objectName().isEmpty());
            QVERIFY2(action->text().size() > 3 && !action->toolTip().isEmpty(), qPrintable(action->objectName()));
            ids << action->objectName();
            if (!action->shortcut().isEmpty()) {
                keys << action->shortcut().toString();
            }
            if (!action->isEnabled()) {
                QVERIFY2(!action->property("whyNot").toString().isEmpty(), qPrintable(action->objectName()));
            }
        }
        QCOMPARE(ids.removeDuplicates(), 0);
        QCOMPARE(keys.removeDuplicates(), 0);
        QVERIFY(!window.actions()->at(action::startReplay)->isEnabled());
        QVERIFY(window.actions()->at(action::startReplay)->toolTip().contains(QStringLiteral("nothing is open")));
    }

    void everyFocusableWidgetHasAName() {
        Workbench workbench(options("names"));
        MainWindow window(&workbench, false);
        for (const auto* widget : window.findChildren<QWidget*>()) {
            const bool inner = widget->objectName().startsWith(QStringLiteral("qt_")) || widget->inherits("QTabBar") ||
                               widget->inherits("QTabWidget") || widget->inherits("QScrollBar") || widget->inherits("QScrollArea") ||
                               widget->inherits("QMenu") || widget->inherits("QHeaderView") || widget->inherits("QLabel") ||
                               widget->inherits("QComboBoxPrivateContainer") || widget->inherits("QComboBoxListView") ||
                               widget->parentWidget()->inherits("QSpinBox") || widget->parentWidget()->inherits("QTabBar");
            if ((widget->focusPolicy() & Qt::TabFocus) != 0 && !inner) {
                const QString text = widget->property("text").toString();
                QVERIFY2(!widget->accessibleName().isEmpty() || !text.isEmpty(),
                         qPrintable(QString::fromLatin1(widget->metaObject()->className()) + u' ' + widget->parentWidget()->accessibleName()));
            }
        }
    }

    void startIsNeverEmptyAndFits() {
        Workbench workbench(options("start"));
        MainWindow window(&workbench, false);
        for (const QSize size : {QSize(1366, 768), QSize(1920, 1080)}) {
            window.resize(size);
            window.show();
            QCoreApplication::processEvents();
            QCOMPARE(window.size(), size); // nothing forces it larger
            QCOMPARE(window.currentPage(), MainWindow::startPage);
        }
        window.showPage(MainWindow::replayPage); // nothing open: stays
        QCOMPARE(window.currentPage(), MainWindow::startPage);
    }

    void focusStaysOffTheRailUnlessSomebodyWalksIt() {
        Workbench workbench(options("focus"));
        MainWindow window(&workbench, false);
        window.show();
        QCoreApplication::processEvents();
        const auto onRail = [&] {
            const auto* focus = window.focusWidget();
            return focus != nullptr && focus->property("kind").toString() == u"rail";
        };
        QVERIFY(!onRail());
        window.showPage(MainWindow::consolePage);
        QVERIFY(!onRail());
        QVERIFY(window.focusWidget() != nullptr); // Tab goes on from here
        QToolButton* start = nullptr;
        for (auto* button : window.findChildren<QToolButton*>()) {
            if (button->defaultAction() == window.actions()->at(action::goStart)) {
                start = button;
            }
        }
        QVERIFY(start != nullptr);
        start->setFocus(Qt::TabFocusReason); // by keyboard: the ring stays where the person is
        QTest::keyClick(start, Qt::Key_Space);
        QCOMPARE(window.currentPage(), MainWindow::startPage);
        QCOMPARE(window.focusWidget(), start);
        window.showPage(MainWindow::consolePage);
        QVERIFY(!onRail());
    }

    void theRailKeepsItsWidth() {
        Workbench workbench(options("rail"));
        MainWindow window(&workbench, false);
        window.show();
        QCoreApplication::processEvents();
        const int before = window.findChild<QStackedWidget*>()->mapTo(&window, QPoint()).x();
        window.showPage(MainWindow::consolePage); // another name is bold now
        QCoreApplication::processEvents();
        QCOMPARE(window.findChild<QStackedWidget*>()->mapTo(&window, QPoint()).x(), before);
    }

    void screenshotsOfViewsThatNeedNothing_data() {
        QTest::addColumn<QString>("view");
        QTest::addColumn<bool>("dark");
        for (const char* view : {"start", "console", "console-commands", "console-journal", "palette", "keys", "help"}) {
            QTest::addRow("%s light", view) << QString::fromLatin1(view) << false;
            QTest::addRow("%s dark", view) << QString::fromLatin1(view) << true;
        }
    }
    void screenshotsOfViewsThatNeedNothing() {
        QFETCH(QString, view);
        QFETCH(bool, dark);
        Theme::instance().apply(dark ? ThemeChoice::dark : ThemeChoice::light);
        Workbench workbench(options("shots"));
        workbench.askKernels();
        MainWindow window(&workbench, false);
        ScreenshotRequest request;
        request.view = view;
        request.size = {1366, 768};
        request.out = m_folder.filePath(view + QStringLiteral(".png"));
        QString problem;
        QCOMPARE(takeScreenshot(window, request, &problem), 0);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        const QImage image(request.out);
        QCOMPARE(image.size(), request.size);
        int bright = 0;
        for (int y = 0; y < image.height(); y += 7) {
            for (int x = 0; x < image.width(); x += 7) {
                bright += qGray(image.pixel(x, y)) > 200 ? 1 : 0;
            }
        }
        const int all = image.width() / 7 * (image.height() / 7);
        QVERIFY2(dark ? bright < all / 4 : view == u"start" || view.startsWith(u"console") ? bright > all / 2 : bright > 100,
                 qPrintable(QString::number(bright)));
        Theme::instance().apply(ThemeChoice::light);
    }

    void badFilesAreRefusedWithPlaceAndReason_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("empty order") << QByteArray();
        QTest::newRow("text as order") << QByteArray("hello\n");
        QTest::newRow("deep JSON") << QByteArray(100'000, '[');
    }
    void badFilesAreRefusedWithPlaceAndReason() {
        QFETCH(QByteArray, content);
        const QString path = m_folder.filePath(QStringLiteral("bad.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        Workbench workbench(options("bad"));
        MainWindow window(&workbench, false);
        QSignalSpy problems(&workbench, &Workbench::problem);
        workbench.open(path);
        QTRY_VERIFY(!problems.isEmpty());
        QVERIFY(problems.last()[1].toString().contains(QStringLiteral("bad.json")));
        QVERIFY(!workbench.hasSubmission());
        workbench.open(m_folder.filePath(QStringLiteral("not-there.assay")));
        QTRY_VERIFY(problems.size() > 1);
        QCOMPARE(window.currentPage(), MainWindow::startPage);
    }

    void theEventLoopStaysFreeWithAMillionCells() {
        // 10,000 steps x 100 sites with a count each, streamed into strip, chart, map and their tables while all are on screen.
        Workbench workbench(options("loop"));
        MainWindow window(&workbench, false);
        window.resize(1920, 1080);
        workbench.steps()->reset(10'000);
        std::vector<SiteRow> rows;
        for (std::uint32_t i = 0; i < 100; ++i) {
            rows.push_back({i, QStringLiteral("blocks.%1.attn.qkv / dW").arg(i), QStringLiteral("parameter gradient"), 1000});
        }
        workbench.sites()->reset(10'000, rows);
        window.show();
        window.findChild<QStackedWidget*>()->setCurrentIndex(MainWindow::replayPage);
        QCoreApplication::processEvents();
        // Time of this thread alone: what other programs take on a loaded machine is not a gap of ours.
        const auto milliseconds = [] {
            timespec now{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
            return static_cast<qint64>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
        };
        qint64 worst = 0;
        std::uint64_t step = 1;
        while (step <= 10'000) {
            const qint64 began = milliseconds();
            std::vector<StepCell> cells;
            for (int i = 0; i < 200; ++i, ++step) {
                StepCell cell;
                cell.step = step;
                cell.state = StepState::matched;
                cell.hasReplayed = cell.hasClaimed = true;
                cell.lossReplayed = cell.lossClaimed = step % 997 == 0 ? std::nan("") : std::sin(static_cast<double>(step));
                cells.push_back(cell);
                std::vector<SiteCount> counts;
                for (std::uint32_t row = 0; row < 100; ++row) {
                    counts.push_back({row, static_cast<std::uint32_t>(step % 50) + 1, 0, 0});
                }
                workbench.sites()->setStep(step, std::move(counts));
            }
            workbench.steps()->apply(cells);
            workbench.sites()->commit();
            QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
            worst = std::max(worst, milliseconds() - began);
        }
        qInfo("longest gap of the event loop: %lld ms", static_cast<long long>(worst));
        QVERIFY2(worst < 100, qPrintable(QString::number(worst)));
    }

    void progressNamesStepsAndSeconds() {
        RunProgress progress;
        progress.phase = QStringLiteral("replay");
        progress.unit = QStringLiteral("steps");
        progress.done = 13;
        progress.total = 40;
        progress.etaSeconds = 12.4;
        progress.perSecond = 2.1;
        QCOMPARE(ReplayControls::progressText(progress), QStringLiteral("13 of 40 steps, 27 left, about 12 s (2.1 steps/s)"));
        progress.perSecond = 1.4098;
        QVERIFY(ReplayControls::progressText(progress).endsWith(QStringLiteral("(1.4 steps/s)")));
    }

    void layoutAndThemeAreRemembered() {
        {
            Workbench workbench(options("session"));
            MainWindow window(&workbench, true);
            window.resize(1500, 800);
            window.show();
            window.actions()->at(action::themeDark)->trigger();
            window.close();
        }
        QCOMPARE(QSettings().value(QStringLiteral("view/theme")).toInt(), static_cast<int>(ThemeChoice::dark));
        QVERIFY(!QSettings().value(QStringLiteral("window/geometry")).toByteArray().isEmpty());
        Theme::instance().apply(ThemeChoice::light);
    }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
