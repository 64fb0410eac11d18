// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/log_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "core/numerics/bit_stream.h"
#include "tests/numerics/random_source.h"

namespace assay::numerics {
namespace {

using base::ByteVector;
using base::ErrorCode;
using test::RandomSource;

// The worked example of core/numerics/LOG_FORMAT.md.
const SiteLog kExample{{3, false, 1}, {17, true, 0x3F800001U}, {18, false, 0}, {40, false, 1}};
const char* const kExampleSection = "040301005661ad0100803f";
const char* const kExampleFile = "41535341594c4f47"                                                 // "ASSAYLOG"
                                 "01000000"                                                         // version
                                 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" // order digest
                                 "0700000000000000"                                                 // step
                                 "02000000"                                                         // sections
                                 "0b040301005661ad0100803f"
                                 "0100";

TEST(LogCodec, EmptySectionIsOneZeroByte) {
    EXPECT_EQ(encodeSection({}, 100), ByteVector{0});
    EXPECT_TRUE(decodeSection(ByteVector{0}, 100, 0).value().empty());
    EXPECT_TRUE(decodeSection(ByteVector{0}, 0, 0).value().empty());
}

SiteLog randomLog(RandomSource& random, std::uint64_t values, double density, double wholeShare) {
    SiteLog log;
    for (double at = -std::log(1.0 - random.uniform()) / density; at < static_cast<double>(values);
         at += 1.0 - std::log(1.0 - random.uniform()) / density) {
        const auto index = static_cast<std::uint64_t>(at);
        if (!log.empty() && index <= log.back().index) {
            continue;
        }
        const bool whole = random.uniform() < wholeShare;
        log.push_back({index, whole, static_cast<std::uint32_t>(whole ? random.word() : random.below(2))});
    }
    return log;
}

TEST(LogCodec, RoundTrips) {
    RandomSource random(41);
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t values = 1 + static_cast<std::uint64_t>(random.logUniform(0, 16));
        const double wholeShare = std::min(1.0, std::max(0.0, random.uniform(-0.3, 1.3)));
        const SiteLog log = randomLog(random, values, random.logUniform(-10, 1), wholeShare);
        const ByteVector bytes = encodeSection(log, values);
        const auto decoded = decodeSection(bytes, values, 0);
        ASSERT_TRUE(decoded) << decoded.error().toString();
        ASSERT_EQ(*decoded, log);
    }
}

TEST(LogCodec, ExtremeIndices) {
    const std::uint64_t huge = ~0ULL;
    for (const SiteLog& log :
         {SiteLog{{0, false, 0}}, SiteLog{{huge - 1, false, 1}}, SiteLog{{0, true, 0xFFFFFFFFU}, {huge - 1, false, 1}},
          SiteLog{{1ULL << 62, true, 1}, {(1ULL << 62) + 1, true, 2}, {(1ULL << 63) + 5, true, 3}}}) {
        const auto decoded = decodeSection(encodeSection(log, huge), huge, 0);
        ASSERT_TRUE(decoded) << decoded.error().toString();
        EXPECT_EQ(*decoded, log);
    }
    SiteLog full;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        full.push_back({i, false, static_cast<std::uint32_t>(i & 1U)});
    }
    EXPECT_EQ(encodeSection(full, 1000).size(), 2U + 1U + 1U + 250U); // two bits per entry
    EXPECT_EQ(decodeSection(encodeSection(full, 1000), 1000, 0).value(), full);
}

