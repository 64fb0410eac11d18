// SPDX-License-Identifier: Apache-2.0
#include "app/cli/json_text.h"

#include <cmath>

#include <fmt/format.h>

namespace assay::cli {

namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629), 0 if there is none.
std::size_t sequenceLength(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool good =
            follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3);
        return good ? 4 : 0;
    }
    return 0;
}

} // namespace

std::string jsonString(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const auto length = sequenceLength(text);
        if (length == 0) {
            json += "\xEF\xBF\xBD";
            text.remove_prefix(1);
            continue;
        }
        const char c = text[0];
        switch (c) {
        case '"':
            json += "\\\"";
            break;
        case '\\':
            json += "\\\\";
            break;
        case '\n':
            json += "\\n";
            break;
        case '\t':
            json += "\\t";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
                json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
            } else {
                json += text.substr(0, length);
            }
        }
        text.remove_prefix(length);
    }
    return json + "\"";
}

std::string jsonNumber(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

JsonArray& JsonArray::raw(std::string_view json) {
    if (!m_body.empty()) {
        m_body += ',';
    }
    m_body += json;
    return *this;
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
    if (!m_body.empty()) {
        m_body += ',';
    }
    m_body += jsonString(key);
    m_body += ':';
    m_body += json;
    return *this;
}

} // namespace assay::cli
