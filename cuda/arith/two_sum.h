// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/arith/host_device.h"

namespace assay::arith {

/// An unevaluated sum high + low.
struct DoublePair {
    double high = 0.0;
    double low = 0.0;
};

/// high = fl(a + b) and high + low = a + b exactly (Knuth), for any a, b without overflow.
[[nodiscard]] ASSAY_HD constexpr DoublePair twoSum(double a, double b) {
    const double sum = a + b;
    const double partOfB = sum - a;
    const double partOfA = sum - partOfB;
    return {sum, (a - partOfA) + (b - partOfB)};
}

/// As twoSum, for |a| >= |b| or a = 0 (Dekker).
[[nodiscard]] ASSAY_HD constexpr DoublePair fastTwoSum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

/// high + low = a * b exactly, without a fused operation (Veltkamp splitting). Preconditions: |a|, |b| < 2^995, and the
/// product is 0 or at least 2^-968 in magnitude.
[[nodiscard]] ASSAY_HD constexpr DoublePair twoProduct(double a, double b) {
    constexpr double kSplit = 134217729.0; // 2^27 + 1
    const double ca = kSplit * a;
    const double aHigh = ca - (ca - a);
    const double aLow = a - aHigh;
    const double cb = kSplit * b;
    const double bHigh = cb - (cb - b);
    const double bLow = b - bHigh;
    const double product = a * b;
    return {product, ((aHigh * bHigh - product) + aHigh * bLow + aLow * bHigh) + aLow * bLow};
}

/// Adds the blocks of one product element in the fixed order 0, 1, 2, ...: the rounding errors of the additions are
/// collected and added once at the end, so that the number of blocks does not enter the error bound. With a single
/// block value() is that block, unrounded.
struct BlockSum {
    double sum = -0.0;       ///< -0 is the neutral element of addition: the first block passes unchanged
    double correction = 0.0; ///< sum of the additions' rounding errors

    ASSAY_HD constexpr void add(double block) {
        const DoublePair s = twoSum(sum, block);
        sum = s.high;
        correction += s.low;
    }
    [[nodiscard]] ASSAY_HD constexpr double value() const { return sum + correction; }
};

} // namespace assay::arith
