// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cuda/arith/host_device.h"

namespace assay::arith {

struct PhiloxKey {
    std::uint32_t k0 = 0;
    std::uint32_t k1 = 0;
};
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11). A bijection of
/// the counter for each key; equal bits on every machine.
[[nodiscard]] ASSAY_HD constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
    constexpr std::uint32_t kMultiply0 = 0xD2511F53U;
    constexpr std::uint32_t kMultiply1 = 0xCD9E8D57U;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9U; // golden ratio
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85U; // sqrt(3) - 1
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiply0) * counter[0];
        const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiply1) * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key.k0, static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key.k1, static_cast<std::uint32_t>(product0)};
        key.k0 += kWeyl0;
        key.k1 += kWeyl1;
    }
    return counter;
}

[[nodiscard]] ASSAY_HD constexpr PhiloxKey philoxKey(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Four random words: number 4 * block .. 4 * block + 3 of (seed, step, stream). Persistent, never renumber: the
/// counter is (block mod 2^32, block / 2^32 + 2^16 * (step / 2^32), step mod 2^32, stream). Preconditions: block <
/// 2^48, step < 2^48.
[[nodiscard]] ASSAY_HD constexpr PhiloxBlock randomBlock(std::uint64_t seed, std::uint64_t step, std::uint32_t stream,
                                                         std::uint64_t block) {
    const auto high = static_cast<std::uint32_t>(((block >> 32) & 0xFFFFU) | ((step >> 32) << 16));
    return philox({static_cast<std::uint32_t>(block), high, static_cast<std::uint32_t>(step), stream}, philoxKey(seed));
}

/// Random word number `index` of (seed, step, stream): element index % 4 of randomBlock(index / 4).
[[nodiscard]] ASSAY_HD constexpr std::uint32_t randomWord(std::uint64_t seed, std::uint64_t step, std::uint32_t stream,
                                                          std::uint64_t index) {
    return randomBlock(seed, step, stream, index >> 2)[index & 3U];
}

/// (word + 1/2) * 2^-32, exact: uniform in (0, 1), never 0 or 1.
[[nodiscard]] ASSAY_HD constexpr double uniform01(std::uint32_t word) {
    return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// True if dropout with probability `p` of being dropped keeps the element that drew `word`.
[[nodiscard]] ASSAY_HD constexpr bool keepByDropout(std::uint32_t word, double p) {
    return uniform01(word) >= p;
}

/// The position-to-sample map of one epoch: for fixed (seed, epoch, n) a bijection of 0 .. n-1. Precondition: i < n.
/// An 8-round Feistel network on the smallest even number of bits that holds n - 1, with Philox as the round function
/// (counter: half, round, epoch low, epoch high), walked until the value is below n. Expected walk: fewer than 4 steps.
[[nodiscard]] ASSAY_HD constexpr std::uint64_t permuteIndex(std::uint64_t seed, std::uint64_t epoch, std::uint64_t n,
                                                            std::uint64_t i) {
    if (n <= 1) {
        return 0;
    }
    const int halfBits = (static_cast<int>(std::bit_width(n - 1)) + 1) / 2;
    const std::uint64_t mask = (1ULL << halfBits) - 1U;
    const PhiloxKey key = philoxKey(seed);
    const auto epochLow = static_cast<std::uint32_t>(epoch);
    const auto epochHigh = static_cast<std::uint32_t>(epoch >> 32);
    std::uint64_t value = i;
    do {
        std::uint64_t left = value >> halfBits;
        std::uint64_t right = value & mask;
        for (std::uint32_t round = 0; round < 8; ++round) {
            const PhiloxBlock word = philox({static_cast<std::uint32_t>(right), round, epochLow, epochHigh}, key);
            const std::uint64_t next = (left ^ word[0]) & mask;
            left = right;
            right = next;
        }
        value = (left << halfBits) | right;
    } while (value >= n);
    return value;
}

} // namespace assay::arith
