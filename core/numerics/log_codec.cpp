// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/log_codec.h"

#include <bit>
#include <string>

#include "core/base/assert.h"
#include "core/numerics/bit_stream.h"

namespace assay::numerics {
namespace {

using base::ByteVector;
using base::ByteView;
using base::ErrorCode;
using base::failAt;
using base::Result;

constexpr std::string_view kMagic = "ASSAYLOG";
constexpr std::uint32_t kVersion = 1;

/// The smallest k with sum over gaps g of ceil(floor(g / 2^k) / 2) <= number of gaps: the smallest of the parameters
/// that give the fewest bits (the total is convex in k; PROOF.md). `gapAt(i)` must be cheap, it is called a few times
/// per gap.
template <typename GapAt>
int riceParameter(std::size_t count, GapAt gapAt) {
    const auto isLargeEnough = [&](int k) {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t quotient = gapAt(i) >> k;
            sum += quotient / 2 + (quotient & 1U);
        }
        return sum <= count;
    };
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        total += gapAt(i);
    }
    int k = std::max(0, static_cast<int>(std::bit_width(total / count)) - 1);
    if (isLargeEnough(k)) {
        while (k > 0 && isLargeEnough(k - 1)) {
            --k;
        }
    } else {
        do {
            ++k;
        } while (k < 63 && !isLargeEnough(k));
    }
    return k;
}

void putRice(BitWriter& bits, std::uint64_t gap, int k) {
    const std::uint64_t quotient = gap >> k;
    const std::uint64_t rest = gap & ((1ULL << k) - 1U);
    if (quotient + static_cast<std::uint64_t>(k) < 32) { // nearly always: one call for both
        const int ones = static_cast<int>(quotient);
        bits.put(((1ULL << ones) - 1U) | (rest << (ones + 1)), ones + 1 + k);
        return;
    }
    bits.putUnary(quotient);
    bits.put(rest, k);
}

/// Reads a Rice-coded gap; nothing if it exceeds `limit` or the bits end.
std::optional<std::uint64_t> getRice(BitReader& bits, int k, std::uint64_t limit) {
    const std::uint64_t quotient = bits.getUnary(limit >> k);
    if (bits.overrun() || quotient > (limit >> k)) {
        return std::nullopt;
    }
    const std::uint64_t gap = (quotient << k) | bits.get(k);
    return bits.overrun() || gap > limit ? std::nullopt : std::optional(gap);
}

std::uint64_t gapOf(const SiteLog& log, std::size_t i) {
    return i == 0 ? log[0].index : log[i].index - log[i - 1].index - 1;
}

/// Gaps between the positions, within the list of entries, of those with a whole float.
std::vector<std::uint64_t> wholeGaps(const SiteLog& log) {
    std::vector<std::uint64_t> gaps;
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (log[i].whole) {
            gaps.push_back(i - next);
            next = i + 1;
        }
    }
    return gaps;
}

Result<int> getRiceParameter(base::ByteReader& reader, std::string_view what) {
    const std::uint64_t at = reader.offset();
    ASSAY_TRY(k, reader.get<std::uint8_t>(what));
    if (k > 63) {
        return failAt(std::string(what) + " " + std::to_string(k) + " is above 63", at);
    }
    return static_cast<int>(k);
}

/// Byte offset of the bit that the reader is at.
std::uint64_t offsetOf(const BitReader& bits, std::uint64_t start) {
    return start + bits.bitPosition() / 8;
}

} // namespace

