// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/log_codec.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace assay::numerics {

using base::ByteReader;
using base::ByteVector;
using base::ByteView;
using base::ByteWriter;
using base::fail;
using base::failAt;
using base::Result;

namespace {

constexpr std::string_view kMagic = "ASSAYRLG";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kLargestRice = 40;
constexpr std::uint64_t kLargestIndex = std::uint64_t{1} << 48;
constexpr std::uint64_t kLargestSectionCount = std::uint64_t{1} << 20;

class BitWriter {
public:
    explicit BitWriter(ByteVector& bytes) : m_bytes(bytes) {}
    void put(std::uint64_t value, std::uint32_t bits) {
        for (std::uint32_t i = 0; i < bits; ++i) {
            if (m_used == 0) {
                m_bytes.push_back(0);
            }
            m_bytes.back() = static_cast<std::uint8_t>(m_bytes.back() | (((value >> i) & 1u) << m_used));
            m_used = (m_used + 1) & 7u;
        }
    }
    void putUnary(std::uint64_t ones) {
        for (; ones > 0; --ones) {
            put(1, 1);
        }
        put(0, 1);
    }

private:
    ByteVector& m_bytes;
    std::uint32_t m_used = 0;
};

class BitReader {
public:
    BitReader(ByteView bytes, std::uint64_t offset) : m_bytes(bytes), m_offset(offset) {}
    Result<std::uint64_t> get(std::uint32_t bits) {
        if (m_at + bits > m_bytes.size() * 8) {
            return failAt("truncated: the bit stream ends inside an entry", m_offset + m_bytes.size());
        }
        std::uint64_t value = 0;
        for (std::uint32_t i = 0; i < bits; ++i, ++m_at) {
            value |= static_cast<std::uint64_t>((m_bytes[m_at >> 3] >> (m_at & 7u)) & 1u) << i;
        }
        return value;
    }
    Result<std::uint64_t> getUnary() {
        for (std::uint64_t ones = 0;; ++ones) {
            ASSAY_TRY(bit, get(1));
            if (bit == 0) {
                return ones;
            }
        }
    }
    [[nodiscard]] std::uint64_t offset() const { return m_offset + (m_at >> 3); }
    /// Whether only the zero bits that fill the last byte are left.
    [[nodiscard]] bool atCleanEnd() const {
        if ((m_at + 7) / 8 != m_bytes.size()) {
            return false;
        }
        for (std::uint64_t i = m_at; i < m_bytes.size() * 8; ++i) {
            if (((m_bytes[i >> 3] >> (i & 7u)) & 1u) != 0) {
                return false;
            }
        }
        return true;
    }

private:
    ByteView m_bytes;
    std::uint64_t m_offset;
    std::uint64_t m_at = 0;
};

/// The parameter with the fewest bits for these gaps; the smallest of equals. Part of the format: a section coded otherwise is refused.
std::uint32_t bestRice(const SiteLog& log) {
    std::uint32_t best = 0;
    std::uint64_t bestBits = ~std::uint64_t{0};
    for (std::uint32_t k = 0; k <= kLargestRice; ++k) {
        std::uint64_t bits = 0;
        std::uint64_t next = 0;
        for (const auto& entry : log) {
            bits += ((entry.index - next) >> k) + 1 + k;
            next = entry.index + 1;
        }
        if (bits < bestBits) {
            bestBits = bits;
            best = k;
        }
    }
    return best;
}

} // namespace

ByteVector encodeSection(const SiteLog& log) {
    if (log.empty()) {
        return {};
    }
    ByteWriter head;
    head.putVarint(log.size());
    const auto rice = bestRice(log);
    head.put(static_cast<std::uint8_t>(rice));
    ByteVector bytes = head.take();
    BitWriter bits(bytes);
    // A fresh byte starts after the head: the writer appends one with its first bit.
    std::uint64_t next = 0;
    for (const auto& entry : log) {
        ASSAY_ASSERT(entry.index >= next);
        const std::uint64_t gap = entry.index - next;
        bits.putUnary(gap >> rice);
        bits.put(gap, rice);
        bits.put(entry.whole ? 1 : 0, 1);
        bits.put(entry.payload, entry.whole ? 32 : 1);
        next = entry.index + 1;
    }
    return bytes;
}

