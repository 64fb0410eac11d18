// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// JSON string literal with quotes; invalid UTF-8 becomes U+FFFD, so that any path can be printed.
[[nodiscard]] std::string jsonString(std::string_view text);
/// Shortest decimal that reads back as the same FP64 value; "null" for infinities and NaN.
[[nodiscard]] std::string jsonNumber(double value);

/// Writes one JSON array or object piece by piece, members in the order in which they are added. Value type.
class JsonArray {
public:
    JsonArray& add(std::string_view text) { return raw(jsonString(text)); }
    JsonArray& add(std::uint64_t value) { return raw(std::to_string(value)); }
    JsonArray& raw(std::string_view json); ///< precondition: one complete JSON value
    [[nodiscard]] std::string text() const { return "[" + m_body + "]"; }

private:
    std::string m_body;
};

class JsonObject {
public:
    JsonObject() = default;
    /// Starts with "schema" and "version", as every result of the command line does.
    explicit JsonObject(std::string_view schema, std::uint64_t version = 1) {
        add("schema", schema).add("version", version);
    }

    JsonObject& add(std::string_view key, std::string_view text) { return raw(key, jsonString(text)); }
    JsonObject& add(std::string_view key, const std::string& text) { return add(key, std::string_view(text)); }
    JsonObject& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
    JsonObject& add(std::string_view key, std::same_as<bool> auto value) { return raw(key, value ? "true" : "false"); }
    JsonObject& add(std::string_view key, std::integral auto value) requires(!std::same_as<decltype(value), bool>) {
        return raw(key, std::to_string(value));
    }
    JsonObject& add(std::string_view key, double value) { return raw(key, jsonNumber(value)); }
    JsonObject& add(std::string_view key, const JsonObject& object) { return raw(key, object.text()); }
    JsonObject& add(std::string_view key, const JsonArray& array) { return raw(key, array.text()); }
    template <typename T>
    JsonObject& add(std::string_view key, const std::optional<T>& value) {
        return value ? add(key, *value) : raw(key, "null");
    }
    JsonObject& raw(std::string_view key, std::string_view json); ///< precondition: one complete JSON value
    [[nodiscard]] std::string text() const { return "{" + m_body + "}"; }

private:
    std::string m_body;
};

} // namespace assay::cli
