// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/screenshot.h"

#include <csignal>

#include <QApplication>
#include <QDialog>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>
#include <QPixmap>
#include <QTimer>

#include "ui/bridge/workbench.h"
#include "ui/pages/main_window.h"
#include "ui/pages/page_base.h"

namespace assay::ui {

namespace {

/// Runs events until `done` or the time is over.
template <typename Done>
bool waitFor(Done done, int milliseconds) {
    QElapsedTimer clock;
    clock.start();
    while (!done()) {
        if (clock.elapsed() > milliseconds) {
            return false;
        }
        QEventLoop loop;
        QTimer::singleShot(10, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return true;
}

const QStringList kReplayStates{QStringLiteral("running"), QStringLiteral("paused"), QStringLiteral("cancelled"), QStringLiteral("killed"),
                                QStringLiteral("finished")};

/// Starts the replay and leaves it as `request.replay` says. False if it did not get there in time.
bool bringReplayTo(Workbench& workbench, const ScreenshotRequest& request, const QString& error, int limit) {
    ReplayRequest replay;
    replay.kernel = request.kernel.isEmpty() ? workbench.defaultKernel() : request.kernel;
    replay.lastStep = workbench.submission()->steps;
    if (!request.steps.isEmpty()) {
        replay.scope = ReplayScope::range;
        replay.firstStep = request.steps.section(u':', 0, 0).toULongLong();
        replay.lastStep = request.steps.section(u':', 1, 1).toULongLong();
    } else if (request.sample > 0) {
        replay.scope = ReplayScope::sample;
        replay.segments = request.sample;
    }
    workbench.startReplay(replay);
    const auto ended = [&] {
        const auto state = workbench.runState();
        return state == RunState::finished || state == RunState::interrupted || state == RunState::failed || !error.isEmpty();
    };
    if (request.replay == u"finished") {
        return waitFor(ended, limit);
    }
    const auto wanted = request.replaySteps > 0 ? request.replaySteps : std::max<std::uint64_t>(1, (replay.lastStep - replay.firstStep + 1) / 2);
    if (!waitFor([&] { return ended() || workbench.steps()->replayed() >= wanted; }, limit) || ended()) {
        return ended();
    }
    if (request.replay == u"paused") {
        workbench.pauseReplay();
    } else if (request.replay == u"cancelled") {
        workbench.cancelReplay();
        return waitFor(ended, limit);
    } else if (request.replay == u"killed") {
        ::kill(static_cast<pid_t>(workbench.engineProcessId()), SIGKILL);
        return waitFor(ended, limit);
    }
    return true;
}

} // namespace

int takeScreenshot(MainWindow& window, const ScreenshotRequest& request, QString* problem) {
    constexpr int kOk = 0;
    constexpr int kUsage = 2;
    constexpr int kMalformed = 3;
    constexpr int kEnvironment = 4;
    if (!MainWindow::viewNames().contains(request.view)) {
        *problem = MainWindow::tr("the view \"%1\" is not known; views are %2").arg(request.view, MainWindow::viewNames().join(QStringLiteral(", ")));
        return kUsage;
    }
    if (!request.replay.isEmpty() && (!kReplayStates.contains(request.replay) || request.open.isEmpty())) {
        *problem = MainWindow::tr("--replay needs --open and takes %1").arg(kReplayStates.join(QStringLiteral(", ")));
        return kUsage;
    }
    auto& workbench = *window.workbench();
    const int limit = request.timeoutSeconds * 1000;
    window.resize(request.size);
    window.show();
    QString error;
    QObject::connect(&workbench, &Workbench::problem, &window, [&error](const QString& title, const QString& text, const QString& remedy) {
        error = title + QStringLiteral(": ") + text + (remedy.isEmpty() ? QString() : QStringLiteral(" (") + remedy + u')');
    });
    bool failed = false;
    bool malformed = false;
    QObject::connect(&workbench, &Workbench::openFailed, &window, [&failed] { failed = true; });
    bool stored = !workbench.storePath().isEmpty();
    QObject::connect(&workbench, &Workbench::storeOpened, &window, [&stored] { stored = true; });
    waitFor([&] { return (stored && !workbench.kernels().empty()) || !error.isEmpty(); }, limit);
    if (!request.open.isEmpty()) {
        workbench.openWith({request.open, request.order, request.data});
        if (!waitFor([&] { return failed || workbench.isSettled(); }, limit)) {
            *problem = MainWindow::tr("%1 was not read within %2 seconds").arg(request.open).arg(request.timeoutSeconds);
            return kEnvironment;
        }
        malformed = failed; // the picture shows the message; the exit code and the error text say it too
    }
    if (request.demo) {
        workbench.tryDemo(*request.demo);
        if (!waitFor([&] { return workbench.runState() == RunState::finished || workbench.runState() == RunState::failed || !error.isEmpty(); }, limit) ||
            !error.isEmpty()) {
            *problem = error.isEmpty() ? MainWindow::tr("the demo did not end within %1 seconds").arg(request.timeoutSeconds) : error;
            return kEnvironment;
        }
    }
    if (!request.replay.isEmpty() && !bringReplayTo(workbench, request, error, limit)) {
        *problem = MainWindow::tr("the replay was not %1 within %2 seconds").arg(request.replay).arg(request.timeoutSeconds);
        return kEnvironment;
    }
    if (request.step > 0) {
        window.selection()->setStep(request.step);
    }
    window.showView(request.view);
    waitFor([] { return false; }, 200); // queued layouts and chart redraws
    QPixmap picture = window.grab();
    for (auto* dialog : window.findChildren<QDialog*>()) {
        if (dialog->isVisible()) {
            QPainter painter(&picture);
            painter.fillRect(picture.rect(), QColor(0, 0, 0, 90));
            const QPixmap front = dialog->grab();
            const QPoint at((window.width() - dialog->width()) / 2, (window.height() - dialog->height()) / 3);
            painter.drawPixmap(at, front);
            painter.setPen(Theme::instance().colour(Colour::control)); // where the window manager's frame would be
            painter.drawRect(QRect(at, dialog->size()).adjusted(-1, -1, 0, 0));
        }
    }
    if (!picture.save(request.out, "PNG")) {
        *problem = MainWindow::tr("%1 cannot be written").arg(request.out);
        return kEnvironment;
    }
    if (malformed) {
        *problem = error;
        return kMalformed;
    }
    return kOk;
}

} // namespace assay::ui