ByteVector encodeSection(const SiteLog& log, [[maybe_unused]] std::uint64_t siteValues) {
    base::ByteWriter header;
    header.putVarint(log.size());
    if (log.empty()) {
        return header.take();
    }
    ASSAY_ASSERT(log.back().index < siteValues);
    const int k = riceParameter(log.size(), [&](std::size_t i) { return gapOf(log, i); });
    const std::vector<std::uint64_t> wholes = wholeGaps(log);
    const bool isMixed = !wholes.empty() && wholes.size() < log.size();
    const int wholeK = isMixed ? riceParameter(wholes.size(), [&](std::size_t i) { return wholes[i]; }) : 0;
    header.put(static_cast<std::uint8_t>(k));
    header.putVarint(wholes.size());
    if (isMixed) {
        header.put(static_cast<std::uint8_t>(wholeK));
    }
    ByteVector out = header.take();
    out.reserve(out.size() + (log.size() * static_cast<std::size_t>(k + 4) + 32 * wholes.size()) / 8 + 1);
    BitWriter bits(out);
    for (std::size_t i = 0; i < log.size(); ++i) {
        ASSAY_ASSERT(i == 0 || log[i].index > log[i - 1].index);
        putRice(bits, gapOf(log, i), k);
    }
    if (isMixed) {
        for (const std::uint64_t gap : wholes) {
            putRice(bits, gap, wholeK);
        }
    }
    for (const LogEntry& entry : log) {
        if (!entry.whole) {
            bits.put(entry.payload & 1U, 1);
        }
    }
    for (const LogEntry& entry : log) {
        if (entry.whole) {
            bits.put(entry.payload, 32);
        }
    }
    bits.finish();
    return out;
}

Result<SiteLog> decodeSection(ByteView section, std::uint64_t siteValues, std::uint64_t baseOffset) {
    base::ByteReader reader(section, baseOffset);
    ASSAY_TRY(count, reader.getVarint("number of log entries"));
    SiteLog log;
    if (count == 0) {
        ASSAY_CHECK(reader.expectEnd("log section"));
        return log;
    }
    if (count > siteValues) {
        return failAt("log section has " + std::to_string(count) + " entries for " + std::to_string(siteValues) +
                          " values",
                      baseOffset);
    }
    ASSAY_TRY(k, getRiceParameter(reader, "Rice parameter"));
    const std::uint64_t wholeAt = reader.offset();
    ASSAY_TRY(wholeCount, reader.getVarint("number of whole entries"));
    if (wholeCount > count) {
        return failAt("log section has more whole entries than entries", wholeAt);
    }
    const bool isMixed = wholeCount > 0 && wholeCount < count;
    int wholeK = 0;
    if (isMixed) {
        ASSAY_TRY(parameter, getRiceParameter(reader, "Rice parameter of whole entries"));
        wholeK = parameter;
    }
    // Every entry takes at least k + 1 bits of gap and one of payload: nothing is allocated that the bytes cannot fill.
    const std::uint64_t available = reader.remaining() * 8;
    if (count > available || count * static_cast<std::uint64_t>(k + 2) + wholeCount * 31 > available) {
        return failAt("log section is too short for " + std::to_string(count) + " entries", reader.offset());
    }
    const std::uint64_t bitStart = reader.offset();
    ASSAY_TRY(body, reader.getBytes(reader.remaining(), "log entries"));
    BitReader bits(body);
    log.resize(count);
    std::uint64_t next = 0; // smallest index that may come
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t rest = count - 1 - i; // entries that must still fit behind this one
        const std::uint64_t at = offsetOf(bits, bitStart);
        const auto gap = siteValues - next > rest ? getRice(bits, k, siteValues - next - rest - 1) : std::nullopt;
        if (!gap) {
            return failAt("index of log entry " + std::to_string(i) + " is out of range or cut off", at);
        }
        log[i].index = next + *gap;
        next = log[i].index + 1;
    }
    if (isMixed) {
        std::uint64_t position = 0;
        for (std::uint64_t i = 0; i < wholeCount; ++i) {
            const std::uint64_t rest = wholeCount - 1 - i;
            const std::uint64_t at = offsetOf(bits, bitStart);
            const auto gap =
                count - position > rest ? getRice(bits, wholeK, count - position - rest - 1) : std::nullopt;
            if (!gap) {
                return failAt("position of whole entry " + std::to_string(i) + " is out of range or cut off", at);
            }
            log[position + *gap].whole = true;
            position += *gap + 1;
        }
    } else if (wholeCount == count) {
        for (LogEntry& entry : log) {
            entry.whole = true;
        }
    }
    for (LogEntry& entry : log) {
        if (!entry.whole) {
            entry.payload = static_cast<std::uint32_t>(bits.get(1));
        }
    }
    for (LogEntry& entry : log) {
        if (entry.whole) {
            entry.payload = static_cast<std::uint32_t>(bits.get(32));
        }
    }
    if (bits.overrun()) {
        return failAt("log section ends inside the payloads", bitStart + body.size());
    }
    const std::uint64_t used = bits.bitPosition();
    if ((used + 7) / 8 != body.size()) {
        return failAt("unexpected bytes after the log entries", bitStart + (used + 7) / 8);
    }
    if (used % 8 != 0 && bits.get(static_cast<int>(8 - used % 8)) != 0) {
        return failAt("padding bits of the log section are not zero", bitStart + used / 8);
    }
    // What is left of "one encoding per log": the parameters must be the ones the encoder chooses.
    if (k != riceParameter(log.size(), [&](std::size_t i) { return gapOf(log, i); })) {
        return failAt("Rice parameter of the log section is not the canonical one", baseOffset);
    }
    if (isMixed) {
        const std::vector<std::uint64_t> wholes = wholeGaps(log);
        if (wholeK != riceParameter(wholes.size(), [&](std::size_t i) { return wholes[i]; })) {
            return failAt("Rice parameter of the whole entries is not the canonical one", wholeAt);
        }
    }
    return log;
}

