// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace assay::format::detail {

/// A bounds-checked cursor over untrusted JSON text (RFC 8259). Each call consumes one token and the white space before
/// it. Every failure is `malformed` with the absolute offset (base + position).
class JsonCursor {
public:
    explicit JsonCursor(std::string_view text, std::uint64_t base = 0) : m_text(text), m_base(base) {}

    [[nodiscard]] base::Result<void> expect(char token);
    /// Consumes `token` if it is next.
    [[nodiscard]] bool accept(char token);
    /// Next significant character without consuming it; 0 at the end.
    [[nodiscard]] char peek();
    /// A string, unescaped; UTF-8 is checked. Longer than `limit` bytes is malformed.
    [[nodiscard]] base::Result<std::string> string(std::size_t limit);
    /// An integer of magnitude below 2^53; a fraction, an exponent, a leading zero or -0 is malformed.
    [[nodiscard]] base::Result<std::int64_t> integer();
    [[nodiscard]] base::Result<bool> boolean();
    /// Only white space may remain.
    [[nodiscard]] base::Result<void> expectEnd();

    [[nodiscard]] std::uint64_t offset(); ///< of the next token
    [[nodiscard]] base::Error error(std::string message);

private:
    void skipSpace();
    [[nodiscard]] base::Result<std::uint32_t> fourHexDigits();
    [[nodiscard]] base::Result<void> appendEscape(std::string& out);
    std::string_view m_text;
    std::uint64_t m_base;
    std::size_t m_at = 0;
};

/// Appends a string literal in canonical form: quotes, the short escapes, \u00xx for other control characters, all else
/// as is.
void appendJsonString(std::string& out, std::string_view text);

/// `malformed` with the offset of the first difference unless `bytes` is exactly `canonical`.
[[nodiscard]] base::Result<void> expectCanonical(std::string_view bytes, std::string_view canonical);

} // namespace assay::format::detail
