// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace assay::engine {

/// How a run is told from another thread to stop, to pause and to go on. Looked at between steps. Thread-safe.
class RunControl {
public:
    void requestStop();
    void setPaused(bool paused);
    [[nodiscard]] std::stop_token stopToken() const { return m_stop.get_token(); }
    /// Waits while paused; true if the run shall end.
    [[nodiscard]] bool shouldStop();

private:
    std::stop_source m_stop;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_paused = false;
};

} // namespace assay::engine
