// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include "core/base/error.h"
#include "core/engine/run_control.h"

namespace assay::app {

/// Reads the one line of the request from standard input, byte by byte, so that what follows stays there. `usage` if it
/// is too long.
[[nodiscard]] base::Result<std::string> readRequestLine(std::size_t limit);

/// Listens on standard input while it lives: "cancel", "pause", "resume". End of file means that the parent died:
/// cancel.
class StdinControl {
public:
    explicit StdinControl(engine::RunControl& control);
    ~StdinControl();
    StdinControl(const StdinControl&) = delete;
    StdinControl& operator=(const StdinControl&) = delete;

private:
    void listen();
    engine::RunControl& m_control;
    int m_wake = -1; ///< eventfd that ends the thread
    std::thread m_thread;
};

} // namespace assay::app
