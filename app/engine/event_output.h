// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "core/audit/engine_events.h"
#include "core/base/progress.h"
#include "core/engine/run_control.h"
#include "core/engine/session.h"

namespace assay::app {

/// Writes events to standard output, one JSON object per line. Thread-safe. A reader that went away stops the run.
class EventOutput {
public:
    explicit EventOutput(engine::RunControl& control) : m_control(control) {}
    void emit(const audit::EngineEvent& event);

    /// At most ten a second per phase, and always the last one.
    void progress(const base::Progress& progress);
    [[nodiscard]] base::ProgressFn progressFn();
    /// With speed and remaining time over the steps since the first call for this phase.
    void stepProgress(std::string_view phase, std::uint64_t done, std::uint64_t total);

    void sites(const engine::Session& session);
    /// site_stats and correction events of a step.
    void stepDetails(const engine::Session& session, const engine::StepOutcome& outcome);

private:
    using Clock = std::chrono::steady_clock;
    engine::RunControl& m_control;
    std::mutex m_mutex;
    std::string m_phase;
    Clock::time_point m_last{};
    Clock::time_point m_phaseStart{};
    std::uint64_t m_phaseFirst = 0;
};

} // namespace assay::app
