// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>

#include <unistd.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QTextStream>
#include <QTimer>

#include "ui/bridge/workbench.h"
#include "ui/pages/main_window.h"
#include "ui/pages/screenshot.h"
#include "ui/theme/theme.h"

namespace {

using namespace assay::ui;

constexpr int kUsage = 2;

/// Seconds since the kernel started this process: loading of libraries included.
double processSeconds() {
    QFile stat(QStringLiteral("/proc/self/stat"));
    QFile uptime(QStringLiteral("/proc/uptime"));
    if (!stat.open(QIODevice::ReadOnly) || !uptime.open(QIODevice::ReadOnly)) {
        return -1;
    }
    const QByteArray text = stat.readAll();
    const auto fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    const double started = fields.value(19).toDouble() / static_cast<double>(sysconf(_SC_CLK_TCK));
    return uptime.readAll().split(' ').value(0).toDouble() - started;
}

struct Options {
    ScreenshotRequest shot;
    Workbench::Options workbench;
    ThemeChoice theme = ThemeChoice::system;
    bool themeGiven = false;
    bool startupTime = false;
    QString demo;
    QString problem;
};

/// `--demo` alone means the honest run.
QStringList arguments() {
    QStringList out = QApplication::arguments();
    for (qsizetype i = 0; i < out.size(); ++i) {
        const QString next = out.value(i + 1);
        if (out[i] == u"--demo" && next != u"honest" && next != u"tampered") {
            out[i] = QStringLiteral("--demo=honest");
        }
    }
    return out;
}

Options parse() {
    QCommandLineParser parser;
    parser.setApplicationDescription(QApplication::translate("Main", "Auditing workbench for machine-learning training."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("FILE"), QApplication::translate("Main", "submission folder, .assay file or order to open"),
                                 QStringLiteral("[FILE]"));
    const QCommandLineOption open(QStringLiteral("open"), QApplication::translate("Main", "what to open"), QStringLiteral("FILE"));
    const QCommandLineOption order(QStringLiteral("order"), QApplication::translate("Main", "the client's order"), QStringLiteral("FILE"));
    const QCommandLineOption data(QStringLiteral("data"), QApplication::translate("Main", "folder with the data"), QStringLiteral("DIR"));
    const QCommandLineOption store(QStringLiteral("store"), QApplication::translate("Main", "audit store"), QStringLiteral("FILE"));
    const QCommandLineOption demo(QStringLiteral("demo"), QApplication::translate("Main", "start the demo: honest (if left out) or tampered"), QStringLiteral("KIND"));
    const QCommandLineOption shot(QStringLiteral("screenshot"),
                                  QApplication::translate("Main", "write a picture and end; one of: %1").arg(MainWindow::viewNames().join(u' ')),
                                  QStringLiteral("VIEW"));
    const QCommandLineOption at(QStringLiteral("at"), QApplication::translate("Main", "what to look at"), QStringLiteral("step=N"));
    const QCommandLineOption theme(QStringLiteral("theme"), QApplication::translate("Main", "light, dark or system"), QStringLiteral("THEME"));
    const QCommandLineOption size(QStringLiteral("size"), QApplication::translate("Main", "size of the picture"), QStringLiteral("WxH"),
                                  QStringLiteral("1600x900"));
    const QCommandLineOption out(QStringLiteral("out"), QApplication::translate("Main", "file of the picture"), QStringLiteral("PNG"));
    const QCommandLineOption startup(QStringLiteral("startup-time"), QApplication::translate("Main", "print the time to the first paint and end"));
    const QCommandLineOption replay(QStringLiteral("replay"),
                                    QApplication::translate("Main", "with --screenshot: replay first and picture it running, paused, cancelled, killed "
                                                                    "or finished; all but the last after N steps (half of them)"),
                                    QStringLiteral("STATE[:N]"));
    const QCommandLineOption kernel(QStringLiteral("kernel"), QApplication::translate("Main", "kernel profile of that replay"), QStringLiteral("K"));
    const QCommandLineOption steps(QStringLiteral("steps"), QApplication::translate("Main", "replay these steps only"), QStringLiteral("A:B"));
    const QCommandLineOption sample(QStringLiteral("sample"), QApplication::translate("Main", "replay N segments only"), QStringLiteral("N"));
    parser.addOptions({open, order, data, store, demo, shot, at, replay, kernel, steps, sample, theme, size, out, startup});
    parser.process(arguments());

    Options options;
    options.shot.view = parser.value(shot);
    options.shot.open = parser.isSet(open) ? parser.value(open) : parser.positionalArguments().value(0);
    options.shot.order = parser.value(order);
    options.shot.data = parser.value(data);
    options.shot.out = parser.value(out);
    options.shot.replay = parser.value(replay).section(u':', 0, 0);
    options.shot.replaySteps = parser.value(replay).section(u':', 1, 1).toULongLong();
    options.shot.kernel = parser.value(kernel);
    options.shot.steps = parser.value(steps);
    options.shot.sample = parser.value(sample).toULongLong();
    options.workbench.storePath = parser.value(store);
    options.demo = parser.value(demo);
    if (!options.demo.isEmpty()) {
        options.shot.demo = options.demo == u"honest" ? DemoKind::honest : DemoKind::tampered;
    }
    options.startupTime = parser.isSet(startup);
    const auto complain = [&](const QString& words) { options.problem = words; };
    const QString look = parser.value(theme);
    options.themeGiven = !look.isEmpty();
    options.theme = look == u"dark" ? ThemeChoice::dark : look == u"light" ? ThemeChoice::light : ThemeChoice::system;
    if (!look.isEmpty() && look != u"dark" && look != u"light" && look != u"system") {
        complain(QApplication::translate("Main", "--theme takes light, dark or system, not \"%1\"").arg(look));
    }
    const auto sides = parser.value(size).split(u'x');
    options.shot.size = QSize(sides.value(0).toInt(), sides.value(1).toInt());
    if (sides.size() != 2 || options.shot.size.width() < 200 || options.shot.size.height() < 200 || options.shot.size.width() > 16384 ||
        options.shot.size.height() > 16384) {
        complain(QApplication::translate("Main", "--size takes WIDTHxHEIGHT from 200 to 16384, for example 1366x768"));
    }
    for (const auto& part : parser.value(at).split(u',', Qt::SkipEmptyParts)) {
        bool ok = part.startsWith(u"step=");
        options.shot.step = ok ? part.mid(5).toULongLong(&ok) : 0;
        if (!ok) {
            complain(QApplication::translate("Main", "--at takes step=N, not \"%1\"").arg(part));
        }
    }
    if (!options.shot.view.isEmpty() && options.shot.out.isEmpty()) {
        complain(QApplication::translate("Main", "--screenshot needs --out FILE.png"));
    }
    if (!options.demo.isEmpty() && options.demo != u"honest" && options.demo != u"tampered") {
        complain(QApplication::translate("Main", "--demo takes honest or tampered, not \"%1\"").arg(options.demo));
    }
    return options;
}

} // namespace

int main(int argc, char** argv) {
    bool headless = false;
    for (int i = 1; i < argc; ++i) {
        headless = headless || QByteArrayView(argv[i]).startsWith("--screenshot");
    }
    if (headless && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication::setOrganizationName(QStringLiteral("assay"));
    QApplication::setApplicationName(QStringLiteral("assay-workbench"));
    QApplication::setApplicationDisplayName(QStringLiteral("Assay workbench"));
    QApplication::setApplicationVersion(QStringLiteral("0.1.0"));
    QApplication::setDesktopFileName(QStringLiteral("assay-workbench"));
    const QApplication app(argc, argv);
    const Options options = parse();
    if (!options.problem.isEmpty()) {
        QTextStream(stderr) << "assay-workbench: " << options.problem << '\n';
        return kUsage;
    }
    const bool picture = !options.shot.view.isEmpty();
    QTemporaryDir scratch; // a picture neither reads nor changes anybody's settings
    if (picture || options.startupTime) {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, scratch.path());
    }
    const QSettings settings;
    Theme::instance().setZoom(settings.value(QStringLiteral("view/zoom"), 1.0).toDouble());
    Theme::instance().apply(options.themeGiven ? options.theme
                                               : static_cast<ThemeChoice>(settings.value(QStringLiteral("view/theme"), 0).toInt()));
    Workbench workbench(options.workbench);
    MainWindow window(&workbench, !picture && !options.startupTime);
    if (picture) {
        workbench.askKernels();
        QString problem;
        const int code = takeScreenshot(window, options.shot, &problem);
        if (!problem.isEmpty()) {
            QTextStream(stderr) << "assay-workbench: " << problem << '\n';
        }
        return code;
    }
    QObject::connect(&window, &MainWindow::firstPaint, &window, [&] {
        if (options.startupTime) {
            QTextStream(stdout) << "first paint after " << QString::number(processSeconds(), 'f', 2) << " s\n";
            QApplication::quit();
            return;
        }
        if (options.shot.open.isEmpty() && options.shot.demo) {
            // The demo trains under one kernel and replays under another, so it waits for what this machine can run.
            QObject::connect(&workbench, &Workbench::kernelsChanged, &window, [&] { workbench.tryDemo(*options.shot.demo); },
                             static_cast<Qt::ConnectionType>(Qt::AutoConnection | Qt::SingleShotConnection));
        }
        workbench.askKernels();
        if (!options.shot.open.isEmpty()) {
            workbench.openWith({options.shot.open, options.shot.order, options.shot.data});
        } else if (!options.shot.demo) {
            window.restoreSession();
        }
    });
    window.show();
    return QApplication::exec();
}
