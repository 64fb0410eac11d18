// SPDX-License-Identifier: Apache-2.0
#include "app/cli/engine_job.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/live_progress.h"
#include "core/base/process.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

EngineRequest& EngineRequest::set(std::string_view name, std::string_view text) {
    if (!text.empty()) {
        m_json.add(name, text);
    }
    return *this;
}

EngineRequest& EngineRequest::set(std::string_view name, std::uint64_t value) {
    m_json.add(name, value);
    return *this;
}

EngineRequest& EngineRequest::set(std::string_view name, std::optional<std::uint64_t> value) {
    if (value) {
        m_json.add(name, *value);
    }
    return *this;
}

EngineRequest& EngineRequest::setIf(std::string_view name, bool value) {
    if (value) {
        m_json.add(name, true);
    }
    return *this;
}

Result<EngineEnd> runEngine(Session& session, const EngineRequest& request, std::stop_token stop,
                            const EventHandler& handler) {
    EngineEnd end;
    std::optional<Error> trouble;
    LiveProgress progress(session);
    std::stop_source abandon; // ours, so that a failing handler can end the engine too
    const std::stop_callback forward(stop, [&] { abandon.request_stop(); });
    base::ProcessRequest process;
    process.arguments = {base::executableFolder() + "/assay-engine", "run"};
    process.input = request.line();
    process.onOutputLine = [&](std::string_view line) {
        if (trouble) {
            return;
        }
        const auto event = audit::parseEvent(line);
        if (!event) {
            trouble = Error{ErrorCode::internal,
                            fmt::format("the engine wrote a line that is no event: {}", event.error().message),
                            {},
                            std::nullopt,
                            "report this: it is a bug of Assay"};
            abandon.request_stop();
            return;
        }
        if (const auto* error = std::get_if<audit::ErrorEvent>(&*event)) {
            end.error = error->error;
        } else if (const auto* verdict = std::get_if<audit::VerdictEvent>(&*event)) {
            end.report = verdict->report;
        } else if (const auto* done = std::get_if<audit::DoneEvent>(&*event)) {
            end.result = done->resultJson;
        }
        progress.show(*event, line);
        if (std::holds_alternative<audit::FindingEvent>(*event)) {
            progress.clear(); // the handler may print it
        }
        if (handler) {
            if (auto handled = handler(*event, line); !handled) {
                trouble = std::move(handled).error();
                abandon.request_stop();
            }
        }
    };
    ASSAY_TRY(ended, base::runProcess(process, abandon.get_token()));
    progress.clear();
    if (trouble) {
        return fail(std::move(*trouble));
    }
    end.exitCode = ended.exitCode;
    end.signal = ended.signal;
    return end;
}

Error explainEnd(const EngineEnd& end, const std::string& resume) {
    if (end.cancelled()) {
        Error error{ErrorCode::cancelled, "interrupted; all finished steps are kept", {}, std::nullopt, resume};
        if (end.error && !end.error->message.empty()) {
            error.message = end.error->message;
        }
        return error;
    }
    if (end.error) {
        return *end.error;
    }
    if (end.signal != 0) {
        return {ErrorCode::internal,
                fmt::format("the engine was ended by signal {} ({})", end.signal, ::strsignal(end.signal)),
                {},
                std::nullopt,
                end.signal == SIGKILL
                    ? "check whether the machine ran out of memory" + (resume.empty() ? "" : ", then: " + resume)
                    : "report this: it is a bug of Assay"};
    }
    constexpr int kNotLoaded = 127; // what the dynamic loader ends with; it has said why on standard error
    if (end.exitCode == kNotLoaded) {
        return {ErrorCode::environment,
                "the engine could not be loaded",
                {},
                std::nullopt,
                "install its libraries, or raise the limits on memory (ulimit -v)"};
    }
    return {ErrorCode::internal,
            fmt::format("the engine ended with code {} and said nothing", end.exitCode),
            {},
            std::nullopt,
            "report this: it is a bug of Assay"};
}

} // namespace assay::cli
