// SPDX-License-Identifier: Apache-2.0
#include "core/audit/detail/json_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::audit::detail {

using nlohmann::json;

namespace {

/// Deepest nesting of brackets outside strings; a cheap look before the parser builds anything.
std::size_t depthOf(std::string_view text) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            i += c == '\\' ? 1U : 0U;
            inString = c != '"';
        } else if (c == '"') {
            inString = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

std::optional<std::uint32_t> bitsFrom(const std::string& text) {
    if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

} // namespace

base::Result<std::shared_ptr<const json>> parseObject(std::string_view text, std::size_t maxBytes,
                                                      std::size_t maxDepth) {
    if (text.size() > maxBytes) {
        return base::fail(base::ErrorCode::malformed,
                          fmt::format("JSON text of {} bytes, at most {} are allowed", text.size(), maxBytes));
    }
    if (depthOf(text) > maxDepth) {
        return base::fail(base::ErrorCode::malformed, fmt::format("JSON is nested deeper than {} levels", maxDepth));
    }
    auto value = std::make_shared<json>(json::parse(text.begin(), text.end(), nullptr, false));
    if (value->is_discarded()) {
        return base::fail(base::ErrorCode::malformed, "this is not valid JSON in UTF-8");
    }
    if (!value->is_object()) {
        return base::fail(base::ErrorCode::malformed, "expected a JSON object");
    }
    return value;
}

JsonReader::JsonReader(const json& object, std::string path) : m_object(&object), m_path(std::move(path)) {
    if (!object.is_object()) {
        m_error = fmt::format("{} is not an object", m_path);
    }
}

const json* JsonReader::member(const char* key) const {
    if (!m_object->is_object()) {
        return nullptr;
    }
    const auto found = m_object->find(key);
    return found == m_object->end() || found->is_null() ? nullptr : &*found;
}

const json* JsonReader::required(const char* key) {
    const auto* value = member(key);
    if (value == nullptr) {
        wrong(key, "is missing");
    }
    return value;
}

void JsonReader::wrong(const char* key, std::string_view what) {
    if (m_error.empty()) {
        m_error = fmt::format("member \"{}{}{}\" {}", m_path, m_path.empty() ? "" : ".", key, what);
    }
}

void JsonReader::absorb(const JsonReader& inner) {
    if (m_error.empty()) {
        m_error = inner.m_error;
    }
}

base::Result<void> JsonReader::status() const {
    if (!m_error.empty()) {
        return base::fail(base::ErrorCode::malformed, m_error);
    }
    return {};
}

std::string JsonReader::text(const char* key) {
    required(key);
    return optionalText(key).value_or(std::string());
}

std::optional<std::string> JsonReader::optionalText(const char* key) {
    const auto* value = member(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        wrong(key, "is not a text");
        return std::nullopt;
    }
    return value->get<std::string>();
}

std::uint64_t JsonReader::natural(const char* key, std::uint64_t limit) {
    required(key);
    const auto value = optionalNatural(key).value_or(0);
    if (value > limit) {
        wrong(key, "is too large");
        return 0;
    }
    return value;
}

std::optional<std::uint64_t> JsonReader::optionalNatural(const char* key) {
    const auto* value = member(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > kMaxNatural) {
        wrong(key, "is not an integer from 0 to 2^53 - 1");
        return std::nullopt;
    }
    return value->get<std::uint64_t>();
}

bool JsonReader::boolean(const char* key) {
    required(key);
    return optionalBoolean(key);
}

bool JsonReader::optionalBoolean(const char* key) {
    const auto* value = member(key);
    if (value != nullptr && !value->is_boolean()) {
        wrong(key, "is neither true nor false");
        return false;
    }
    return value != nullptr && value->get<bool>();
}

double JsonReader::number(const char* key) {
    required(key);
    return optionalNumber(key).value_or(0.0);
}

std::optional<double> JsonReader::optionalNumber(const char* key) {
    const auto* value = member(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() < 0.0) {
        wrong(key, "is not a finite number of at least 0");
        return std::nullopt;
    }
    return value->get<double>();
}

std::uint32_t JsonReader::bits(const char* key) {
    required(key);
    return optionalBits(key).value_or(0);
}

std::optional<std::uint32_t> JsonReader::optionalBits(const char* key) {
    const auto value = optionalText(key);
    if (!value) {
        return std::nullopt;
    }
    const auto parsed = bitsFrom(*value);
    if (!parsed) {
        wrong(key, "is not 8 lower-case hex digits");
    }
    return parsed;
}

const json* JsonReader::array(const char* key, std::size_t limit, bool isRequired) {
    const auto* value = isRequired ? required(key) : member(key);
    if (value == nullptr) {
        return nullptr;
    }
    if (!value->is_array()) {
        wrong(key, "is not a list");
        return nullptr;
    }
    if (value->size() > limit) {
        wrong(key, "has too many items");
        return nullptr;
    }
    return value;
}

const json* JsonReader::object(const char* key) {
    const auto* value = member(key);
    if (value != nullptr && !value->is_object()) {
        wrong(key, "is not an object");
        return nullptr;
    }
    return value;
}

std::string bitsText(std::uint32_t bits) {
    return fmt::format("{:08x}", bits);
}

} // namespace assay::audit::detail