// Every truncation, every appended byte, and every flipped bit either fails or decodes to a log whose one encoding is
// exactly those bytes.
TEST(LogCodec, EveryMutationIsRejectedOrCanonical) {
    RandomSource random(42);
    std::uint64_t rejected = 0;
    std::uint64_t otherLogs = 0;
    for (int round = 0; round < 60; ++round) {
        const std::uint64_t values = 1 + random.below(3000);
        const ByteVector bytes = encodeSection(randomLog(random, values, 0.01, round % 3 == 0 ? 0.4 : 0.0), values);
        const auto check = [&](const ByteVector& mutated) {
            const auto decoded = decodeSection(mutated, values, 1000);
            if (decoded) {
                ++otherLogs;
                ASSERT_EQ(encodeSection(*decoded, values), mutated);
                return;
            }
            ++rejected;
            ASSERT_EQ(decoded.error().code, ErrorCode::malformed);
            ASSERT_TRUE(decoded.error().offset) << decoded.error().message;
            ASSERT_GE(*decoded.error().offset, 1000U);
            ASSERT_LE(*decoded.error().offset, 1000U + mutated.size());
        };
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
            const ByteVector shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut));
            check(shorter);
        }
        ByteVector longer = bytes;
        longer.push_back(0);
        EXPECT_FALSE(decodeSection(longer, values, 0));
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            ByteVector mutated = bytes;
            mutated[bit / 8] = static_cast<std::uint8_t>(mutated[bit / 8] ^ (1U << (bit % 8)));
            check(mutated);
        }
    }
    EXPECT_GT(rejected, 1000U);
    EXPECT_GT(otherLogs, 1000U); // payload bits
}

TEST(LogCodec, HostileSections) {
    const auto rejects = [](const ByteVector& bytes, std::uint64_t values, std::uint64_t offset) {
        const auto result = decodeSection(bytes, values, 0);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::malformed);
        EXPECT_EQ(result.error().offset, offset) << result.error().message;
    };
    rejects({}, 10, 0);
    rejects({0x80, 0x00}, 10, 1);                                     // longer than needed
    rejects({0x0B, 0, 0, 0xFF}, 10, 0);                               // more entries than values
    rejects({0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0}, ~0ULL, 7);       // a huge count in few bytes
    rejects({0x01, 64, 0, 0}, 10, 1);                                 // Rice parameter
    rejects({0x01, 0, 2, 0}, 10, 2);                                  // more whole entries than entries
    rejects({0x01, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 10, 3); // endless unary
    rejects({0x01, 0, 0, 0x00, 0x00}, 10, 4);                         // a byte too many
    rejects({0x01, 0, 0, 0x04}, 10, 3);                               // padding
    rejects({0x01, 3, 0, 0x00}, 10, 0);                               // index 0 with a parameter that is not canonical
    rejects({0x00, 0x00}, 10, 1);
}

TEST(LogCodec, RiceParameterIsOptimal) {
    RandomSource random(43);
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t values = 100000;
        SiteLog log = randomLog(random, values, random.logUniform(-12, -2), 0.0);
        if (log.empty()) {
            continue;
        }
        const ByteVector bytes = encodeSection(log, values);
        const std::size_t header = log.size() < 128 ? 1 : (log.size() < 16384 ? 2 : 3);
        const int k = bytes[header];
        const auto bitsWith = [&](int parameter) {
            std::uint64_t bits = 0;
            std::uint64_t next = 0;
            for (const LogEntry& e : log) {
                bits += ((e.index - next) >> parameter) + 1U + static_cast<std::uint64_t>(parameter);
                next = e.index + 1;
            }
            return bits;
        };
        for (int other = 0; other < 30; ++other) {
            if (other < k) {
                ASSERT_GT(bitsWith(other), bitsWith(k));
            } else {
                ASSERT_GE(bitsWith(other), bitsWith(k));
            }
        }
    }
}

