// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/base/error.h"

namespace assay::audit::detail {

/// Largest integer that every JSON reader keeps exact.
inline constexpr std::uint64_t kMaxNatural = (1ULL << 53) - 1;

/// Parses text that must be one JSON object. `malformed` if it is larger than `maxBytes`, deeper than `maxDepth`, not
/// UTF-8 or not JSON.
[[nodiscard]] base::Result<std::shared_ptr<const nlohmann::json>>
parseObject(std::string_view text, std::size_t maxBytes, std::size_t maxDepth);

/// Reads the members of one object and remembers the first thing that is wrong, so that a caller can read everything
/// and ask once. A null member counts as missing. Missing or mistyped members read as zero or empty.
class JsonReader {
public:
    /// `path` names the object in errors ("checks[3]"). A value that is no object is the first error.
    explicit JsonReader(const nlohmann::json& object, std::string path = {});

    [[nodiscard]] std::string text(const char* key);
    [[nodiscard]] std::optional<std::string> optionalText(const char* key);
    [[nodiscard]] std::uint64_t natural(const char* key, std::uint64_t limit = kMaxNatural); ///< 0 .. limit
    [[nodiscard]] std::optional<std::uint64_t> optionalNatural(const char* key);
    [[nodiscard]] std::uint32_t word(const char* key) { return static_cast<std::uint32_t>(natural(key, 0xffffffffU)); }
    [[nodiscard]] bool boolean(const char* key);
    [[nodiscard]] bool optionalBoolean(const char* key); ///< false if missing
    [[nodiscard]] double number(const char* key);        ///< finite and not negative
    [[nodiscard]] std::optional<double> optionalNumber(const char* key);
    [[nodiscard]] std::uint32_t bits(const char* key); ///< 8 hex digits
    [[nodiscard]] std::optional<std::uint32_t> optionalBits(const char* key);
    /// Array with at most `limit` items; nullptr if it is missing, which is an error unless `required` is false.
    [[nodiscard]] const nlohmann::json* array(const char* key, std::size_t limit, bool required = true);
    [[nodiscard]] const nlohmann::json* object(const char* key); ///< nullptr if missing
    [[nodiscard]] const nlohmann::json* value(const char* key) const {
        return member(key);
    } ///< of any type; nullptr if missing
    /// A name out of an enumeration: `parse` answers nullopt for an unknown one.
    template <typename Enum>
    [[nodiscard]] Enum name(const char* key, std::optional<Enum> (*parse)(std::string_view), Enum fallback) {
        const auto value = parse(text(key));
        if (!value) {
            wrong(key, "has an unknown value");
        }
        return value.value_or(fallback);
    }
    template <typename Enum>
    [[nodiscard]] std::optional<Enum> optionalName(const char* key, std::optional<Enum> (*parse)(std::string_view)) {
        const auto value = optionalText(key);
        if (!value) {
            return std::nullopt;
        }
        const auto known = parse(*value);
        if (!known) {
            wrong(key, "has an unknown value");
        }
        return known;
    }

    [[nodiscard]] const std::string& path() const { return m_path; }
    /// Takes over the first error of a nested object.
    void absorb(const JsonReader& inner);
    void wrong(const char* key, std::string_view what);
    [[nodiscard]] base::Result<void> status() const;

private:
    [[nodiscard]] const nlohmann::json* member(const char* key) const;
    const nlohmann::json* required(const char* key);
    const nlohmann::json* m_object;
    std::string m_path;
    std::string m_error;
};

/// Text for JSON: bits as 8 hex digits.
[[nodiscard]] std::string bitsText(std::uint32_t bits);

} // namespace assay::audit::detail
