// SPDX-License-Identifier: Apache-2.0
#include "core/base/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace assay::base {

namespace {

constexpr std::size_t kLineLimit = std::size_t{64} << 20;
constexpr int kPollMilliseconds = 50; // how late a stop request may be noticed

struct Pipe {
    int read = -1;
    int write = -1;
    Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        closeRead();
        closeWrite();
    }
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) {
            return false;
        }
        read = ends[0];
        write = ends[1];
        return true;
    }
    void closeRead() {
        if (read >= 0) {
            ::close(read);
            read = -1;
        }
    }
    void closeWrite() {
        if (write >= 0) {
            ::close(write);
            write = -1;
        }
    }
};

/// Writes what fits without blocking for ever; a child that stops reading is its own problem, not ours.
void writeText(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return; // EPIPE: the child has closed its input; its exit code tells
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void becomeChild(const ProcessRequest& request, int in, int out, int failure, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127); // the parent died before prctl took effect
    }
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    if (!request.inheritStderr) {
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDERR_FILENO);
    }
    // Ctrl-C, or an end that a service manager asks for, reaches the whole group; the parent turns it into "cancel".
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGPIPE, SIG_DFL);
    std::vector<char*> arguments;
    for (const auto& argument : request.arguments) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    const int code = errno;
    [[maybe_unused]] const auto ignored = ::write(failure, &code, sizeof code);
    ::_exit(127);
}

class LineSplitter {
public:
    explicit LineSplitter(const std::function<void(std::string_view)>& deliver) : m_deliver(deliver) {}
    bool feed(std::string_view chunk) {
        while (!chunk.empty()) {
            const auto end = chunk.find('\n');
            m_line.append(chunk.substr(0, end));
            if (m_line.size() > kLineLimit) {
                return false;
            }
            if (end == std::string_view::npos) {
                break;
            }
            finish();
            chunk.remove_prefix(end + 1);
        }
        return true;
    }
    void finish() {
        if (m_deliver) {
            m_deliver(m_line);
        }
        m_line.clear();
    }
    [[nodiscard]] bool hasRest() const { return !m_line.empty(); }

private:
    const std::function<void(std::string_view)>& m_deliver;
    std::string m_line;
};

} // namespace

Result<ProcessEnd> runProcess(const ProcessRequest& request, std::stop_token stop) {
    if (request.arguments.empty()) {
        return fail(ErrorCode::internal, "no executable named");
    }
    Pipe in;
    Pipe out;
    Pipe failure;
    if (!in.open() || !out.open() || !failure.open()) {
        return fail(ErrorCode::environment, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    }
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        return fail(ErrorCode::environment, fmt::format("cannot start a process: {}", std::strerror(errno)));
    }
    if (child == 0) {
        becomeChild(request, in.read, out.write, failure.write, self);
    }
    in.closeRead();
    out.closeWrite();
    failure.closeWrite();
    struct sigaction previous {};
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &previous);

    int startError = 0;
    const bool started = ::read(failure.read, &startError, sizeof startError) == 0;
    Error error;
    bool failed = false;
    if (started) {
        writeText(in.write, request.input);
        LineSplitter lines(request.onOutputLine);
        bool told = false;
        std::vector<char> buffer(1 << 16);
        for (;;) {
            if (stop.stop_requested() && !told) {
                writeText(in.write, "cancel\n");
                told = true;
            }
            pollfd wait{out.read, POLLIN, 0};
            const int ready = ::poll(&wait, 1, kPollMilliseconds);
            if (ready <= 0) {
                continue;
            }
            const auto got = ::read(out.read, buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                break;
            }
            if (!lines.feed({buffer.data(), static_cast<std::size_t>(got)})) {
                error = Error{ErrorCode::internal, "the child process wrote a line over 64 MiB", {}, std::nullopt, {}};
                failed = true;
                ::kill(child, SIGKILL);
                break;
            }
        }
        if (!failed && lines.hasRest()) {
            lines.finish();
        }
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::sigaction(SIGPIPE, &previous, nullptr);
    if (!started) {
        return fail(Error{ErrorCode::environment, fmt::format("cannot start: {}", std::strerror(startError)),
                          request.arguments[0], std::nullopt, "reinstall Assay: a program of it is missing"});
    }
    if (failed) {
        return fail(std::move(error));
    }
    ProcessEnd end;
    if (WIFSIGNALED(status)) {
        end.signal = WTERMSIG(status);
    } else {
        end.exitCode = WEXITSTATUS(status);
    }
    return end;
}

void keepStandardStreams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            // The lowest free number is taken, which is this one: those below are open.
            [[maybe_unused]] const int opened = ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

std::string executableFolder() {
    std::error_code code;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
    return code ? std::string(".") : self.parent_path().string();
}

} // namespace assay::base
