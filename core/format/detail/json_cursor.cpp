// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/json_cursor.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/format/json.h"

namespace assay::format::detail {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

std::string shown(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7F ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
}

void appendUtf8(std::string& out, std::uint32_t code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (code >> 18));
        out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    }
}

} // namespace

Error JsonCursor::error(std::string message) {
    return Error{ErrorCode::malformed, std::move(message), {}, m_base + m_at, {}};
}

void JsonCursor::skipSpace() {
    while (m_at < m_text.size() &&
           (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r')) {
        ++m_at;
    }
}

char JsonCursor::peek() {
    skipSpace();
    return m_at < m_text.size() ? m_text[m_at] : '\0';
}

std::uint64_t JsonCursor::offset() {
    skipSpace();
    return m_base + m_at;
}

bool JsonCursor::accept(char token) {
    if (peek() != token || m_at == m_text.size()) {
        return false;
    }
    ++m_at;
    return true;
}

Result<void> JsonCursor::expect(char token) {
    if (!accept(token)) {
        return fail(error(m_at < m_text.size() ? fmt::format("expected '{}', found {}", token, shown(m_text[m_at]))
                                               : fmt::format("expected '{}', found the end", token)));
    }
    return {};
}

Result<std::uint32_t> JsonCursor::fourHexDigits() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++m_at) {
        const char c = m_at < m_text.size() ? m_text[m_at] : '\0';
        std::uint32_t digit = 0;
        if (c >= '0' && c <= '9') {
            digit = static_cast<std::uint32_t>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = static_cast<std::uint32_t>(c - 'a' + 10);
        } else if (c >= 'A' && c <= 'F') {
            digit = static_cast<std::uint32_t>(c - 'A' + 10);
        } else {
            return fail(error("expected four hex digits after \\u"));
        }
        value = value * 16 + digit;
    }
    return value;
}

Result<void> JsonCursor::appendEscape(std::string& out) {
    const char c = m_at < m_text.size() ? m_text[m_at] : '\0';
    ++m_at;
    switch (c) {
    case '"':
    case '\\':
    case '/':
        out += c;
        return {};
    case 'b':
        out += '\b';
        return {};
    case 'f':
        out += '\f';
        return {};
    case 'n':
        out += '\n';
        return {};
    case 'r':
        out += '\r';
        return {};
    case 't':
        out += '\t';
        return {};
    case 'u':
        break;
    default:
        --m_at;
        return fail(error("unknown escape in a string"));
    }
    ASSAY_TRY(first, fourHexDigits());
    std::uint32_t code = first;
    if (code >= 0xD800 && code < 0xDC00) {
        if (m_text.substr(m_at, 2) != "\\u") {
            return fail(error("half of a surrogate pair in a string"));
        }
        m_at += 2;
        ASSAY_TRY(second, fourHexDigits());
        if (second < 0xDC00 || second > 0xDFFF) {
            return fail(error("half of a surrogate pair in a string"));
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
        return fail(error("half of a surrogate pair in a string"));
    }
    appendUtf8(out, code);
    return {};
}

Result<std::string> JsonCursor::string(std::size_t limit) {
    skipSpace();
    const auto start = m_at;
    if (!accept('"')) {
        return fail(error("expected a string"));
    }
    std::string out;
    for (;;) {
        // Plain runs are copied whole.
        const auto run = m_at;
        while (m_at < m_text.size() && m_text[m_at] != '"' && m_text[m_at] != '\\' &&
               static_cast<unsigned char>(m_text[m_at]) >= 0x20) {
            ++m_at;
        }
        if (out.size() + (m_at - run) > limit) {
            m_at = start;
            return fail(error(fmt::format("string is longer than {} bytes", limit)));
        }
        out.append(m_text, run, m_at - run);
        if (m_at >= m_text.size()) {
            return fail(error("the text ends inside a string"));
        }
        if (m_text[m_at] == '"') {
            ++m_at;
            break;
        }
        if (m_text[m_at] != '\\') {
            return fail(error("unescaped control character in a string"));
        }
        ++m_at;
        ASSAY_CHECK(appendEscape(out));
    }
    if (!isUtf8(out)) {
        m_at = start;
        return fail(error("string is not valid UTF-8"));
    }
    return out;
}

Result<std::int64_t> JsonCursor::integer() {
    skipSpace();
    const auto start = m_at;
    const auto bad = [&](std::string message) {
        m_at = start;
        return fail(error(std::move(message)));
    };
    const bool negative = m_at < m_text.size() && m_text[m_at] == '-';
    m_at += negative ? 1 : 0;
    const auto firstDigit = m_at;
    std::int64_t value = 0;
    while (m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9') {
        value = value * 10 + (m_text[m_at] - '0');
        ++m_at;
        if (value > kMaxJsonInteger) {
            return bad("integer of magnitude 2^53 or more");
        }
    }
    if (m_at == firstDigit) {
        return bad("expected an integer");
    }
    if (m_text[firstDigit] == '0' && (m_at - firstDigit > 1 || negative)) {
        return bad("integer with a leading zero or a negative zero");
    }
    if (m_at < m_text.size() && (m_text[m_at] == '.' || m_text[m_at] == 'e' || m_text[m_at] == 'E')) {
        return bad("floating-point number; this format holds integers only, FP32 values are 8 hex digits in a string");
    }
    return negative ? -value : value;
}

Result<bool> JsonCursor::boolean() {
    skipSpace();
    for (const bool value : {true, false}) {
        const std::string_view word = value ? "true" : "false";
        if (m_text.substr(m_at, word.size()) == word) {
            m_at += word.size();
            return value;
        }
    }
    return fail(error("expected true or false"));
}

Result<void> JsonCursor::expectEnd() {
    skipSpace();
    if (m_at != m_text.size()) {
        return fail(error(fmt::format("{} bytes after the end of the value", m_text.size() - m_at)));
    }
    return {};
}

void appendJsonString(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\b':
            out += "\\b";
            break;
        case '\f':
            out += "\\f";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20) {
                out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
            } else {
                out += c;
            }
        }
    }
    out += '"';
}

Result<void> expectCanonical(std::string_view bytes, std::string_view canonical) {
    if (bytes == canonical) {
        return {};
    }
    const auto [a, b] = std::mismatch(bytes.begin(), bytes.end(), canonical.begin(), canonical.end());
    const auto at = static_cast<std::uint64_t>(a - bytes.begin());
    if (a == bytes.end()) {
        return base::failAt("not the canonical form: the text ends early (it must end with one newline)", at);
    }
    return base::failAt(
        fmt::format(
            "not the canonical form (sorted keys, no white space, one newline at the end): expected {}, found {}",
            b == canonical.end() ? std::string("the end") : shown(*b), shown(*a)),
        at);
}

} // namespace assay::format::detail
