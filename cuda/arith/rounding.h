// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/arith/host_device.h"

/// RN and the integer keys of FP32 values: the foundation on which trainer, auditor and judge must agree bit for bit.
namespace assay::arith {

/// RN: FP64 to the nearest FP32, ties to even, with -0 made +0 (adding +0 turns -0 into +0 and changes nothing else).
ASSAY_HD inline float roundToFloat(double value) {
    return static_cast<float>(value) + 0.0f;
}

/// Order-preserving integer of an FP32 value: the bits for a clear sign, else -(bits & 0x7FFFFFFF); one zero. NaN has no order:
/// callers exclude it first.
ASSAY_HD inline std::int32_t keyOf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffu);
    return (bits >> 31) != 0 ? -magnitude : magnitude;
}

/// Inverse of keyOf (key 0 gives +0).
ASSAY_HD inline float fromKey(std::int32_t key) {
    const std::uint32_t bits =
        key < 0 ? (static_cast<std::uint32_t>(-key) | 0x80000000u) : static_cast<std::uint32_t>(key);
    return std::bit_cast<float>(bits);
}

/// Parity of a value as logged: the lowest bit of its key, equal to the lowest mantissa bit.
ASSAY_HD inline std::uint32_t parityOf(float value) {
    return std::bit_cast<std::uint32_t>(value) & 1u;
}

ASSAY_HD inline bool isFiniteBits(float value) {
    return (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
}
ASSAY_HD inline bool isFiniteBits(double value) {
    return (std::bit_cast<std::uint64_t>(value) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}

/// Whether RN(value) == value bit for bit (so -0, NaN and what needs more than 24 bits are not).
ASSAY_HD inline bool isRepresentable(double value) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(roundToFloat(value))) == std::bit_cast<std::uint64_t>(value) &&
           isFiniteBits(value);
}

/// |value| without touching its other bits.
ASSAY_HD inline double magnitude(double value) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0x7fffffffffffffffull);
}

} // namespace assay::arith