ByteVector encodeStepLog(const base::Digest& order, std::uint64_t step, std::span<const ByteVector> sections) {
    ASSAY_ASSERT(sections.size() <= kMaxSections);
    base::ByteWriter writer;
    writer.putText(kMagic);
    writer.put(kVersion);
    writer.putBytes(order.view());
    writer.put(step);
    writer.put(static_cast<std::uint32_t>(sections.size()));
    for (const ByteVector& section : sections) {
        writer.putVarint(section.size());
        writer.putBytes(section);
    }
    return writer.take();
}

Result<StepLogFile> decodeStepLog(ByteView file) {
    if (file.size() > kMaxStepLogBytes) {
        return failAt("step log is larger than " + std::to_string(kMaxStepLogBytes) + " bytes", 0);
    }
    base::ByteReader reader(file);
    ASSAY_CHECK(reader.expectText(kMagic, "step log magic"));
    const std::uint64_t versionAt = reader.offset();
    ASSAY_TRY(version, reader.get<std::uint32_t>("step log version"));
    if (version != kVersion) {
        return failAt("step log version " + std::to_string(version) + " is not supported, expected " +
                          std::to_string(kVersion),
                      versionAt);
    }
    StepLogFile log;
    ASSAY_TRY(orderBytes, reader.getBytes(32, "order digest"));
    ASSAY_TRY(order, base::Digest::fromBytes(orderBytes));
    log.order = order;
    ASSAY_TRY(step, reader.get<std::uint64_t>("step number"));
    log.step = step;
    const std::uint64_t countAt = reader.offset();
    ASSAY_TRY(count, reader.get<std::uint32_t>("number of log sections"));
    if (count > kMaxSections ||
        count > reader.remaining()) { // a section takes two bytes at least, its length and count
        return failAt("step log announces " + std::to_string(count) + " sections, too many for its size", countAt);
    }
    log.sections.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSAY_TRY(length, reader.getVarint("length of a log section"));
        StepLogFile::Section section;
        section.offset = reader.offset();
        ASSAY_TRY(bytes, reader.getBytes(length, "log section"));
        section.bytes = bytes;
        log.sections.push_back(section);
    }
    ASSAY_CHECK(reader.expectEnd("step log"));
    return log;
}

} // namespace assay::numerics
