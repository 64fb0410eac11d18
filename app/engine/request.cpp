// SPDX-License-Identifier: Apache-2.0
#include "app/engine/request.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::app {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Request::State {
    nlohmann::json object;
    std::string verb;
};

Request::Request(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

Result<Request> Request::parse(std::string_view line) {
    if (line.size() > kMaxBytes) {
        return fail(ErrorCode::usage, "the request is longer than 1 MiB");
    }
    // Flat by rule: a depth limit in the parser's callback keeps hostile nesting off the stack.
    bool nested = false;
    const auto flat = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json&) {
        nested = nested || (depth > 0 && (event == nlohmann::json::parse_event_t::object_start ||
                                          event == nlohmann::json::parse_event_t::array_start));
        return !nested;
    };
    auto state = std::make_unique<State>();
    state->object = nlohmann::json::parse(line, flat, false);
    if (nested || !state->object.is_object()) {
        return fail(ErrorCode::usage, "the request is not one flat JSON object on one line",
                    "this program is started by assay and assay-workbench");
    }
    const auto verb = state->object.find("verb");
    if (verb == state->object.end() || !verb->is_string()) {
        return fail(ErrorCode::usage, "the request has no verb");
    }
    state->verb = verb->get<std::string>();
    return Request(std::move(state));
}

const std::string& Request::verb() const {
    return m_state->verb;
}

Result<std::string> Request::text(std::string_view name) const {
    const auto found = m_state->object.find(name);
    if (found == m_state->object.end() || found->is_null()) {
        return std::string();
    }
    if (!found->is_string()) {
        return fail(ErrorCode::usage, fmt::format("option {}: expected a text", name));
    }
    return found->get<std::string>();
}

Result<std::string> Request::requiredText(std::string_view name) const {
    ASSAY_TRY(value, text(name));
    if (value.empty()) {
        return fail(ErrorCode::usage, fmt::format("option {} is missing", name));
    }
    return std::move(value);
}

Result<std::optional<std::uint64_t>> Request::number(std::string_view name) const {
    const auto found = m_state->object.find(name);
    if (found == m_state->object.end() || found->is_null()) {
        return std::optional<std::uint64_t>{};
    }
    if (found->is_number_integer() && (found->is_number_unsigned() || found->get<std::int64_t>() >= 0)) {
        return std::optional<std::uint64_t>(found->get<std::uint64_t>());
    }
    if (found->is_string()) {
        const auto& text = found->get_ref<const std::string&>();
        std::uint64_t value = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (code == std::errc{} && end == text.data() + text.size()) {
            return std::optional<std::uint64_t>(value);
        }
    }
    return fail(ErrorCode::usage, fmt::format("option {}: expected a whole number that is not negative", name));
}

Result<bool> Request::flag(std::string_view name) const {
    const auto found = m_state->object.find(name);
    if (found == m_state->object.end() || found->is_null()) {
        return false;
    }
    if (!found->is_boolean()) {
        return fail(ErrorCode::usage, fmt::format("option {}: expected true or false", name));
    }
    return found->get<bool>();
}

} // namespace assay::app
