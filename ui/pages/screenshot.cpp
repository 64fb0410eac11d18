// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/screenshot.h"

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
    auto& workbench = *window.workbench();
    const int limit = request.timeoutSeconds * 1000;
    window.resize(request.size);
    window.show();
    QString error;
    QObject::connect(&workbench, &Workbench::problem, &window, [&error](const QString& title, const QString& text, const QString& remedy) {
        error = title + QStringLiteral(": ") + text + (remedy.isEmpty() ? QString() : QStringLiteral(" (") + remedy + u')');
    });
    bool failed = false;
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
        if (failed) {
            *problem = error;
            return kMalformed;
        }
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
            painter.drawPixmap((window.width() - dialog->width()) / 2, (window.height() - dialog->height()) / 3, front);
        }
    }
    if (!picture.save(request.out, "PNG")) {
        *problem = MainWindow::tr("%1 cannot be written").arg(request.out);
        return kEnvironment;
    }
    return kOk;
}

} // namespace assay::ui
