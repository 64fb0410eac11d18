// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/cli/json_text.h"
#include "app/cli/session.h"
#include "core/audit/engine_events.h"
#include "core/base/error.h"

namespace assay::cli {

/// A request to the engine: option names are those of the command line with '_' for '-'. Empty texts are left out.
class EngineRequest {
public:
    explicit EngineRequest(std::string_view verb) { m_json.add("verb", verb); }
    EngineRequest& set(std::string_view name, std::string_view text);
    EngineRequest& set(std::string_view name, std::uint64_t value);
    EngineRequest& set(std::string_view name, std::optional<std::uint64_t> value);
    EngineRequest& setIf(std::string_view name, bool value); ///< only if true
    [[nodiscard]] std::string line() const { return m_json.text() + "\n"; }

private:
    JsonObject m_json;
};

/// How an engine ended.
struct EngineEnd {
    int exitCode = 70;
    int signal = 0;                            ///< it was killed, or crashed
    std::optional<base::Error> error;          ///< its error event
    std::optional<audit::VerifyReport> report; ///< its verdict event
    std::optional<std::string> result;         ///< its done event: a JSON object
    [[nodiscard]] bool cancelled() const {
        return exitCode == 130 || (error && error->code == base::ErrorCode::cancelled);
    }
};

/// Called for each event with the line it came from. An error stops the engine and becomes the result of runEngine.
using EventHandler = std::function<base::Result<void>(const audit::EngineEvent& event, std::string_view line)>;

/// Starts `assay-engine` from the folder of this program, delivers its events, and waits for its end. Progress is shown
/// as the session says. `environment` if the engine cannot be started; `internal` if it writes something that is no
/// event.
[[nodiscard]] base::Result<EngineEnd> runEngine(Session& session, const EngineRequest& request, std::stop_token stop,
                                                const EventHandler& handler = {});

/// Turns an end without result into the error that explains it; `resume` is the command that goes on, empty where there
/// is none.
[[nodiscard]] base::Error explainEnd(const EngineEnd& end, const std::string& resume);

} // namespace assay::cli
