// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace assay::base {

using ByteVector = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

[[nodiscard]] std::string toHex(ByteView bytes); ///< lower case
/// Decodes an even number of hex digits of either case; malformed with the offset of the first bad digit.
[[nodiscard]] Result<ByteVector> fromHex(std::string_view text);
[[nodiscard]] inline ByteView asBytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view asText(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] std::string toBase64(ByteView bytes); ///< standard alphabet, padded (RFC 4648 section 4)
/// Strict: padding required, no white space, unused bits zero.
[[nodiscard]] Result<ByteVector> fromBase64(std::string_view text);

/// All integers on disk are little-endian unless a format says otherwise.
template <typename T>
[[nodiscard]] T loadLe(const std::uint8_t* at) {
    static_assert(std::endian::native == std::endian::little, "big-endian hosts need byte swaps here");
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
template <typename T>
void storeLe(std::uint8_t* at, T value) {
    static_assert(std::endian::native == std::endian::little, "big-endian hosts need byte swaps here");
    std::memcpy(at, &value, sizeof value);
}

/// Appends little-endian values to a byte vector.
class ByteWriter {
public:
    template <typename T>
    void put(T value) {
        static_assert(std::is_arithmetic_v<T>);
        const auto at = m_bytes.size();
        m_bytes.resize(at + sizeof value);
        storeLe(m_bytes.data() + at, value);
    }
    void putBytes(ByteView bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }
    void putText(std::string_view text) { putBytes(asBytes(text)); }
    void putVarint(std::uint64_t value); ///< LEB128, shortest form
    [[nodiscard]] const ByteVector& bytes() const { return m_bytes; }
    [[nodiscard]] ByteVector take() { return std::move(m_bytes); }

private:
    ByteVector m_bytes;
};

/// Bounds-checked cursor over untrusted bytes. Every failure is `malformed` with the absolute offset.
class ByteReader {
public:
    explicit ByteReader(ByteView bytes, std::uint64_t base = 0) : m_bytes(bytes), m_base(base) {}
    template <typename T>
    [[nodiscard]] Result<T> get(std::string_view what) {
        static_assert(std::is_arithmetic_v<T>);
        if (remaining() < sizeof(T)) {
            return fail(truncated(what, sizeof(T)));
        }
        const T value = loadLe<T>(m_bytes.data() + m_at);
        m_at += sizeof(T);
        return value;
    }
    [[nodiscard]] Result<ByteView> getBytes(std::uint64_t count, std::string_view what);
    [[nodiscard]] Result<std::uint64_t> getVarint(std::string_view what); ///< rejects longer-than-needed encodings
    [[nodiscard]] Result<void> expectText(std::string_view text, std::string_view what);
    [[nodiscard]] Result<void> expectEnd(std::string_view what) const; ///< trailing bytes are malformed
    [[nodiscard]] std::uint64_t remaining() const { return m_bytes.size() - m_at; }
    [[nodiscard]] std::uint64_t offset() const { return m_base + m_at; }

private:
    [[nodiscard]] Error truncated(std::string_view what, std::uint64_t need) const;
    ByteView m_bytes;
    std::uint64_t m_base;
    std::uint64_t m_at = 0;
};

} // namespace assay::base
