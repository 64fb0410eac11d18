// SPDX-License-Identifier: Apache-2.0
#include "core/base/bytes.h"

#include <array>

#include <fmt/format.h>

namespace assay::base {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hexValue(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

} // namespace

std::string toHex(ByteView bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const auto byte : bytes) {
        text += kHexDigits[byte >> 4];
        text += kHexDigits[byte & 15];
    }
    return text;
}

Result<ByteVector> fromHex(std::string_view text) {
    if (text.size() % 2 != 0) {
        return failAt(fmt::format("odd number of hex digits ({})", text.size()), text.size());
    }
    ByteVector bytes(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int value = hexValue(text[i]);
        if (value < 0) {
            return failAt("expected a hex digit", i);
        }
        bytes[i / 2] = static_cast<std::uint8_t>((bytes[i / 2] << 4) | value);
    }
    return bytes;
}

std::string toBase64(ByteView bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16;
        group |= left > 1 ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0;
        group |= left > 2 ? static_cast<std::uint32_t>(bytes[i + 2]) : 0;
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= left ? kBase64Alphabet[(group >> (18 - 6 * k)) & 63] : '=';
        }
    }
    return text;
}

Result<ByteVector> fromBase64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return failAt("base64 length is not a multiple of 4", text.size());
    }
    ByteVector bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        std::size_t digits = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const char c = text[i + k];
            if (c == '=') {
                const bool lastGroup = i + 4 == text.size();
                if (!lastGroup || k < 2 || (k == 2 && text[i + 3] != '=')) {
                    return failAt("misplaced base64 padding", i + k);
                }
                group <<= 6;
                continue;
            }
            const auto value = kBase64Alphabet.find(c);
            if (value == std::string_view::npos || digits != k) {
                return failAt("expected a base64 character", i + k);
            }
            group = (group << 6) | static_cast<std::uint32_t>(value);
            ++digits;
        }
        const std::size_t count = digits - 1;
        if ((digits == 2 && (group & 0xffff) != 0) || (digits == 3 && (group & 0xff) != 0)) {
            return failAt("unused base64 bits are not zero", i);
        }
        for (std::size_t k = 0; k < count; ++k) {
            bytes.push_back(static_cast<std::uint8_t>(group >> (16 - 8 * k)));
        }
    }
    return bytes;
}

void ByteWriter::putVarint(std::uint64_t value) {
    while (value >= 0x80) {
        m_bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    m_bytes.push_back(static_cast<std::uint8_t>(value));
}

Error ByteReader::truncated(std::string_view what, std::uint64_t need) const {
    return Error{ErrorCode::malformed,
                 fmt::format("truncated: {} needs {} bytes, {} left", what, need, remaining()),
                 {},
                 offset(),
                 {}};
}

Result<ByteView> ByteReader::getBytes(std::uint64_t count, std::string_view what) {
    if (remaining() < count) {
        return fail(truncated(what, count));
    }
    const auto view = m_bytes.subspan(m_at, count);
    m_at += count;
    return view;
}

Result<std::uint64_t> ByteReader::getVarint(std::string_view what) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (remaining() == 0) {
            return fail(truncated(what, 1));
        }
        const std::uint8_t byte = m_bytes[m_at++];
        if (shift == 63 && byte > 1) {
            return failAt(fmt::format("{}: varint exceeds 64 bits", what), offset() - 1);
        }
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            if (byte == 0 && shift > 0) {
                return failAt(fmt::format("{}: varint is not in shortest form", what), offset() - 1);
            }
            return value;
        }
    }
    return failAt(fmt::format("{}: varint exceeds 64 bits", what), offset());
}

Result<void> ByteReader::expectText(std::string_view text, std::string_view what) {
    const auto at = offset();
    ASSAY_TRY(bytes, getBytes(text.size(), what));
    if (asText(bytes) != text) {
        return failAt(fmt::format("{}: expected \"{}\"", what, text), at);
    }
    return {};
}

Result<void> ByteReader::expectEnd(std::string_view what) const {
    if (remaining() != 0) {
        return failAt(fmt::format("{}: {} trailing bytes", what, remaining()), offset());
    }
    return {};
}

} // namespace assay::base