Result<SiteLog> decodeSection(ByteView section, std::uint64_t offset) {
    SiteLog log;
    if (section.empty()) {
        return log;
    }
    ByteReader head(section, offset);
    ASSAY_TRY(count, head.getVarint("number of entries"));
    ASSAY_TRY(rice, head.get<std::uint8_t>("Rice parameter"));
    if (count == 0) {
        return failAt("a section without entries must be empty", offset);
    }
    if (rice > kLargestRice) {
        return failAt(fmt::format("Rice parameter {} is beyond {}", rice, kLargestRice), head.offset() - 1);
    }
    // An entry takes at least 3 bits, which bounds the memory that a claimed count can demand.
    if (count > head.remaining() * 8 / 3) {
        return failAt(fmt::format("{} entries cannot fit in {} bytes", count, head.remaining()), offset);
    }
    log.reserve(count);
    BitReader bits(section.subspan(section.size() - head.remaining()), head.offset());
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        ASSAY_TRY(quotient, bits.getUnary());
        ASSAY_TRY(low, bits.get(rice));
        if (quotient > (kLargestIndex >> rice)) {
            return failAt("entry index is beyond 2^48", bits.offset());
        }
        const std::uint64_t index = next + ((quotient << rice) | low);
        if (index >= kLargestIndex) {
            return failAt("entry index is beyond 2^48", bits.offset());
        }
        ASSAY_TRY(whole, bits.get(1));
        ASSAY_TRY(payload, bits.get(whole != 0 ? 32 : 1));
        log.push_back({index, whole != 0, static_cast<std::uint32_t>(payload)});
        next = index + 1;
    }
    if (!bits.atCleanEnd()) {
        return failAt("bytes or set bits after the last entry", bits.offset());
    }
    if (bestRice(log) != rice) {
        return failAt(fmt::format("Rice parameter {} is not the shortest coding", rice), offset);
    }
    return log;
}

ByteVector encodeStepLog(const base::Digest& order, std::uint64_t step, std::span<const ByteVector> sections) {
    ByteWriter writer;
    writer.putText(kMagic);
    writer.put(kVersion);
    writer.putBytes(order.view());
    writer.put(step);
    writer.putVarint(sections.size());
    for (const auto& section : sections) {
        writer.putVarint(section.size());
    }
    for (const auto& section : sections) {
        writer.putBytes(section);
    }
    return writer.take();
}

Result<StepLogFile> decodeStepLog(ByteView bytes) {
    ByteReader reader(bytes);
    ASSAY_CHECK(reader.expectText(kMagic, "rounding log magic"));
    ASSAY_TRY(version, reader.get<std::uint32_t>("rounding log version"));
    if (version != kVersion) {
        return failAt(fmt::format("rounding log version {}, this program reads version {}", version, kVersion), kMagic.size());
    }
    StepLogFile file;
    ASSAY_TRY(order, reader.getBytes(32, "order digest"));
    std::copy(order.begin(), order.end(), file.order.bytes.begin());
    ASSAY_TRY(step, reader.get<std::uint64_t>("step"));
    file.step = step;
    ASSAY_TRY(count, reader.getVarint("number of sections"));
    if (count > kLargestSectionCount || count > reader.remaining()) {
        return failAt(fmt::format("{} sections cannot fit in {} bytes", count, reader.remaining()), reader.offset());
    }
    file.sections.resize(count);
    for (auto& section : file.sections) {
        ASSAY_TRY(length, reader.getVarint("section length"));
        section.length = length;
    }
    for (auto& section : file.sections) {
        section.offset = reader.offset();
        ASSAY_CHECK(reader.getBytes(section.length, "section"));
    }
    ASSAY_CHECK(reader.expectEnd("rounding log"));
    return file;
}

} // namespace assay::numerics
