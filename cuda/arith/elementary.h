// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/arith/host_device.h"
#include "cuda/arith/trigonometry.h"
#include "cuda/arith/two_sum.h"

/// FP64 elementary functions from IEEE basic operations only (add, subtract, multiply, divide, compare, integer bit
/// operations), so that every machine gets the same bits; libm, sleef and libdevice differ from each other and from
/// version to version. Persistent: changing one operation changes every commitment, and needs a new `semantics`
/// version.
///
/// Largest errors measured against MPFR over millions of arguments each (tests/numerics/elementary_test.cpp), in units
/// in the last place of the correctly rounded result; the tests fail above the stated bounds.
///
/// | function   | bound  | specials                                                                           |
/// |------------|--------|------------------------------------------------------------------------------------|
/// | expOwn     | 0.75   | > 709.78... gives +Inf, < -745.13... gives +0 (1.0 where the result is subnormal)   |
/// | logOwn     | 1.00   | +-0 gives -Inf, negative gives NaN, +Inf gives +Inf                                 |
/// | sigmoidOwn | 1.75   | -Inf gives +0, +Inf gives 1                                                        |
/// | tanhOwn    | 1.75   | +-0 keeps its sign, +-Inf gives +-1                                                |
/// | erfOwn     | 0.85   | +-0 keeps its sign, +-Inf gives +-1                                                |
/// | sinOwn     | 0.85   | +-0 keeps its sign, +-Inf gives NaN; every finite argument is reduced exactly       |
/// | cosOwn     | 0.85   | +-Inf gives NaN                                                                    |
/// | powInteger | 0.51   | for n <= 2^45 (1.0 where the result is subnormal); see its own comment             |
/// | sqrtOwn    | 0.50   | IEEE                                                                               |
///
/// A NaN argument is returned as it is. The polynomials are Taylor series, cut where the rest is below 2^-57 of the
/// result: their coefficients are quotients of small integers, which the compiler rounds once. exp, log, sigmoid, tanh
/// and erf are free of branches, so that loops over them vectorise (core/numerics/arrays.h).
namespace assay::arith {

namespace detail {

inline constexpr double kRoundingMagic = 0x1.8p52; ///< adding it rounds |x| < 2^51 to an integer, nearest even
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLn2High = 0x1.62e42fefa3800p-1; ///< 42 bits of ln 2: exact times an 11-bit integer
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45; ///< ln 2 - kLn2High

[[nodiscard]] ASSAY_HD ASSAY_INLINE double magnitude(double x) {
    return doubleFromBits(bitsOf(x) & 0x7FFFFFFFFFFFFFFFULL);
}
[[nodiscard]] ASSAY_HD ASSAY_INLINE double withSignOf(double positive, double sign) {
    return doubleFromBits(bitsOf(positive) | (bitsOf(sign) & 0x8000000000000000ULL));
}

/// x = k ln 2 + r + tail with |r| <= 0.3466, and e^(r + tail) = 1 + r + small.
struct ExpParts {
    std::uint64_t k = 0; ///< two's complement
    double r = 0.0;
    double small = 0.0; ///< tail + r^2 * (1/2! + r/3! + ... + r^11/13!)
};

[[nodiscard]] ASSAY_HD ASSAY_INLINE ExpParts expReduce(double x) {
    const double shifted = x * kLog2E + kRoundingMagic;
    const double k = shifted - kRoundingMagic;
    const double high = x - k * kLn2High; // exact: both products and difference fit 53 bits
    const double low = k * kLn2Low;
    const double r = high - low;
    const double tail = (high - r) - low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return {bitsOf(shifted) - bitsOf(kRoundingMagic), r, tail + r * r * p};
}

/// 2^k = first * second for -1080 <= k <= 1026 (two's complement), both normal, so that value * first * second is
/// rounded only where the result is subnormal.
struct PowerOfTwo {
    double first = 1.0;
    double second = 1.0;
};
[[nodiscard]] ASSAY_HD ASSAY_INLINE PowerOfTwo powerOfTwo(std::uint64_t k) {
    const std::uint64_t biased = k + 2046U; // 966 .. 3072
    const std::uint64_t half = biased >> 1;
    return {doubleFromBits(half << 52), doubleFromBits((biased - half) << 52)};
}

} // namespace detail

/// e^x.
[[nodiscard]] ASSAY_HD ASSAY_INLINE double expOwn(double x) {
    double clamped = x < -746.0 ? -746.0 : x;
    clamped = clamped > 710.0 ? 710.0 : clamped;
    const detail::ExpParts parts = detail::expReduce(clamped);
    const detail::PowerOfTwo scale = detail::powerOfTwo(parts.k);
    const DoublePair lead = fastTwoSum(1.0, parts.r);
    const double result = (lead.high + (lead.low + parts.small)) * scale.first * scale.second;
    return x != x ? x : result;
}

/// Natural logarithm. x = 2^k m with sqrt(1/2) <= m < sqrt(2), f = m - 1, s = f / (2 + f):
/// log m = 2 artanh s = f - s (f - R), R = 2 s^2/3 + 2 s^4/5 + ...
[[nodiscard]] ASSAY_HD ASSAY_INLINE double logOwn(double x) {
    const bool isSubnormal = x < 0x1p-1022;
    const double scaled = isSubnormal ? x * 0x1p54 : x;
    const std::uint64_t bits = bitsOf(scaled);
    constexpr std::uint64_t kOne = 0x3FF0000000000000ULL;
    constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDULL;
    const std::uint64_t biased = (bits + (kOne - kSqrtHalf)) >> 52; // k + 1023
    const double m = doubleFromBits(bits - (biased << 52) + kOne);
    const double exponent = doubleFromBits(0x4330000000000000ULL | biased) - (0x1p52 + 1023.0);
    const double k = isSubnormal ? exponent - 54.0 : exponent;
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double q = 2.0 / 21.0;
    q = q * z + 2.0 / 19.0;
    q = q * z + 2.0 / 17.0;
    q = q * z + 2.0 / 15.0;
    q = q * z + 2.0 / 13.0;
    q = q * z + 2.0 / 11.0;
    q = q * z + 2.0 / 9.0;
    q = q * z + 2.0 / 7.0;
    q = q * z + 2.0 / 5.0;
    q = q * z + 2.0 / 3.0;
    const double minus = s * (f - z * q) - k * detail::kLn2Low;
    const DoublePair lead = twoSum(k * detail::kLn2High, f);
    double result = lead.high + (lead.low - minus);
    result = x == doubleFromBits(0x7FF0000000000000ULL) ? x : result;
    result = x == 0.0 ? -doubleFromBits(0x7FF0000000000000ULL) : result;
    result = x < 0.0 ? doubleFromBits(0x7FF8000000000000ULL) : result;
    return x != x ? x : result;
}

/// 1 / (1 + e^-x). With e = e^-|x|, d = fl(1 + e) and q = e / (1 + e): q for negative x, 1 - q otherwise. What d lost
/// to rounding is given back in the numerator, to first order: e / (d + lost) = (e - e lost / d) / d + ...
[[nodiscard]] ASSAY_HD ASSAY_INLINE double sigmoidOwn(double x) {
    const double minus = -detail::magnitude(x);
    const detail::ExpParts parts = detail::expReduce(minus < -746.0 ? -746.0 : minus);
    const detail::PowerOfTwo scale = detail::powerOfTwo(parts.k);
    const double power = scale.first * scale.second; // its rounding matters only where e is far below 2^-53
    const DoublePair lead = fastTwoSum(1.0, parts.r);
    const double rest = lead.low + parts.small;
    const double e = (lead.high + rest) * power;
    const double denominator = 1.0 + e;
    const double lost = (lead.high * power - (denominator - 1.0)) + rest * power;
    const double inverse = 1.0 - 0.5 * e; // of the denominator, roughly
    const double numerator = (lead.high + (rest - lead.high * (lost * inverse))) * scale.first * scale.second;
    const double q = numerator / denominator;
    const double result = x < 0.0 ? q : 1.0 - q;
    return x != x ? x : result;
}

/// With t = e^(2|x|) - 1 = (2^k - 1) + 2^k (r + small), whose leading parts are added exactly: t / (t + 2) where t < 2,
/// what the denominator lost to rounding being given back in the numerator to first order, and 1 - 2 / (t + 2)
/// otherwise.
[[nodiscard]] ASSAY_HD ASSAY_INLINE double tanhOwn(double x) {
    const double twice = 2.0 * detail::magnitude(x);
    const double clamped = twice < 44.0 ? twice : 44.0; // 1 - tanh 22 < 2^-62
    const detail::ExpParts parts = detail::expReduce(clamped);
    const double scale = doubleFromBits((parts.k + 1023U) << 52);
    const DoublePair lead = twoSum(scale - 1.0, scale * parts.r);
    const double rest = lead.low + scale * parts.small;
    const double t = lead.high + rest;
    const double denominator = t + 2.0;
    const double lost = (lead.high - (denominator - 2.0)) + rest;
    const double inverse = 0.5 - 0.16 * t; // of the denominator, roughly, for t < 2
    const double numerator = lead.high + (rest - t * (lost * inverse));
    const double q = (t < 2.0 ? numerator : 2.0) / denominator;
    const double result = detail::withSignOf(t < 2.0 ? q : 1.0 - q, x);
    return x != x ? x : result;
}

/// Error function. Below 1/2 its Taylor series in x^2; above, Taylor steps from the centre c of one of 44 intervals of
/// width 1/8: erf(c + h) = erf(c) + h (q0 + q1/2 + q2/3 + ...), q0 = erf'(c), q1 = -2hc q0, q(n+1) = -2h (c q(n) + h
/// q(n-1)) / (n+1). The tables hold erf(c) (rounded), what the rounding lost, and erf'(c) = 2/sqrt(pi) e^(-c^2).
[[nodiscard]] ASSAY_HD ASSAY_INLINE double erfOwn(double x) {
    static constexpr double kValue[44] = {
        0x1.25b8a88b6dd7fp-1, 0x1.569243d2b3a9bp-1, 0x1.7fb9bfaed8078p-1, 0x1.a1551a16aaeafp-1, 0x1.bbef0fbde6221p-1,
        0x1.d0580b2cfd249p-1, 0x1.df85ea8db188ep-1, 0x1.ea7730ed0bbb9p-1, 0x1.f21c9f12f0677p-1, 0x1.f74a6d9a38383p-1,
        0x1.fab0dd89d1309p-1, 0x1.fcdacca0bfb73p-1, 0x1.fe307f2b503d0p-1, 0x1.fefcce6813974p-1, 0x1.ff733814af88cp-1,
        0x1.ffb5bdf67fe6fp-1, 0x1.ffd9f78c7524ap-1, 0x1.ffed167b12ac2p-1, 0x1.fff6dee89352ep-1, 0x1.fffbb8f1049c6p-1,
        0x1.fffe0e0140857p-1, 0x1.ffff2436a21dcp-1, 0x1.ffffa1de8c582p-1, 0x1.ffffd8e1a2f22p-1, 0x1.fffff039f9e8fp-1,
        0x1.fffff9d446cccp-1, 0x1.fffffda86faa9p-1, 0x1.ffffff233ee1dp-1, 0x1.ffffffb127525p-1, 0x1.ffffffe4aed5ep-1,
        0x1.fffffff6d1e56p-1, 0x1.fffffffd01f89p-1, 0x1.ffffffff0dd2bp-1, 0x1.ffffffffb5be5p-1, 0x1.ffffffffe9eb0p-1,
        0x1.fffffffff9a1bp-1, 0x1.fffffffffe380p-1, 0x1.ffffffffff845p-1, 0x1.ffffffffffdf8p-1, 0x1.fffffffffff7bp-1,
        0x1.fffffffffffdfp-1, 0x1.ffffffffffff8p-1, 0x1.ffffffffffffep-1, 0x1.0000000000000p+0};
    static constexpr double kRest[44] = {
        0x1.9534a3b5bd215p-55,  0x1.8eef7012e8df5p-56,  0x1.66cf14bcad032p-56,  0x1.a558a46df5f67p-57,
        -0x1.322c1148e0d48p-55, 0x1.4fca6318dfee9p-55,  -0x1.f71e8254d11a9p-55, 0x1.2c5bd7ce1388bp-55,
        -0x1.7efe429672266p-58, 0x1.c33a329423946p-55,  -0x1.ae61bd9db1babp-55, -0x1.2c33d88729e43p-55,
        -0x1.8a555000387f8p-57, -0x1.b27cf5025d1c8p-58, 0x1.0a87238cea4f9p-56,  0x1.4e830346f6e7fp-62,
        0x1.04ed6ff98e45dp-55,  -0x1.ddc0ce3ed8fcbp-55, 0x1.b96c0ba13851dp-55,  0x1.d2c6266b51f27p-56,
        -0x1.6aa36f86c14ddp-57, -0x1.3607959a29d36p-55, 0x1.832540129302ap-55,  -0x1.c10adf6b19989p-55,
        -0x1.9d1bcd6174e99p-55, -0x1.bb06bab98bc7ep-57, -0x1.d230252d68f25p-56, 0x1.db123ed17221dp-55,
        0x1.504f382db4102p-55,  0x1.389c0f32ad0f4p-59,  -0x1.64d969b4be4c4p-55, -0x1.35e8e39884f62p-56,
        0x1.0df73e7d2fc98p-55,  -0x1.729d6819c7f34p-56, -0x1.ea527e0bef1ecp-58, -0x1.6a87270d2450ep-57,
        0x1.7ce07114e4fe0p-55,  0x1.b0edc5a89ab8fp-56,  -0x1.dcf8b10ff973bp-55, 0x1.00fa07f7fb612p-55,
        0x1.5669e670f914bp-56,  0x1.0160ef15c497dp-56,  0x1.59ab24e589a30p-56,  -0x1.a6d7d18831888p-55};
    static constexpr double kSlope[44] = {
        0x1.a5074e2157620p-1,  0x1.681ff24b4ab04p-1,  0x1.2a8dcede3673bp-1,  0x1.dfca26f5bbf88p-2,
        0x1.75a91a7f4d2edp-2,  0x1.1a0dc51a9934dp-2,  0x1.9cb5bd549b111p-3,  0x1.24a7b84d38971p-3,
        0x1.92470a61b6965p-4,  0x1.0bf97e95f2a64p-4,  0x1.5a08e85af27e0p-5,  0x1.b1160991ff737p-6,
        0x1.06ae13b0d3255p-6,  0x1.34d7dbc76d7e5p-7,  0x1.5ff2750fe7820p-8,  0x1.84ba3004a50d0p-9,
        0x1.a024365f771bdp-10, 0x1.afc85e0f82e12p-11, 0x1.b23a5a23e4210p-12, 0x1.a740684026555p-13,
        0x1.8fdc1b2dcf7b9p-14, 0x1.6e2367dc27f95p-15, 0x1.44f21e49054f2p-16, 0x1.1783ceac28910p-17,
        0x1.d21397ead99cbp-19, 0x1.789fb715aae95p-20, 0x1.26f9df8519bd7p-21, 0x1.bfd7555a3bd68p-23,
        0x1.4980cb3c80949p-24, 0x1.d5f3a8dea7357p-26, 0x1.44d26de513197p-27, 0x1.b334fac4b9f99p-29,
        0x1.1a94ff571654fp-30, 0x1.63ac6b4edc88ep-32, 0x1.b1e5acf351d87p-34, 0x1.0084ff125639dp-35,
        0x1.25f9ee0b923dcp-37, 0x1.46897d4b69fc6p-39, 0x1.5f8b87a31bd85p-41, 0x1.6ed2f2515e933p-43,
        0x1.72fd93e036cdcp-45, 0x1.6ba91ac734786p-47, 0x1.5982008db1304p-49, 0x1.3e296303b2297p-51};
    const double ax = detail::magnitude(x);
    const double small = ax < 0.5 ? ax : 0.5;
    const double z = small * small;
    double p = 0x1.9e6ad5e55a730p-34; // 2/sqrt(pi) (-1)^n / (n! (2n + 1)) for n = 12 .. 1
    p = p * z - 0x1.51d7181c5d36dp-30;
    p = p * z + 0x1.fcc5720624c1cp-27;
    p = p * z - 0x1.5f742ec43e71ap-23;
    p = p * z + 0x1.b9e6c9dc651a3p-20;
    p = p * z - 0x1.f4d25c3e0c2ebp-17;
    p = p * z + 0x1.f9a326f9b89b7p-14;
    p = p * z - 0x1.c02db40040b86p-11;
    p = p * z + 0x1.565bcd0e6a53fp-8;
    p = p * z - 0x1.b82ce31288b51p-6;
    p = p * z + 0x1.ce2f21a042be2p-4;
    p = p * z - 0x1.812746b0379e7p-2;
    p = p * z + 0x1.06eba8214db69p-3; // 2/sqrt(pi) - 1
    const double near = small + small * p;

    const double large = ax < 5.9375 ? ax : 5.9375; // 1 - erf(5.9375) < 2^-54; NaN ends up here too
    const double positive = large < 0.5 ? 0.5 : large;
    const std::uint64_t cell = bitsOf((positive - 0.5) * 8.0 + 63.51 + 0x1p52) & 63U; // 0 .. 43; |h| <= 0.0638
    const double centre = (doubleFromBits(0x4330000000000000ULL | cell) - 0x1p52) * 0.125 + 0.5625;
    const double h = positive - centre;
    const double step = -2.0 * h;
    double before = kSlope[cell];
    double now = step * centre * before;
    double sum = before + now * 0.5;
    double next = 0.0;
#define ASSAY_ERF_TERM(n)                                                                                              \
    next = step * (centre * now + h * before) * (1.0 / (n));                                                           \
    before = now;                                                                                                      \
    now = next;                                                                                                        \
    sum += now * (1.0 / ((n) + 1.0));
    ASSAY_ERF_TERM(2.0)
    ASSAY_ERF_TERM(3.0)
    ASSAY_ERF_TERM(4.0)
    ASSAY_ERF_TERM(5.0)
    ASSAY_ERF_TERM(6.0)
    ASSAY_ERF_TERM(7.0)
    ASSAY_ERF_TERM(8.0)
    ASSAY_ERF_TERM(9.0)
    ASSAY_ERF_TERM(10.0)
    ASSAY_ERF_TERM(11.0)
    ASSAY_ERF_TERM(12.0)
#undef ASSAY_ERF_TERM
    const double far = kValue[cell] + (kRest[cell] + h * sum);
    const double result = detail::withSignOf(ax < 0.5 ? near : far, x);
    return x != x ? x : result;
}

/// base^n, by squaring in double-double arithmetic with the exponent kept apart. n = 0 gives 1 for every base, 0^n and
/// Inf^n follow the sign rules of repeated multiplication. Scalar code with a loop of log2 n rounds.
[[nodiscard]] ASSAY_HD inline double powInteger(double base, std::uint64_t n) {
    const double infinity = doubleFromBits(0x7FF0000000000000ULL);
    if (n == 0) {
        return 1.0;
    }
    if (base != base) {
        return base;
    }
    const double sign = (n & 1U) != 0 ? base : 1.0;
    const double ax = detail::magnitude(base);
    if (ax == 0.0 || ax == infinity) {
        return detail::withSignOf(ax, sign);
    }
    const bool isSubnormal = ax < 0x1p-1022;
    const std::uint64_t bits = bitsOf(isSubnormal ? ax * 0x1p54 : ax);
    DoublePair square{doubleFromBits((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL), 0.0};
    std::int64_t squareExponent = static_cast<std::int64_t>(bits >> 52) - 1023 - (isSubnormal ? 54 : 0);
    DoublePair power{1.0, 0.0};
    std::int64_t exponent = 0;
    constexpr std::int64_t kHuge = 1LL << 50; // far outside the range of FP64, far inside that of int64
    const auto multiply = [](DoublePair& a, std::int64_t& aExponent, DoublePair b, std::int64_t bExponent) {
        const DoublePair p = twoProduct(a.high, b.high);
        a = fastTwoSum(p.high, p.low + (a.high * b.low + a.low * b.high));
        aExponent += bExponent;
        if (a.high >= 2.0) {
            a = {a.high * 0.5, a.low * 0.5};
            ++aExponent;
        }
        aExponent = aExponent > kHuge ? kHuge : (aExponent < -kHuge ? -kHuge : aExponent);
    };
    while (true) {
        if ((n & 1U) != 0) {
            multiply(power, exponent, square, squareExponent);
        }
        n >>= 1;
        if (n == 0) {
            break;
        }
        multiply(square, squareExponent, square, squareExponent);
    }
    if (exponent > 1024) {
        return detail::withSignOf(infinity, sign);
    }
    if (exponent < -1078) {
        return detail::withSignOf(0.0, sign);
    }
    const detail::PowerOfTwo scale = detail::powerOfTwo(static_cast<std::uint64_t>(exponent));
    const double result = (power.high + power.low) * scale.first * scale.second;
    return detail::withSignOf(result, sign);
}

/// IEEE square root.
[[nodiscard]] ASSAY_HD ASSAY_INLINE double sqrtOwn(double x) {
    return std::sqrt(x);
}

} // namespace assay::arith
