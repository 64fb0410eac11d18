// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "app/cli/session.h"
#include "core/audit/engine_events.h"

namespace assay::cli {

/// Shows the progress of an engine on standard error: one line that is rewritten on a terminal, the engine's own JSON
/// Lines, or nothing. The line vanishes when the object goes.
class LiveProgress {
public:
    explicit LiveProgress(Session& session);
    LiveProgress(const LiveProgress&) = delete;
    LiveProgress& operator=(const LiveProgress&) = delete;
    ~LiveProgress() { clear(); }

    /// One event and the line it came from.
    void show(const audit::EngineEvent& event, std::string_view line);
    /// Removes the line, so that something else can be printed.
    void clear();

private:
    void draw(const audit::ProgressEvent& event);

    Session& m_session;
    ProgressMode m_mode;
    bool m_drawn = false;
    std::string m_loss; ///< of the last step, for the line
    std::string m_phase;
    std::chrono::steady_clock::time_point m_last{};
};

/// A bar of `width` characters, `done` of `total` filled.
[[nodiscard]] std::string progressBar(std::uint64_t done, std::uint64_t total, std::size_t width);

} // namespace assay::cli
