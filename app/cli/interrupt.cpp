// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace assay::cli {

namespace {

std::atomic<int> g_wake{-1};
std::atomic<int> g_count{0};
struct sigaction g_previousInt;
struct sigaction g_previousTerm;

// Only async-signal-safe calls: requesting a stop takes locks, so a thread does that.
void onSignal(int) {
    const int saved = errno;
    if (g_count.fetch_add(1) > 0) {
        constexpr char kText[] = "\nassay: stopped at once\n";
        [[maybe_unused]] const auto shown = ::write(STDERR_FILENO, kText, sizeof kText - 1);
        ::_exit(130);
    }
    constexpr char kText[] = "\nassay: stopping after the current step (Ctrl-C again: at once)\n";
    [[maybe_unused]] const auto shown = ::write(STDERR_FILENO, kText, sizeof kText - 1);
    const char byte = 's';
    [[maybe_unused]] const auto written = ::write(g_wake.load(), &byte, 1);
    errno = saved;
}

} // namespace

Interrupt::Interrupt() {
    if (::pipe2(m_wake, O_CLOEXEC) != 0) {
        return; // signals keep their usual effect
    }
    g_count = 0;
    g_wake = m_wake[1];
    m_watcher = std::thread([this] {
        char byte = 0;
        while (::read(m_wake[0], &byte, 1) < 0 && errno == EINTR) {
        }
        if (byte == 's') {
            m_stop.request_stop();
        }
    });
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &g_previousInt);
    ::sigaction(SIGTERM, &action, &g_previousTerm);
}

Interrupt::~Interrupt() {
    if (m_wake[0] < 0) {
        return;
    }
    ::sigaction(SIGINT, &g_previousInt, nullptr);
    ::sigaction(SIGTERM, &g_previousTerm, nullptr);
    const char byte = 'q';
    [[maybe_unused]] const auto written = ::write(m_wake[1], &byte, 1);
    m_watcher.join();
    ::close(m_wake[0]);
    ::close(m_wake[1]);
}

} // namespace assay::cli
