// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

/// Marks functions that host and device share. Device code that includes these headers must be compiled with
/// `-fmad=false --ftz=false --prec-div=true --prec-sqrt=true --expt-relaxed-constexpr`, host code with
/// `-ffp-contract=off` and without fast-math: every function here relies on each single operation being rounded once,
/// to nearest even.
#if defined(__CUDACC__)
#define ASSAY_HD __host__ __device__
#else
#define ASSAY_HD
#endif

/// Forces inlining, so that a caller compiled for a wider instruction set gets the body compiled for that set as well.
#if defined(__CUDACC__)
#define ASSAY_INLINE __forceinline__
#else
#define ASSAY_INLINE inline __attribute__((always_inline))
#endif

namespace assay::arith {

[[nodiscard]] ASSAY_HD constexpr std::uint32_t bitsOf(float x) {
    return std::bit_cast<std::uint32_t>(x);
}
[[nodiscard]] ASSAY_HD constexpr std::uint64_t bitsOf(double x) {
    return std::bit_cast<std::uint64_t>(x);
}
[[nodiscard]] ASSAY_HD constexpr float floatFromBits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
[[nodiscard]] ASSAY_HD constexpr double doubleFromBits(std::uint64_t bits) {
    return std::bit_cast<double>(bits);
}

/// True unless `x` is infinite or NaN. Works on bits, so no compiler option can fold it away.
[[nodiscard]] ASSAY_HD constexpr bool isFinite(float x) {
    return (bitsOf(x) & 0x7F800000U) != 0x7F800000U;
}
[[nodiscard]] ASSAY_HD constexpr bool isFinite(double x) {
    return (bitsOf(x) & 0x7FF0000000000000ULL) != 0x7FF0000000000000ULL;
}

} // namespace assay::arith
