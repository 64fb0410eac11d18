// SPDX-License-Identifier: Apache-2.0
#include "app/engine/stdin_control.h"

#include <cerrno>
#include <string>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::app {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::string> readRequestLine(std::size_t limit) {
    std::string line;
    for (;;) {
        char c = 0;
        const auto got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0 || c == '\n') {
            return line;
        }
        if (line.size() >= limit) {
            return fail(ErrorCode::usage, "the request is longer than 1 MiB");
        }
        line += c;
    }
}

StdinControl::StdinControl(engine::RunControl& control)
    : m_control(control), m_wake(::eventfd(0, EFD_CLOEXEC)), m_thread([this] { listen(); }) {}

StdinControl::~StdinControl() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_wake, &one, sizeof one);
    m_thread.join();
    ::close(m_wake);
}

void StdinControl::listen() {
    constexpr std::size_t kLongestWord = 64;
    std::string line;
    for (;;) {
        pollfd wait[2] = {{STDIN_FILENO, POLLIN, 0}, {m_wake, POLLIN, 0}};
        if (::poll(wait, 2, -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        if ((wait[1].revents & POLLIN) != 0) {
            return;
        }
        char c = 0;
        const auto got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got <= 0) {
            m_control.requestStop();
            return;
        }
        if (c != '\n') {
            line += line.size() < kLongestWord ? std::string(1, c) : std::string();
            continue;
        }
        if (line == "cancel") {
            m_control.requestStop();
        } else if (line == "pause" || line == "resume") {
            m_control.setPaused(line == "pause");
        }
        line.clear();
    }
}

} // namespace assay::app
