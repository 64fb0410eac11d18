// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Ids of the actions. The palette, the key sheet, the headline's button and tests name actions by these.
namespace assay::ui::action {

inline constexpr const char* openFile = "file.open";
inline constexpr const char* openFolder = "file.open-folder";
inline constexpr const char* closeAudit = "file.close";
inline constexpr const char* quit = "app.quit";
inline constexpr const char* chooseOrder = "audit.choose-order";
inline constexpr const char* chooseData = "audit.choose-data";
inline constexpr const char* demoHonest = "demo.honest";
inline constexpr const char* demoTampered = "demo.tampered";
inline constexpr const char* demoCancel = "demo.cancel";
inline constexpr const char* startReplay = "replay.start";
inline constexpr const char* pauseReplay = "replay.pause";
inline constexpr const char* cancelReplay = "replay.cancel";
inline constexpr const char* resumeReplay = "replay.resume";
inline constexpr const char* showDivergence = "replay.show-divergence";
inline constexpr const char* nextFinding = "replay.next-finding";
inline constexpr const char* previousFinding = "replay.previous-finding";
inline constexpr const char* goToStep = "go.step";
inline constexpr const char* goStart = "go.start";
inline constexpr const char* goSubmission = "go.submission";
inline constexpr const char* goReplay = "go.replay";
inline constexpr const char* goConsole = "go.console";
inline constexpr const char* filter = "view.filter";
inline constexpr const char* themeLight = "view.theme-light";
inline constexpr const char* themeDark = "view.theme-dark";
inline constexpr const char* themeSystem = "view.theme-system";
inline constexpr const char* zoomIn = "view.zoom-in";
inline constexpr const char* zoomOut = "view.zoom-out";
inline constexpr const char* zoomReset = "view.zoom-reset";
inline constexpr const char* resetLayout = "view.reset-layout";
inline constexpr const char* palette = "app.palette";
inline constexpr const char* keySheet = "app.keys";
inline constexpr const char* help = "app.help";
inline constexpr const char* copyCommand = "console.copy-command";
inline constexpr const char* copyRoot = "audit.copy-root";

} // namespace assay::ui::action
