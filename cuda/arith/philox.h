// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cuda/arith/host_device.h"

/// Counter-based randomness: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// A word depends only on (seed, step, stream, index), never on the order or the number of calls.
namespace assay::arith {

struct PhiloxKey {
    std::uint32_t k0 = 0;
    std::uint32_t k1 = 0;
};

struct PhiloxBlock {
    std::uint32_t word[4];
};

ASSAY_HD inline PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
    constexpr std::uint32_t kMultiply0 = 0xD2511F53u;
    constexpr std::uint32_t kMultiply1 = 0xCD9E8D57u;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiply0) * counter.word[0];
        const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiply1) * counter.word[2];
        counter = {{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key.k0,
                    static_cast<std::uint32_t>(product1),
                    static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key.k1,
                    static_cast<std::uint32_t>(product0)}};
        key.k0 += kWeyl0;
        key.k1 += kWeyl1;
    }
    return counter;
}

/// Streams keep independent uses apart. Persistent, never renumber: operator i of a program uses kOperatorStream + i.
inline constexpr std::uint32_t kPermutationStream = 1;
inline constexpr std::uint32_t kInitialiserStream = 2;
inline constexpr std::uint32_t kNoiseStream = 3;
inline constexpr std::uint32_t kOperatorStream = 0x10000;

/// Word `index` of the stream (seed, step, stream). Key = seed; counter = (index / 4 low, index / 4 high, step low, stream ^ step
/// high). Steps and indices below 2^32 and 2^34 never share a block.
ASSAY_HD inline std::uint32_t randomWord(std::uint64_t seed, std::uint64_t step, std::uint32_t stream, std::uint64_t index) {
    const std::uint64_t block = index >> 2;
    const PhiloxBlock counter{{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                               static_cast<std::uint32_t>(step), stream ^ static_cast<std::uint32_t>(step >> 32)}};
    const PhiloxKey key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    return philox(counter, key).word[index & 3];
}

/// Uniform in (0, 1), exact in FP64: (word + 1/2) * 2^-32.
ASSAY_HD inline double uniform01(std::uint32_t word) {
    return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// Dropout with probability p in [0, 1): the value is kept when its uniform is at least p.
ASSAY_HD inline bool keepByDropout(std::uint32_t word, double p) {
    return uniform01(word) >= p;
}

/// A permutation of 0..n-1 keyed by (seed, epoch), evaluated at i < n in O(1): a balanced Feistel network of 8 rounds over the
/// smallest even number of bits that holds n, with cycle walking (values >= n are mapped again; under 4 walks expected).
ASSAY_HD inline std::uint64_t permuteIndex(std::uint64_t seed, std::uint64_t epoch, std::uint64_t n, std::uint64_t i) {
    constexpr std::uint32_t kFeistelRounds = 8;
    std::uint32_t halfBits = 1;
    while (halfBits < 31 && (std::uint64_t{1} << (2 * halfBits)) < n) {
        ++halfBits;
    }
    const std::uint64_t mask = (std::uint64_t{1} << halfBits) - 1;
    const PhiloxKey key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    do {
        std::uint64_t left = i >> halfBits;
        std::uint64_t right = i & mask;
        for (std::uint32_t round = 0; round < kFeistelRounds; ++round) {
            const PhiloxBlock counter{{static_cast<std::uint32_t>(right), round, static_cast<std::uint32_t>(epoch),
                                       kPermutationStream ^ static_cast<std::uint32_t>(epoch >> 32)}};
            const std::uint64_t mixed = left ^ (philox(counter, key).word[0] & mask);
            left = right;
            right = mixed;
        }
        i = (left << halfBits) | right;
    } while (i >= n);
    return i;
}

} // namespace assay::arith
