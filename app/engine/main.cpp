// SPDX-License-Identifier: Apache-2.0
// assay-engine: everything that computes. One request line on standard input, events as JSON Lines on standard output.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/engine/event_output.h"
#include "app/engine/request.h"
#include "app/engine/second_kernel.h"
#include "app/engine/stdin_control.h"
#include "app/engine/verbs.h"
#include "core/base/process.h"
#include "core/numerics/site_pass.h"

namespace {

using namespace assay;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kRestartedFor =
    "ASSAY_ENGINE_RESTARTED_FOR";                             ///< core type that this process was started again for
constexpr const char* kRequestFd = "ASSAY_ENGINE_REQUEST_FD"; ///< where the request of the first start waits
constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

int exitWith(app::EventOutput& output, const base::Error& error) {
    output.emit(audit::ErrorEvent{error});
    return base::exitCodeFor(error.code);
}

/// The request: kept by the process that started itself again, otherwise the first line of standard input.
Result<std::string> takeRequest() {
    const char* kept = std::getenv(kRequestFd);
    if (kept == nullptr) {
        return app::readRequestLine(app::Request::kMaxBytes);
    }
    const int fd = std::atoi(kept);
    ::unsetenv(kRequestFd);
    std::string text(app::Request::kMaxBytes, '\0');
    const auto got = ::pread(fd, text.data(), text.size(), 0);
    ::close(fd);
    if (got < 0) {
        return fail(ErrorCode::internal, "the request was lost when the engine started itself again");
    }
    text.resize(static_cast<std::size_t>(got));
    return text;
}

/// OpenBLAS chooses its kernels when it is loaded, from the environment: set that and start again. Returns only on
/// failure.
Result<void> restartFor(const tensor::KernelProfile& profile, const std::string& request, char** arguments) {
    const char* before = std::getenv(kRestartedFor);
    if (before != nullptr && profile.core == before) {
        return fail(ErrorCode::environment,
                    fmt::format("the environment variable {} does not stay as it was set", kCoreType));
    }
    const int fd = ::memfd_create("assay-request", 0); // survives exec on purpose
    if (fd < 0 || ::pwrite(fd, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size())) {
        return fail(ErrorCode::environment, fmt::format("cannot keep the request in memory: {}", std::strerror(errno)));
    }
    const char* core = profile.coreTypeForEnvironment();
    if (core != nullptr) {
        ::setenv(kCoreType, core, 1);
    } else {
        ::unsetenv(kCoreType);
    }
    ::setenv(kRestartedFor, profile.core.c_str(), 1);
    ::setenv(kRequestFd, std::to_string(fd).c_str(), 1);
    ::execv("/proc/self/exe", arguments);
    return fail(ErrorCode::environment, fmt::format("cannot start the engine again: {}", std::strerror(errno)));
}

Result<int> runVerb(const app::Request& request, const std::string& line, app::EventOutput& output,
                    engine::RunControl& control, char** arguments) {
    if (request.verb() == "kernels") {
        return app::runKernels(output);
    }
    if (request.verb() == "selftest") {
        return app::runSelfTest(output);
    }
    if (request.verb() == "sites") {
        return app::runSites(request, output);
    }
    using Verb = Result<int> (*)(const app::Job&);
    const std::pair<std::string_view, Verb> verbs[] = {{"train", app::runTrain},
                                                       {"verify", app::runVerify},
                                                       {"tamper", app::runTamper},
                                                       {"eval", app::runEval},
                                                       {"trace", app::runTrace}};
    Verb verb = nullptr;
    for (const auto& [name, function] : verbs) {
        verb = request.verb() == name ? function : verb;
    }
    if (verb == nullptr) {
        return fail(ErrorCode::usage, fmt::format("unknown verb \"{}\"", request.verb()));
    }
    ASSAY_TRY(kernelText, request.text("kernel"));
    ASSAY_TRY(profile, tensor::KernelProfile::parse(kernelText.empty() ? "default" : kernelText));
    ASSAY_CHECK(tensor::checkSupported(profile));
    if (profile.needsRestart()) {
        ASSAY_CHECK(restartFor(profile, line, arguments));
    }
    ASSAY_TRY(kernel, tensor::activate(profile));
    ::unsetenv(kRestartedFor);
    const app::StdinControl listener(control);
    output.emit(audit::HelloEvent{app::kEngineVersion, kernel.blas, kernel.core,
                                  static_cast<std::uint64_t>(kernel.threads), kernel.profile, numerics::activeIsa()});
    return verb({request, output, control, profile, kernel});
}

/// Whatever is thrown below becomes an error event here: allocation, file system, anything unexpected.
Result<int> runGuarded(app::EventOutput& output, engine::RunControl& control, char** arguments) {
    try {
        ASSAY_TRY(line, takeRequest());
        ASSAY_TRY(request, app::Request::parse(line));
        return runVerb(request, line, output, control, arguments);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::environment, "out of memory", "close other programs, or use a machine with more memory");
    } catch (const std::length_error&) {
        return fail(ErrorCode::environment, "more memory would be needed than any machine has");
    } catch (const std::filesystem::filesystem_error& error) {
        return fail(
            base::Error{ErrorCode::environment, error.code().message(), error.path1().string(), std::nullopt, {}});
    } catch (const std::system_error& error) { // a thread that could not be started, for example
        return fail(ErrorCode::environment, error.what(), "close other programs, or raise the limits (ulimit -a)");
    } catch (const std::exception& error) {
        return fail(ErrorCode::internal, fmt::format("unexpected: {}", error.what()));
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count == 2 && std::strcmp(arguments[1], "--version") == 0) {
        std::puts(app::kEngineVersion);
        return 0;
    }
    if (count != 2 || std::strcmp(arguments[1], "run") != 0) {
        std::fputs("usage: assay-engine run (reads one JSON request line on standard input; started by assay and "
                   "assay-workbench)\n",
                   stderr);
        return base::exitCodeFor(ErrorCode::usage);
    }
    std::signal(SIGPIPE, SIG_IGN);
    engine::RunControl control;
    app::EventOutput output(control);
    base::keepStandardStreams();
    const auto result = runGuarded(output, control, arguments);
    const int code = result ? *result : exitWith(output, result.error());
    // Without the exit handlers: OpenBLAS joins its threads there, which under a memory limit try for ever to allocate.
    std::fflush(nullptr);
    std::_Exit(code);
}
