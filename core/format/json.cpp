// SPDX-License-Identifier: Apache-2.0
#include "core/format/json.h"

#include <fmt/format.h>

#include "core/format/detail/json_cursor.h"

namespace assay::format {

using base::fail;
using base::Result;
using detail::JsonCursor;

namespace {

/// A value takes up to about 64 bytes for every 2 of input; this bounds what a hostile text may claim.
constexpr std::uint64_t kMaxValues = 1ULL << 20;

void append(std::string& out, const JsonValue& value) {
    if (const auto* boolean = value.boolean()) {
        out += *boolean ? "true" : "false";
    } else if (const auto* integer = value.integer()) {
        out += std::to_string(*integer);
    } else if (const auto* text = value.text()) {
        detail::appendJsonString(out, *text);
    } else if (const auto* array = value.array()) {
        out += '[';
        for (const auto& item : *array) {
            if (&item != array->data()) {
                out += ',';
            }
            append(out, item);
        }
        out += ']';
    } else if (const auto* object = value.object()) {
        out += '{';
        bool first = true;
        for (const auto& [key, item] : *object) {
            if (!first) {
                out += ',';
            }
            first = false;
            detail::appendJsonString(out, key);
            out += ':';
            append(out, item);
        }
        out += '}';
    }
}

class Parser {
public:
    explicit Parser(std::string_view text) : m_cursor(text) {}

    Result<JsonValue> document() {
        JsonValue value;
        ASSAY_CHECK(parseValue(1, value));
        ASSAY_CHECK(m_cursor.expectEnd());
        return value;
    }

private:
    Result<void> parseValue(int depth, JsonValue& out) {
        const auto offset = m_cursor.offset();
        if (depth > kMaxJsonDepth) {
            return fail(m_cursor.error(fmt::format("nested deeper than {} levels", kMaxJsonDepth)));
        }
        if (++m_values > kMaxValues) {
            return fail(m_cursor.error(fmt::format("more than {} values", kMaxValues)));
        }
        switch (m_cursor.peek()) {
        case '{':
            ASSAY_CHECK(parseObject(depth, out));
            break;
        case '[':
            ASSAY_CHECK(parseArray(depth, out));
            break;
        case '"': {
            ASSAY_TRY(text, m_cursor.string(kMaxString));
            out = JsonValue(std::move(text));
            break;
        }
        case 't':
        case 'f': {
            ASSAY_TRY(boolean, m_cursor.boolean());
            out = JsonValue(boolean);
            break;
        }
        case 'n':
            return fail(m_cursor.error("null is not part of this format"));
        default: {
            ASSAY_TRY(integer, m_cursor.integer());
            out = JsonValue(integer);
        }
        }
        out.setOffset(offset);
        return {};
    }

    Result<void> parseArray(int depth, JsonValue& out) {
        ASSAY_CHECK(m_cursor.expect('['));
        JsonValue::Array items;
        if (!m_cursor.accept(']')) {
            do {
                ASSAY_CHECK(parseValue(depth + 1, items.emplace_back()));
            } while (m_cursor.accept(','));
            ASSAY_CHECK(m_cursor.expect(']'));
        }
        out = JsonValue(std::move(items));
        return {};
    }

    Result<void> parseObject(int depth, JsonValue& out) {
        ASSAY_CHECK(m_cursor.expect('{'));
        JsonValue::Object items;
        if (!m_cursor.accept('}')) {
            do {
                const auto offset = m_cursor.offset();
                ASSAY_TRY(key, m_cursor.string(kMaxString));
                const auto [at, isNew] = items.try_emplace(key);
                if (!isNew) {
                    return base::failAt(fmt::format("duplicate key \"{}\"", key), offset);
                }
                ASSAY_CHECK(m_cursor.expect(':'));
                ASSAY_CHECK(parseValue(depth + 1, at->second));
            } while (m_cursor.accept(','));
            ASSAY_CHECK(m_cursor.expect('}'));
        }
        out = JsonValue(std::move(items));
        return {};
    }

    static constexpr std::size_t kMaxString = 1 << 20;
    JsonCursor m_cursor;
    std::uint64_t m_values = 0;
};

} // namespace

std::string_view JsonValue::typeName() const {
    static constexpr std::string_view kNames[] = {"a boolean", "an integer", "a string", "an array", "an object"};
    return kNames[m_value.index()];
}

std::string writeJson(const JsonValue& value) {
    std::string out;
    append(out, value);
    return out;
}

Result<JsonValue> readJson(base::ByteView bytes, std::uint64_t limit) {
    if (bytes.size() > limit) {
        return base::failAt(fmt::format("text has {} bytes, at most {} are accepted here", bytes.size(), limit), limit);
    }
    const auto text = base::asText(bytes);
    ASSAY_TRY(value, Parser(text).document());
    auto canonical = writeJson(value);
    canonical += '\n';
    ASSAY_CHECK(detail::expectCanonical(text, canonical));
    return std::move(value);
}

bool isUtf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        std::size_t length = 1;
        std::uint32_t code = first;
        std::uint32_t smallest = 0;
        if (first >= 0xF0 && first < 0xF8) {
            length = 4;
            code = first & 0x07U;
            smallest = 0x10000;
        } else if (first >= 0xE0 && first < 0xF0) {
            length = 3;
            code = first & 0x0FU;
            smallest = 0x800;
        } else if (first >= 0xC0 && first < 0xE0) {
            length = 2;
            code = first & 0x1FU;
            smallest = 0x80;
        } else if (first >= 0x80) {
            return false;
        }
        if (length > text.size() - i) {
            return false;
        }
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            if ((next & 0xC0U) != 0x80) {
                return false;
            }
            code = (code << 6) | (next & 0x3FU);
        }
        if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            return false;
        }
        i += length;
    }
    return true;
}

} // namespace assay::format
