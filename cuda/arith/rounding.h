// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/host_device.h"

namespace assay::arith {

/// Unit roundoff of FP64 (half the distance from 1 to the next value).
inline constexpr double kUnitRoundoff = 0x1p-53;

/// RN: rounds to the nearest FP32 value, ties to even, and makes -0 positive. Overflow gives an infinity, NaN stays
/// NaN. Monotone: x <= y implies RN(x) <= RN(y).
[[nodiscard]] ASSAY_HD constexpr float roundToFloat(double x) {
    return static_cast<float>(x) + 0.0F;
}

/// The integer m that orders floats: the bits of a positive value, minus the magnitude bits of a negative one. Both
/// zeros have key 0; neighbours differ by 1; the infinities have keys +-0x7F800000. The key of a NaN is meaningless.
[[nodiscard]] ASSAY_HD constexpr std::int32_t keyOf(float x) {
    const std::uint32_t bits = bitsOf(x);
    const auto magnitude = static_cast<std::int32_t>(bits & 0x7FFFFFFFU);
    return (bits >> 31) != 0 ? -magnitude : magnitude;
}

/// Inverse of keyOf; key 0 gives +0. Precondition: |key| <= 0x7F800000 (otherwise the result is a NaN).
[[nodiscard]] ASSAY_HD constexpr float fromKey(std::int32_t key) {
    return key < 0 ? floatFromBits(0x80000000U | (0U - static_cast<std::uint32_t>(key)))
                   : floatFromBits(static_cast<std::uint32_t>(key));
}

/// True if `x` survives RN unchanged: an FP32 value (infinities included) other than -0. False for NaN.
[[nodiscard]] ASSAY_HD constexpr bool isRepresentable(double x) {
    return static_cast<double>(static_cast<float>(x)) == x && bitsOf(x) != 0x8000000000000000ULL;
}

} // namespace assay::arith
