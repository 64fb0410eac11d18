// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QSize>
#include <QString>

namespace assay::ui {

class MainWindow;

/// What `--screenshot` asks for.
struct ScreenshotRequest {
    QString view;
    QString open;  ///< submission, bundle or order; empty: nothing is opened
    QString order; ///< the client's order
    QString data;
    std::uint64_t step = 0;
    QSize size{1600, 900};
    QString out;
    int timeoutSeconds = 60;
};

/// Opens, waits until everything is read, and writes one PNG. Runs the event loop. Returns an exit code; `problem` says what
/// went wrong.
[[nodiscard]] int takeScreenshot(MainWindow& window, const ScreenshotRequest& request, QString* problem);

} // namespace assay::ui
