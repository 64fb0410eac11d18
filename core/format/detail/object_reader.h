// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/format/json.h"

namespace assay::format::detail {

/// Reads the fields of one JSON object. Keeps the first error (with path and offset) and makes every later call a
/// no-op, so that readers are straight lists of fields; `finish` returns it, or complains about a field that nobody
/// asked for.
class ObjectReader {
public:
    /// `path` is how errors name the object ("loop"); empty for the top level.
    ObjectReader(const JsonValue& value, std::string path);

    void text(std::string_view key, std::string& out);
    void boolean(std::string_view key, bool& out);
    void integer(std::string_view key, std::int64_t& out);
    void count(std::string_view key, std::uint64_t& out); ///< 0 .. 2^53-1
    void digest(std::string_view key, base::Digest& out); ///< 64 lower-case hex digits
    void real(std::string_view key, float& out);          ///< key + "_f32": 8 lower-case hex digits
    void integers(std::string_view key, std::vector<std::int64_t>& out);
    void texts(std::string_view key, std::vector<std::string>& out);
    /// The items of an array; empty after an error.
    [[nodiscard]] const JsonValue::Array& array(std::string_view key);
    /// The value of a field; nullptr after an error.
    [[nodiscard]] const JsonValue* value(std::string_view key);

    [[nodiscard]] std::string pathOf(std::string_view key) const;
    void reject(std::string_view key, const JsonValue& at, std::string_view expected);
    void adopt(base::Result<void> result); ///< takes over a nested reader's error
    [[nodiscard]] bool failed() const { return m_error.has_value(); }
    [[nodiscard]] base::Result<void> finish();

private:
    const JsonValue& m_value;
    std::string m_path;
    std::vector<std::string> m_seen;
    std::optional<base::Error> m_error;
};

/// "3f800000" for 1.0f; the inverse accepts exactly 8 lower-case digits.
[[nodiscard]] std::string realToHex(float value);
[[nodiscard]] std::optional<float> realFromHex(std::string_view text);
[[nodiscard]] bool isLowerHex(std::string_view text, std::size_t digits);

} // namespace assay::format::detail
