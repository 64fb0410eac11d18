// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>

namespace assay::cli {

/// While it lives, the first SIGINT or SIGTERM requests a stop (the work ends in an orderly way, state kept) and the
/// second one ends the process at once with code 130; its children die with it. At most one object at a time.
class Interrupt {
public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }
    [[nodiscard]] bool requested() const { return m_stop.stop_requested(); }
    void request() { m_stop.request_stop(); }

private:
    std::stop_source m_stop;
    int m_wake[2] = {-1, -1};
    std::thread m_watcher;
};

} // namespace assay::cli
