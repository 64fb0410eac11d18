// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "cuda/arith/host_device.h"

/// Own elementary functions in FP64 from IEEE basic operations only: the same bits on every host and device, whatever its math
/// library. Largest errors against a 200-bit reference are asserted in tests/numerics/elementary_test.cpp:
/// exp 1 ulp, log 2 ulp, tanh 3 ulp, erf 2 ulp, sin and cos 2 ulp for |x| <= 10^5, sigmoid 3 ulp.
/// Coefficients are Taylor terms written as exact quotients or correctly rounded values, so each can be re-derived by hand.
namespace assay::arith {

namespace elementary_detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInvLn2 = 0x1.71547652b82fep+0;
inline constexpr double kLn2High = 0x1.62e42fee00000p-1; ///< 32 leading bits, so k * kLn2High is exact for |k| < 2^21
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kRoundMagic = 0x1.8p52; ///< adding and subtracting it rounds |x| < 2^51 to an integer, ties to even

ASSAY_HD inline double scaleByPowerOfTwo(double value, std::int32_t k) {
    // Two factors, because 2^k alone may be out of range while value * 2^k is not.
    const std::int32_t half = k / 2;
    const auto power = [](std::int32_t e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
    return value * power(half) * power(k - half);
}

/// exp(r) - 1 - r for |r| <= 0.35: Taylor terms 2 to 14; the first omitted one is below 2^-62 of r^2.
ASSAY_HD inline double expTail(double r) {
    double p = 1.0 / 87178291200.0;
    p = p * r + 1.0 / 6227020800.0;
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
    return p * r * r;
}

/// x = k ln 2 + high + low with |high| <= ln(2)/2 (1 + tiny).
struct ExpReduction {
    double k;
    double high;
    double low;
};
ASSAY_HD inline ExpReduction reduceForExp(double x) {
    const double k = (x * kInvLn2 + kRoundMagic) - kRoundMagic;
    const double a = x - k * kLn2High; // exact product, and the difference is exact by Sterbenz or nearly so
    const double b = k * kLn2Low;
    const double high = a - b;
    return {k, high, (a - high) - b};
}

} // namespace elementary_detail

/// e^x. NaN stays NaN; overflows to +Inf, underflows gradually to +0.
ASSAY_HD inline double expOwn(double x) {
    using namespace elementary_detail;
    if (!(x == x)) {
        return x;
    }
    if (x > 709.79) {
        return kInfinity;
    }
    if (x < -745.14) {
        return 0.0;
    }
    const auto r = reduceForExp(x);
    const double value = 1.0 + (r.high + (expTail(r.high) + (r.low + r.low * r.high)));
    return scaleByPowerOfTwo(value, static_cast<std::int32_t>(r.k));
}

/// e^x - 1 without cancellation near 0.
ASSAY_HD inline double expm1Own(double x) {
    using namespace elementary_detail;
    if (!(x == x)) {
        return x;
    }
    if (x > 709.79) {
        return kInfinity;
    }
    if (x < -40.0) {
        return -1.0;
    }
    const auto r = reduceForExp(x);
    const double tail = expTail(r.high) + (r.low + r.low * r.high);
    const auto k = static_cast<std::int32_t>(r.k);
    if (k == 0) {
        return r.high + tail;
    }
    if (k > 60) {
        return scaleByPowerOfTwo(1.0 + (r.high + tail), k); // the 1 to subtract is below half an ulp
    }
    const double power = std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
    return (power - 1.0) + power * (r.high + tail);
}

/// Natural logarithm. log(0) = -Inf, log(negative) = NaN, log(+Inf) = +Inf.
ASSAY_HD inline double logOwn(double x) {
    using namespace elementary_detail;
    if (!(x == x) || x == kInfinity) {
        return x;
    }
    if (x < 0.0) {
        return kNaN;
    }
    if (x == 0.0) {
        return -kInfinity;
    }
    std::int32_t exponent = 0;
    if (x < 0x1p-1022) { // subnormal
        x *= 0x1p54;
        exponent = -54;
    }
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    exponent += static_cast<std::int32_t>(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
    double m = std::bit_cast<double>(bits);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        ++exponent;
    }
    // log m = f - f^2/2 + s (f^2/2 + R) with f = m - 1, s = f / (2 + f), R = sum of 2 s^(2j) / (2j + 1): the large part f is exact.
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = 2.0 / 23.0;
    p = p * z + 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    const double halfSquare = 0.5 * f * f;
    const double k = exponent;
    return k * kLn2High - ((halfSquare - (s * (halfSquare + p * z) + k * kLn2Low)) - f);
}

/// Hyperbolic tangent, odd.
ASSAY_HD inline double tanhOwn(double x) {
    if (!(x == x)) {
        return x;
    }
    const double a = x < 0.0 ? -x : x;
    double value = 1.0;
    if (a < 20.0) { // beyond, 1 - tanh is below half an ulp
        const double e = expm1Own(2.0 * a);
        value = e / (e + 2.0);
    }
    return x < 0.0 ? -value : value;
}

/// 1 / (1 + e^-x), computed from the side that does not cancel.
ASSAY_HD inline double sigmoidOwn(double x) {
    if (x >= 0.0) {
        return 1.0 / (1.0 + expOwn(-x));
    }
    const double e = expOwn(x);
    return e / (1.0 + e);
}

/// base^n by repeated squaring from the lowest bit of n: one specified order of multiplications. n = 0 gives 1.
ASSAY_HD inline double powInteger(double base, std::uint64_t n) {
    double value = 1.0;
    while (n != 0) {
        if ((n & 1u) != 0) {
            value *= base;
        }
        n >>= 1;
        if (n != 0) {
            base *= base;
        }
    }
    return value;
}

namespace elementary_detail {

/// Taylor coefficients of erf around the centres (i + 1/2) / 4, correctly rounded.
inline constexpr int kErfTerms = 15;
inline constexpr double kErfTable[24][kErfTerms] = {
    {0x1.1f5e1a35c3b89p-3, 0x1.1c62fa1e869b6p+0, -0x1.1c62fa1e869b6p-3, -0x1.6f552dbcc3336p-2, 0x1.196c9cd8dfdf2p-4, 0x1.aaba623e123f5p-4, -0x1.734ea69c583cdp-6, -0x1.89258e7894528p-6, 0x1.6f681c0bf0754p-8, 0x1.27933524903cep-8, -0x1.22d310b9a8598p-10, -0x1.75b71d3eb2d75p-11, 0x1.7fa84ef3d715bp-13, 0x1.96df1764be370p-14, -0x1.b1ccbe74bdda2p-16},
    {0x1.9dd0d2b721f39p-2, 0x1.f5f0cdaf15313p-1, -0x1.78749a434fe4ep-2, -0x1.e106c51d1ef9dp-3, 0x1.5529abcd00677p-3, 0x1.7488b8a7f1ba8p-5, -0x1.9a7945cd872e3p-5, -0x1.65c10b8389541p-8, 0x1.709ab615c2e0bp-7, 0x1.0422b5690e406p-13, -0x1.075688ffec33bp-9, 0x1.e96ba06915f56p-14, 0x1.378ce809e6918p-12, -0x1.19d58b35e6c37p-15, -0x1.3991fff7bb9f3p-15},
    {0x1.3f196dcd0f135p-1, 0x1.86e9694134b9ep-1, -0x1.e8a3c39181e85p-2, -0x1.c8105021682e3p-5, 0x1.6963c8a39d692p-3, -0x1.c1242dfffc503p-6, -0x1.52b2668e8627dp-5, 0x1.c7cd9c1ca7367p-7, 0x1.b62f4a7484034p-8, -0x1.dc3b46fdc32b4p-9, -0x1.81148d81da2abp-11, 0x1.63796d17c397ep-11, 0x1.55121d5901343p-15, -0x1.a17211d2c836ep-14, 0x1.d91470c8a466fp-19},
    {0x1.91724951b8fc6p-1, 0x1.0cab61f084b93p-1, -0x1.d62beb64e8441p-2, 0x1.7c9d756a115bbp-4, 0x1.cc60567d78c2bp-4, -0x1.1350f4b222ac7p-4, -0x1.53bb4a5af4fbep-7, 0x1.30ac21937fa54p-6, -0x1.e3f4d17a9ac97p-10, -0x1.aae22e15f782dp-9, 0x1.d6e44e4c09455p-11, 0x1.9900077d94d8ap-12, -0x1.94ae412712f8bp-13, -0x1.e70fe4fe69605p-16, 0x1.e7cc73fe79191p-16},
    {0x1.c6dad2829ec62p-1, 0x1.45e99bcbb7915p-2, -0x1.6ea6cf452e838p-2, 0x1.4cb3cf0aa0b9bp-3, 0x1.ca5083167a246p-6, -0x1.f65d15f1cf8d7p-5, 0x1.fd1c6c11eda72p-7, 0x1.3acc78420e9d3p-7, -0x1.8b43c43f205b7p-8, -0x1.79b04d104b47ap-12, 0x1.2e527649b7b04p-10, -0x1.731a0a163486bp-13, -0x1.28de963721690p-13, 0x1.9edd4cdd5c251p-15, 0x1.67a9d4aaf087dp-17},
    {0x1.e5768c3b4a3fcp-1, 0x1.5ce595c455b0ap-3, -0x1.dfbbadedf5d2ep-3, 0x1.4374d82e04c67p-3, -0x1.f3b8d52d35665p-6, -0x1.f572c4c8c7b0cp-6, 0x1.6b16f52c58b2bp-6, -0x1.73ffa9b859606p-10, -0x1.1740474706a1cp-8, 0x1.9da3d48ffd0a3p-10, 0x1.534f6c4dc679bp-12, -0x1.6392df39d614dp-12, 0x1.e13333b2abeefp-16, 0x1.5e43917418c74p-15, -0x1.921e058bbf683p-17},
    {0x1.f4f693b67bd77p-1, 0x1.499d478bca735p-4, -0x1.0bcfca21947dbp-3, 0x1.d6631e1a28e9ep-4, -0x1.974c03686729dp-5, -0x1.17d430bd57df4p-9, 0x1.d857f2c4bc9b6p-7, -0x1.954ab0f57a01ep-8, -0x1.2e43eef270fc5p-11, 0x1.71cd78555df62p-10, -0x1.75457224274f8p-12, -0x1.07892ddcb78e9p-13, 0x1.70f93e04bd30dp-14, -0x1.1e9ab9843baf7p-18, -0x1.63faf4af253acp-17},
    {0x1.fbe61eef4cf6ap-1, 0x1.12ceb37ff9bc3p-5, -0x1.01a1c847fa207p-4, 0x1.143d1c6f4f093p-4, -0x1.5a316520b81bap-5, 0x1.779b1e57043ccp-7, 0x1.0d099c7b29ddep-8, -0x1.42fcbaa85e8aap-8, 0x1.76ff57db443cap-10, 0x1.7bda79657b833p-12, -0x1.991c209f22659p-12, 0x1.353eeafcf9fccp-14, 0x1.2e9cb5a4b81e1p-15, -0x1.5d07bf672bc0cp-16, 0x1.b5c64438cd3e2p-21},
    {0x1.fea4218d6594ap-1, 0x1.94624e78e0fafp-7, -0x1.ada873606f0aap-6, 0x1.0ea475da3be7fp-5, -0x1.afe553fa44f40p-6, 0x1.9973b489fa221p-7, -0x1.dd78ee1541166p-10, -0x1.ea03bb2493671p-10, 0x1.6aa2c0b920d39p-10, -0x1.2fdb2fcf76069p-12, -0x1.01788a2adcda8p-13, 0x1.8dd7aaa44262bp-14, -0x1.f70c69dddafe1p-17, -0x1.1c63c54b0b820p-17, 0x1.31565abd2c590p-18},
    {0x1.ff9960f3eb327p-1, 0x1.06918b6355624p-8, -0x1.37ccd585f564bp-7, 0x1.c1ec102e364f1p-7, -0x1.ae59615f8eb1ap-7, 0x1.11dae47350ddep-7, -0x1.982b274b81788p-9, 0x1.0283e0b81b24ap-13, 0x1.377c452e88a90p-11, -0x1.61ec70a692e42p-12, 0x1.cae81a7d269ecp-15, 0x1.092767732524fp-15, -0x1.5cf9e49762523p-16, 0x1.a5c9bfe4a433fp-19, 0x1.c216855d38a39p-20},
    {0x1.ffe514bbdc197p-1, 0x1.2ce898809244ep-10, -0x1.8af14828bffa7p-9, 0x1.407fbd18f1201p-8, -0x1.62d4c6d49c7b0p-8, 0x1.146c4b3e28c45p-8, -0x1.267f3bc3eb5a4p-9, 0x1.64f891b0c9bd5p-11, 0x1.229ef0be9e918p-15, -0x1.4006bb88db24fp-13, 0x1.3631d47d55298p-14, -0x1.5a7e166eeb7a4p-17, -0x1.c0ce5a29eef4cp-18, 0x1.16fa2e058d95cp-18, -0x1.6b774f84c5fcep-21},
    {0x1.fff9ba420e834p-1, 0x1.30538fbb77ecdp-12, -0x1.b5781e9d7c647p-11, 0x1.89e17c074d373p-10, -0x1.ed4ac7daea43ep-10, 0x1.c11f27065ca3fp-10, -0x1.2add1ce773e8ep-10, 0x1.151f7854a4982p-11, -0x1.1c63ff4200387p-13, -0x1.0ec4b7a0e2922p-16, 0x1.1814499946fc1p-15, -0x1.f1014fd3fb252p-17, 0x1.119cf80980e9dp-19, 0x1.3eae6af3e1196p-20, -0x1.9618ecf8f25a0p-21},
    {0x1.fffeb3ebb267bp-1, 0x1.0f9e1b4dd36dfp-14, -0x1.a8670aa99a5bcp-13, 0x1.a3737e2a2f2bcp-12, -0x1.24544f02d2a7ep-11, 0x1.2e7e763d3371bp-11, -0x1.da496e53546cfp-12, 0x1.176cf6641d8cap-12, -0x1.d2ac6c8cdd1ebp-14, 0x1.aafdbd335f9fcp-16, 0x1.03f2f284de14cp-18, -0x1.ab2ef5582c7b5p-18, 0x1.6e35d70bd3c3ep-19, -0x1.bc99a1e9d0ad2p-22, -0x1.77b2f960ce544p-23},
    {0x1.ffffc316d9ed0p-1, 0x1.abe09e9144b5ep-17, -0x1.690585ca91f98p-15, 0x1.84522fe8815bcp-14, -0x1.298f8d45f650ap-13, 0x1.577577885f858p-13, -0x1.330aab77d471cp-13, 0x1.ac9997dd049bcp-14, -0x1.cc1578b9af656p-15, 0x1.64c530bff5499p-16, -0x1.34f0301aa55b8p-18, -0x1.5f92b1610bdc3p-21, 0x1.1e1d7e12793fdp-20, -0x1.ef13e0f0bd673p-22, 0x1.5f1ef7fdb3c8ep-24},
    {0x1.fffff618c3da6p-1, 0x1.296a70f414053p-19, -0x1.0d88765d3224bp-17, 0x1.394b1fa67116dp-16, -0x1.05760ad1bcf9ap-15, 0x1.4c1fe48a5aa68p-15, -0x1.4b98203383ad1p-15, 0x1.085c0f8220827p-15, -0x1.510a3c05c70ffp-16, 0x1.516554a419344p-17, -0x1.f31a25c84a6cfp-19, 0x1.b0737cb186e0ep-21, 0x1.49b56fe56c743p-24, -0x1.4fe2824279eacp-23, 0x1.3067117995f29p-24},
    {0x1.fffffe92ced93p-1, 0x1.6ce1aa3fd7bddp-22, -0x1.617a9cedd8ffep-20, 0x1.b95fa39b39f7fp-19, -0x1.8e1fc41538bd9p-18, 0x1.137172180139ep-17, -0x1.2eb290b1828d4p-17, 0x1.0d8c35cb01026p-17, -0x1.88856a366325dp-18, 0x1.d25c45f8a9f83p-19, -0x1.bbbb8753a480dp-20, 0x1.40016003f88c1p-21, -0x1.20d2ab47c8421p-23, -0x1.0aa78b8bd55cfp-28, 0x1.55986b9ba653ep-26},
    {0x1.ffffffd169d0cp-1, 0x1.8b0cfce0579e0p-25, -0x1.976564c75a5afp-23, 0x1.0fdac559b6f5ep-21, -0x1.07600ca6e0e9cp-20, 0x1.89ca7745e4767p-20, -0x1.d73aa4e4aaf59p-20, 0x1.cd9e0d8f2560bp-20, -0x1.7710b613c30dfp-20, 0x1.fc1a0fa573822p-21, -0x1.1dd3d347deeb6p-21, 0x1.06740b9513a19p-22, -0x1.774a00b925d73p-24, 0x1.68745ddaf21ecp-26, -0x1.ce97ebb34bb9ap-31},
    {0x1.fffffffabd229p-1, 0x1.7974e743dea3dp-28, -0x1.9cd7dcf23b832p-26, 0x1.252af6f48c16ep-24, -0x1.2f7354e6b6be4p-23, 0x1.e7102f88aac97p-23, -0x1.3ab0b0f09fe65p-22, 0x1.4f6108472d72ap-22, -0x1.2b631fb5b771bp-22, 0x1.c3b77353e13ecp-23, -0x1.20cda17595a48p-23, 0x1.37a00bff086c9p-24, -0x1.176bceabb09f7p-25, 0x1.90b5e3cf554d1p-27, -0x1.9c3a78d0214d1p-29},
    {0x1.ffffffff79626p-1, 0x1.3e44e45301b92p-31, -0x1.6fffa7fff9fe1p-29, 0x1.1508f768eb555p-27, -0x1.30fd0c66a5b01p-26, 0x1.05563283e1361p-25, -0x1.6a3a9d4a6da46p-25, 0x1.a06fc9ea921ebp-25, -0x1.93e268e746071p-25, 0x1.4e212f38f9c87p-25, -0x1.da89559e491c6p-26, 0x1.21b0c557b18cfp-26, -0x1.2ecea9af78a8fp-27, 0x1.0b80bd3b1ce29p-28, -0x1.8386e173fe47bp-30},
    {0x1.fffffffff4188p-1, 0x1.d9a880f306bd8p-35, -0x1.20a2ae94181b8p-32, 0x1.cb2a2e5641b36p-31, -0x1.0bc6ecf6645d8p-29, 0x1.e7ba5766cb95ap-29, -0x1.6893476b33c38p-28, 0x1.bc2ac3bce3ac4p-28, -0x1.d00ffcf73cab7p-28, 0x1.a05e56a71c912p-28, -0x1.43759506a0001p-28, 0x1.b5239a5e5cc2bp-29, -0x1.012853a8b8f19p-29, 0x1.0670ceaaac7bap-30, -0x1.cbcc3099fb9fep-32},
    {0x1.ffffffffff11ap-1, 0x1.370ab8327af5ep-38, -0x1.8e85bc00ad8b0p-36, 0x1.4decacbf8701ap-34, -0x1.9b3c55800869ap-33, 0x1.8c78e44811b28p-32, -0x1.373cd6e3f4f4ap-31, 0x1.988ab1c536dd3p-31, -0x1.c8c018018c16fp-31, 0x1.b8bfce1b6a364p-31, -0x1.729162312895bp-31, 0x1.112de726fe540p-31, -0x1.626354e33b833p-32, 0x1.94bdd23ca3b67p-33, -0x1.95ba2c587ebfap-34},
    {0x1.ffffffffffef8p-1, 0x1.68823e52970bep-42, -0x1.e46f03befaf7fp-40, 0x1.aa76120eb3034p-38, -0x1.146faeb890610p-36, 0x1.192d3b25dae4fp-35, -0x1.d2eaae6914ef6p-35, 0x1.450d4b1246c74p-34, -0x1.82c3010c284b4p-34, 0x1.8ec2c7fcbecf9p-34, -0x1.67e90893f09ffp-34, 0x1.1e7a8e0ec8711p-34, -0x1.9435ee5852925p-35, 0x1.fae61c832b2efp-36, -0x1.1a9ef3de4dd7dp-36},
    {0x1.ffffffffffff0p-1, 0x1.70beaf9c7ffb6p-46, -0x1.0346137a09fccp-43, 0x1.de74c0dc3aba0p-42, -0x1.459c8175c38afp-40, 0x1.5c5ee402a02eep-39, -0x1.30e3dc0ff1ab4p-38, 0x1.c0877a56439cep-38, -0x1.1ab48f02f237fp-37, 0x1.35c64dfb4bc16p-37, -0x1.2a3cdc2bf640ap-37, 0x1.fca6a42cea8acp-38, -0x1.827c3541a2b74p-38, 0x1.06b9bb0970a89p-38, -0x1.404ea9194a24ep-39},
    {0x1.fffffffffffffp-1, 0x1.4cd9c04158cd7p-50, -0x1.e8dfd25ffa6dcp-48, 0x1.d7c149fc9e073p-46, -0x1.50429df3842b0p-44, 0x1.796a3a04a8924p-43, -0x1.5b22817aba1d7p-42, 0x1.0ce14dc9c5faap-41, -0x1.65b980f3348e2p-41, 0x1.9ebf43e481ac6p-41, -0x1.a7bb7dd3bf60fp-41, 0x1.80c169d78e7b0p-41, -0x1.3889b41660747p-41, 0x1.c8739a8fc1403p-42, -0x1.2caa6be56320bp-42},};

/// pi/2 in three parts of 31, 32 and 53 bits: k times each of the first two is exact for |k| < 2^21.
inline constexpr double kHalfPi1 = 0x1.921fb54400000p+0;
inline constexpr double kHalfPi2 = 0x1.0b4611a000000p-34;
inline constexpr double kHalfPi3 = 0x1.898cc51701b84p-64;

ASSAY_HD inline double sinKernel(double x, double low) { // |x| <= pi/4 (1 + tiny)
    const double z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = 1.0 / 1307674368000.0 - p * z;
    p = 1.0 / 6227020800.0 - p * z;
    p = 1.0 / 39916800.0 - p * z;
    p = 1.0 / 362880.0 - p * z;
    p = 1.0 / 5040.0 - p * z;
    p = 1.0 / 120.0 - p * z;
    p = 1.0 / 6.0 - p * z;
    return x - (p * z * x - low * (1.0 - 0.5 * z));
}

ASSAY_HD inline double cosKernel(double x, double low) {
    const double z = x * x;
    double p = 1.0 / 6402373705728000.0;
    p = 1.0 / 20922789888000.0 - p * z;
    p = 1.0 / 87178291200.0 - p * z;
    p = 1.0 / 479001600.0 - p * z;
    p = 1.0 / 3628800.0 - p * z;
    p = 1.0 / 40320.0 - p * z;
    p = 1.0 / 720.0 - p * z;
    p = 1.0 / 24.0 - p * z;
    const double half = 0.5 * z;
    const double head = 1.0 - half;
    return head + (((1.0 - head) - half) + (p * z * z - x * low));
}

ASSAY_HD inline double sinOrCos(double x, std::uint32_t shift) {
    if (!(x == x) || x == kInfinity || x == -kInfinity) {
        return kNaN;
    }
    const double k = (x * 0x1.45f306dc9c883p-1 + kRoundMagic) - kRoundMagic;
    const double a = x - k * kHalfPi1;
    const double b = k * kHalfPi2;
    const double first = a - b;
    const double firstLow = (a - first) - b;
    const double c = k * kHalfPi3 - firstLow;
    const double high = first - c;
    const double low = (first - high) - c;
    const auto quadrant = (static_cast<std::uint32_t>(static_cast<std::int64_t>(k)) + shift) & 3u;
    const double value = (quadrant & 1u) != 0 ? cosKernel(high, low) : sinKernel(high, low);
    return (quadrant & 2u) != 0 ? -value : value;
}

} // namespace elementary_detail

/// Error function, odd.
ASSAY_HD inline double erfOwn(double x) {
    using namespace elementary_detail;
    if (!(x == x)) {
        return x;
    }
    const double a = x < 0.0 ? -x : x;
    double value = 1.0;
    if (a < 0.25) { // odd Taylor series: relative accuracy down to 0
        const double z = a * a;
        double p = 1.0 / (19.0 * 362880.0);
        p = 1.0 / (17.0 * 40320.0) - p * z;
        p = 1.0 / (15.0 * 5040.0) - p * z;
        p = 1.0 / (13.0 * 720.0) - p * z;
        p = 1.0 / (11.0 * 120.0) - p * z;
        p = 1.0 / (9.0 * 24.0) - p * z;
        p = 1.0 / (7.0 * 6.0) - p * z;
        p = 1.0 / (5.0 * 2.0) - p * z;
        p = 1.0 / 3.0 - p * z;
        constexpr double kTwoOverSqrtPi = 0x1.20dd750429b6dp+0;
        constexpr double kTwoOverSqrtPiLow = 0x1.1ae3a914fed80p-56;
        value = a * kTwoOverSqrtPi + a * (kTwoOverSqrtPiLow - kTwoOverSqrtPi * (p * z));
    } else if (a < 6.0) { // beyond, 1 - erf is below half an ulp
        const auto interval = static_cast<int>(a * 4.0);
        const double d = a - (interval + 0.5) * 0.25; // exact
        const double* c = kErfTable[interval];
        double p = c[kErfTerms - 1];
        for (int n = kErfTerms - 2; n >= 1; --n) {
            p = p * d + c[n];
        }
        value = c[0] + p * d;
    }
    return x < 0.0 ? -value : value;
}

/// Sine and cosine for |x| <= 10^5 (larger arguments lose accuracy, still deterministically); NaN for infinities.
ASSAY_HD inline double sinOwn(double x) {
    return elementary_detail::sinOrCos(x, 0);
}
ASSAY_HD inline double cosOwn(double x) {
    return elementary_detail::sinOrCos(x, 1);
}

} // namespace assay::arith
