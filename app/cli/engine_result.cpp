// SPDX-License-Identifier: Apache-2.0
#include "app/cli/engine_result.h"

#include <nlohmann/json.hpp>

#include "app/cli/json_text.h"

namespace assay::cli {

struct EngineResult::State {
    nlohmann::json object;
    [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
        const auto found = object.find(name);
        return found == object.end() ? nullptr : &*found;
    }
};

EngineResult::EngineResult(std::string_view json) {
    auto state = std::make_shared<State>();
    state->object = nlohmann::json::parse(json, nullptr, false);
    if (!state->object.is_object()) {
        state->object = nlohmann::json::object();
    }
    m_state = std::move(state);
}

std::optional<std::string> EngineResult::text(std::string_view name) const {
    const auto* value = m_state->find(name);
    return value != nullptr && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::optional<std::uint64_t> EngineResult::integer(std::string_view name) const {
    const auto* value = m_state->find(name);
    return value != nullptr && value->is_number_unsigned() ? std::optional(value->get<std::uint64_t>()) : std::nullopt;
}

std::optional<double> EngineResult::number(std::string_view name) const {
    const auto* value = m_state->find(name);
    return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

bool EngineResult::flag(std::string_view name) const {
    const auto* value = m_state->find(name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

EngineResult EngineResult::member(std::string_view name) const {
    const auto* value = m_state->find(name);
    return EngineResult(value != nullptr ? value->dump() : "{}");
}

std::vector<EngineResult::Kernel> EngineResult::kernels() const {
    std::vector<Kernel> kernels;
    const auto* list = m_state->find("kernels");
    if (list != nullptr && list->is_array()) {
        for (const auto& item : *list) {
            const EngineResult one(item.dump());
            kernels.push_back({one.text("name").value_or(""), one.flag("supported"), one.text("reason").value_or("")});
        }
    }
    return kernels;
}

std::string withSchema(std::string_view schema, std::string_view resultJson) {
    std::string text = JsonObject(schema).text();
    if (resultJson.size() > 2) {
        text.back() = ',';
        text += resultJson.substr(1);
    }
    return text;
}

} // namespace assay::cli
