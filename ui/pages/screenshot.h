// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include <QSize>
#include <QString>

#include "ui/bridge/demo_runner.h"

namespace assay::ui {

class MainWindow;

/// What `--screenshot` asks for.
struct ScreenshotRequest {
    QString view;
    QString open;  ///< submission, bundle or order; empty: nothing is opened
    QString order; ///< the client's order
    QString data;
    std::uint64_t step = 0;
    /// Empty, or the state in which a replay is pictured: running, paused, cancelled, killed, finished.
    QString replay;
    std::uint64_t replaySteps = 0; ///< running, paused, cancelled, killed: after so many steps; 0 means half of them
    QString kernel;                ///< profile of that replay; empty for the one that is offered first
    QString steps;                 ///< "A:B", only these
    std::uint64_t sample = 0;      ///< so many segments instead
    std::optional<DemoKind> demo;  ///< run the demo to its end first
    QSize size{1600, 900};
    QString out;
    int timeoutSeconds = 120;
};

/// Opens, waits until everything is read, brings a replay to the wanted state, and writes one PNG. Runs the event loop. Returns an exit code; `problem` says what
/// went wrong.
[[nodiscard]] int takeScreenshot(MainWindow& window, const ScreenshotRequest& request, QString* problem);

} // namespace assay::ui
