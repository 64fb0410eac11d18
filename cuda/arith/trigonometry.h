// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/arith/host_device.h"
#include "cuda/arith/two_sum.h"

/// Sine and cosine from IEEE basic operations; see elementary.h for accuracy and specials.
namespace assay::arith {

namespace detail {

/// x = quarters * pi/2 + high + low (quarters modulo 4), |high| <= pi/4 (1 + 2^-50).
struct QuarterTurns {
    double high = 0.0;
    double low = 0.0;
    std::uint64_t quarters = 0; ///< only the last two bits count
};

inline constexpr double kDirectReductionLimit = 0x1p20;

/// For |x| <= kDirectReductionLimit. pi/2 is cut into three parts of 33 bits and a rest, so that the products with the
/// 20-bit number of quarter turns are exact; what the subtractions lose is kept in `low`.
[[nodiscard]] ASSAY_HD ASSAY_INLINE QuarterTurns reduceDirectly(double x) {
    constexpr double kMagic = 0x1.8p52;
    const double shifted = x * 0x1.45f306dc9c883p-1 + kMagic;
    const double q = shifted - kMagic;
    const double r1 = x - q * 0x1.921fb54400000p+0; // exact
    const DoublePair r2 = twoSum(r1, -q * 0x1.0b4611a600000p-34);
    const DoublePair r3 = twoSum(r2.high, -q * 0x1.3198a2e000000p-69);
    const double low = (r2.low + r3.low) - q * 0x1.b839a252049c1p-104;
    const DoublePair r = fastTwoSum(r3.high, low);
    return {r.high, r.low, bitsOf(shifted)};
}

/// For any finite |x| >= 2^20 (Payne and Hanek). With |x| = m 2^e, bits of 2/pi that only add multiples of four quarter
/// turns are skipped; 192 bits from there leave an error below 2^-137 of a quarter turn, and no double is nearer than
/// 2^-62 to a multiple of it.
[[nodiscard]] ASSAY_HD inline QuarterTurns reduceHuge(double x) {
    static constexpr std::uint64_t kTwoOverPi[20] = {
        // binary digits of 2/pi after the point
        0xA2F9836E4E441529ULL, 0xFC2757D1F534DDC0ULL, 0xDB6295993C439041ULL, 0xFE5163ABDEBBC561ULL,
        0xB7246E3A424DD2E0ULL, 0x06492EEA09D1921CULL, 0xFE1DEB1CB129A73EULL, 0xE88235F52EBB4484ULL,
        0xE99C7026B45F7E41ULL, 0x3991D639835339F4ULL, 0x9C845F8BBDF9283BULL, 0x1FF897FFDE05980FULL,
        0xEF2F118B5A0A6D1FULL, 0x6D367ECF27CB09B7ULL, 0x4F463F669E5FEA2DULL, 0x7527BAC7EBE5F17BULL,
        0x3D0739F78A5292EAULL, 0x6BFB5FB11F8D5D08ULL, 0x56033046FC7B6BABULL, 0xF0CFBC209AF4361DULL};
    const std::uint64_t bits = bitsOf(x);
    const int e = static_cast<int>((bits >> 52) & 0x7FFU) - 1075;
    const std::uint64_t m = (bits & 0x000FFFFFFFFFFFFFULL) | 0x0010000000000000ULL;
    const int skipped = e > 2 ? e - 2 : 0; // digits of 2/pi left out
    const auto word = static_cast<std::size_t>(skipped / 64);
    const int offset = skipped % 64;
    const auto window = [&](std::size_t i) {
        return offset == 0 ? kTwoOverPi[word + i]
                           : (kTwoOverPi[word + i] << offset) | (kTwoOverPi[word + i + 1] >> (64 - offset));
    };
    // product (eight 32-bit limbs, lowest first) = m * (192-bit window).
    std::uint64_t limb[6];
    for (std::size_t i = 0; i < 3; ++i) {
        const std::uint64_t w = window(2 - i);
        limb[2 * i] = w & 0xFFFFFFFFU;
        limb[2 * i + 1] = w >> 32;
    }
    std::uint64_t product[8] = {};
    const std::uint64_t mLimb[2] = {m & 0xFFFFFFFFU, m >> 32};
    for (std::size_t j = 0; j < 2; ++j) {
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const std::uint64_t t = limb[i] * mLimb[j] + product[i + j] + carry;
            product[i + j] = t & 0xFFFFFFFFU;
            carry = t >> 32;
        }
        product[6 + j] += carry;
    }
    std::uint64_t z[4]; // 64-bit words, lowest first
    for (std::size_t i = 0; i < 4; ++i) {
        z[i] = product[2 * i] | (product[2 * i + 1] << 32);
    }
    // |x| 2/pi = product * 2^(e - skipped - 192): shift so that the last two integer bits are the top two of 256.
    const int shift = 62 + (e - skipped); // 30 .. 64
    for (std::size_t i = 4; i-- > 0;) {
        const std::uint64_t below = i > 0 ? z[i - 1] : 0;
        z[i] = shift == 64 ? below : (z[i] << shift) | (below >> (64 - shift));
    }
    std::uint64_t quarters = z[3] >> 62;
    const bool roundsUp = ((z[3] >> 61) & 1U) != 0;
    // 256-bit fraction: drop the integer bits; negate when at least one half.
    std::uint64_t f[4];
    for (std::size_t i = 4; i-- > 0;) {
        f[i] = (z[i] << 2) | (i > 0 ? z[i - 1] >> 62 : 0);
    }
    if (roundsUp) {
        ++quarters;
        std::uint64_t carry = 1;
        for (std::uint64_t& v : f) {
            v = ~v + carry;
            carry = carry != 0 && v == 0 ? 1 : 0;
        }
    }
    // Leading 128 bits of the fraction as high + low, then times pi/2.
    int zeros = f[3] != 0 ? std::countl_zero(f[3]) : 64 + std::countl_zero(f[2]);
    if (zeros >= 64) {
        f[3] = f[2];
        f[2] = f[1];
        f[1] = f[0];
        zeros -= 64;
        f[0] = 64; // remembers the extra shift
    } else {
        f[0] = 0;
    }
    const std::uint64_t top = zeros == 0 ? f[3] : (f[3] << zeros) | (f[2] >> (64 - zeros));
    const std::uint64_t next = zeros == 0 ? f[2] : (f[2] << zeros) | (f[1] >> (64 - zeros));
    const double scale = doubleFromBits(static_cast<std::uint64_t>(1023 - 64 - zeros - static_cast<int>(f[0])) << 52);
    const double high = static_cast<double>(top >> 11) * 0x1p11 * scale;
    const double low = static_cast<double>(((top & 0x7FFU) << 42) | (next >> 22)) * 0x1p-42 * scale;
    const DoublePair p = twoProduct(high, 0x1.921fb54442d18p+0);
    const DoublePair r = fastTwoSum(p.high, p.low + (high * 0x1.1a62633145c07p-54 + low * 0x1.921fb54442d18p+0));
    const bool flips = ((bits >> 63) != 0) != roundsUp;
    return {flips ? -r.high : r.high, flips ? -r.low : r.low, (bits >> 63) != 0 ? 0U - quarters : quarters};
}

/// sin of (turns + extra quarters), from the Taylor series of sine and cosine on |high| <= pi/4.
[[nodiscard]] ASSAY_HD ASSAY_INLINE double sineOf(QuarterTurns turns, std::uint64_t extra) {
    const double r = turns.high;
    const double z = r * r;
    double s = 1.0 / 355687428096000.0; // 1/17!
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    const double half = 0.5 * z;
    const double sine = r + (r * z * s + turns.low * (1.0 - half));
    double c = 1.0 / 20922789888000.0; // 1/16!
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    const double lead = 1.0 - half;
    const double cosine = lead + (((1.0 - lead) - half) + (z * z * c - r * turns.low));
    const std::uint64_t quarter = turns.quarters + extra;
    const double value = (quarter & 1U) != 0 ? cosine : sine;
    return doubleFromBits(bitsOf(value) ^ ((quarter & 2U) << 62));
}

[[nodiscard]] ASSAY_HD ASSAY_INLINE bool needsHugeReduction(double x) {
    return doubleFromBits(bitsOf(x) & 0x7FFFFFFFFFFFFFFFULL) > kDirectReductionLimit;
}

} // namespace detail

/// Sine of x radians.
[[nodiscard]] ASSAY_HD inline double sinOwn(double x) {
    if (!isFinite(x)) {
        return x != x ? x : doubleFromBits(0x7FF8000000000000ULL);
    }
    if (x == 0.0) {
        return x;
    }
    return detail::sineOf(detail::needsHugeReduction(x) ? detail::reduceHuge(x) : detail::reduceDirectly(x), 0);
}

/// Cosine of x radians.
[[nodiscard]] ASSAY_HD inline double cosOwn(double x) {
    if (!isFinite(x)) {
        return x != x ? x : doubleFromBits(0x7FF8000000000000ULL);
    }
    return detail::sineOf(detail::needsHugeReduction(x) ? detail::reduceHuge(x) : detail::reduceDirectly(x), 1);
}

} // namespace assay::arith
