// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::format {

/// A value of the restricted JSON profile: objects with sorted unique keys, arrays, strings, booleans, integers of
/// magnitude below 2^53. No null, no floats. Value type.
class JsonValue {
public:
    using Array = std::vector<JsonValue>;
    using Object = std::map<std::string, JsonValue, std::less<>>;

    JsonValue() : m_value(Object{}) {}
    JsonValue(bool value) : m_value(value) {}
    JsonValue(std::int64_t value) : m_value(value) {}
    JsonValue(std::string value) : m_value(std::move(value)) {}
    JsonValue(const char* value) : m_value(std::string(value)) {}
    JsonValue(Array value) : m_value(std::move(value)) {}
    JsonValue(Object value) : m_value(std::move(value)) {}

    [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&m_value); }
    [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&m_value); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&m_value); }
    [[nodiscard]] const Array* array() const { return std::get_if<Array>(&m_value); }
    [[nodiscard]] const Object* object() const { return std::get_if<Object>(&m_value); }
    [[nodiscard]] std::string_view typeName() const;
    [[nodiscard]] std::uint64_t offset() const { return m_offset; } ///< of its first byte in the parsed text
    void setOffset(std::uint64_t offset) { m_offset = offset; }
    bool operator==(const JsonValue& other) const { return m_value == other.m_value; }

private:
    std::variant<bool, std::int64_t, std::string, Array, Object> m_value;
    std::uint64_t m_offset = 0;
};

inline constexpr int kMaxJsonDepth = 32;
inline constexpr std::int64_t kMaxJsonInteger = (1LL << 53) - 1;

/// Canonical bytes without the final newline: no white space, keys in byte order, only the escapes that must be.
/// Precondition: strings are UTF-8, integers in range, depth <= kMaxJsonDepth.
[[nodiscard]] std::string writeJson(const JsonValue& value);
/// Strict inverse of writeJson + one newline at the end: any other spelling is `malformed` with its offset. Memory is
/// bounded by a constant factor of the input.
[[nodiscard]] base::Result<JsonValue> readJson(base::ByteView bytes, std::uint64_t limit);

/// True for well-formed UTF-8 without surrogates (RFC 3629).
[[nodiscard]] bool isUtf8(std::string_view text);

} // namespace assay::format