TEST(LogCodec, CloseToEntropy) {
    RandomSource random(44);
    for (const double density : {1e-3, 1e-5}) {
        const auto values = static_cast<std::uint64_t>(2e5 / density);
        const SiteLog log = randomLog(random, values, density, 0.0);
        const double p = static_cast<double>(log.size()) / static_cast<double>(values);
        const double entropy = (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p + 1.0; // one bit of parity
        const double bits =
            8.0 * static_cast<double>(encodeSection(log, values).size()) / static_cast<double>(log.size());
        std::printf("density %g: %.3f bits per entry, entropy %.3f, %.2f %% above\n", density, bits, entropy,
                    100.0 * (bits / entropy - 1.0));
        EXPECT_LT(bits, entropy * 1.02);
        EXPECT_GT(bits, entropy * 0.999);
    }
}

TEST(LogCodec, WorkedExample) {
    const ByteVector section = encodeSection(kExample, 64);
    EXPECT_EQ(base::toHex(section), kExampleSection);
    base::Digest order;
    for (std::size_t i = 0; i < 32; ++i) {
        order.bytes[i] = static_cast<std::uint8_t>(i);
    }
    const std::vector<ByteVector> sections{section, ByteVector{0}};
    const ByteVector file = encodeStepLog(order, 7, sections);
    EXPECT_EQ(base::toHex(file), kExampleFile);
    EXPECT_EQ(decodeSection(base::fromHex(kExampleSection).value(), 64, 0).value(), kExample);
}

TEST(StepLog, RoundTripAndOffsets) {
    const base::Digest order;
    const std::vector<ByteVector> sections{encodeSection(kExample, 64), {0}, encodeSection({{5, false, 1}}, 10)};
    const ByteVector file = encodeStepLog(order, 123456789012345ULL, sections);
    const auto decoded = decodeStepLog(file);
    ASSERT_TRUE(decoded) << decoded.error().toString();
    EXPECT_EQ(decoded->order, order);
    EXPECT_EQ(decoded->step, 123456789012345ULL);
    ASSERT_EQ(decoded->sections.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& s = decoded->sections[i];
        EXPECT_TRUE(std::ranges::equal(s.bytes, sections[i]));
        EXPECT_EQ(s.bytes.data(), file.data() + s.offset);
    }
    EXPECT_EQ(decodeStepLog(encodeStepLog(order, 0, {})).value().sections.size(), 0U);
}

TEST(StepLog, MutationsAreRejected) {
    const base::Digest order;
    const std::vector<ByteVector> sections{encodeSection(kExample, 64), {0}};
    const ByteVector file = encodeStepLog(order, 7, sections);
    for (std::size_t cut = 0; cut < file.size(); ++cut) {
        const auto result = decodeStepLog(base::ByteView(file).first(cut));
        ASSERT_FALSE(result) << cut;
        EXPECT_EQ(result.error().code, ErrorCode::malformed);
        EXPECT_TRUE(result.error().offset);
    }
    ByteVector longer = file;
    longer.push_back(0);
    EXPECT_EQ(decodeStepLog(longer).error().offset, file.size());
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
        ByteVector mutated = file;
        mutated[bit / 8] = static_cast<std::uint8_t>(mutated[bit / 8] ^ (1U << (bit % 8)));
        const auto result = decodeStepLog(mutated);
        if (result) { // another digest, step or section content: one encoding each
            std::vector<ByteVector> parts;
            for (const auto& s : result->sections) {
                parts.emplace_back(s.bytes.begin(), s.bytes.end());
            }
            ASSERT_EQ(encodeStepLog(result->order, result->step, parts), mutated);
        }
    }
    ByteVector version = file;
    version[8] = 2;
    EXPECT_EQ(decodeStepLog(version).error().offset, 8U);
    ByteVector many = file;
    many[52] = 0xFF;
    many[53] = 0xFF;
    many[54] = 0xFF;
    many[55] = 0xFF;
    EXPECT_EQ(decodeStepLog(many).error().offset, 52U);
}

TEST(BitStream, RoundTripsEveryWidth) {
    RandomSource random(45);
    ByteVector bytes;
    BitWriter writer(bytes);
    std::vector<std::pair<std::uint64_t, int>> written;
    for (int i = 0; i < 20000; ++i) {
        const int width = static_cast<int>(random.below(66)) - 1; // -1 stands for unary
        const std::uint64_t value = width < 0 ? random.below(200) : (width == 0 ? 0 : random.word() >> (64 - width));
        written.emplace_back(value, width);
        if (width < 0) {
            writer.putUnary(value);
        } else {
            writer.put(value, width);
        }
    }
    writer.finish();
    BitReader reader(bytes);
    for (const auto& [value, width] : written) {
        ASSERT_EQ(width < 0 ? reader.getUnary(1000) : reader.get(width), value);
    }
    EXPECT_FALSE(reader.overrun());
    (void)reader.get(64);
    EXPECT_TRUE(reader.overrun());
}

} // namespace
} // namespace assay::numerics
