// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_control.h"

namespace assay::engine {

void RunControl::requestStop() {
    m_stop.request_stop();
    const std::lock_guard lock(m_mutex);
    m_changed.notify_all();
}

void RunControl::setPaused(bool paused) {
    const std::lock_guard lock(m_mutex);
    m_paused = paused;
    m_changed.notify_all();
}

bool RunControl::shouldStop() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return !m_paused || m_stop.stop_requested(); });
    return m_stop.stop_requested();
}

} // namespace assay::engine
