// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/rounding.h"

namespace assay::arith {

/// A closed range of float keys (see keyOf).
struct KeyInterval {
    std::int32_t lo = 0;
    std::int32_t hi = 0;

    /// Number of floats in the interval, 0 if it is empty.
    [[nodiscard]] ASSAY_HD constexpr std::uint64_t count() const {
        return hi < lo ? 0U : static_cast<std::uint64_t>(static_cast<std::int64_t>(hi) - lo) + 1U;
    }
    [[nodiscard]] ASSAY_HD constexpr bool contains(std::int32_t key) const { return lo <= key && key <= hi; }
    constexpr bool operator==(const KeyInterval&) const = default;
};

/// The floats from RN(fl64(y - r)) to RN(fl64(y + r)): the meaning of [y +- r] for every party. Rounding goes through
/// FP64 on purpose, so that an exact judge and a machine agree at ties. Precondition: y is finite, r >= 0 and finite.
[[nodiscard]] ASSAY_HD constexpr KeyInterval floatsWithin(double y, double r) {
    return {keyOf(roundToFloat(y - r)), keyOf(roundToFloat(y + r))};
}

/// Every party's computed bound D lies within a factor 1 +- kSlack of the true one (proved in core/numerics/PROOF.md).
inline constexpr double kSlack = 0x1p-20;

// Radii in units of D. All are exact in FP64. What they guarantee is proved in core/numerics/PROOF.md.
inline constexpr double kTrainerLogs = 2.0 * (1.0 + 8.0 * kSlack);   ///< the trainer logs where this holds > 1 float
inline constexpr double kTrainerWhole = 2.0 * (1.0 + 16.0 * kSlack); ///< and logs the whole float where this holds > 2
inline constexpr double kAuditorTakes = 1.0 + 4.0 * kSlack;          ///< the auditor takes values, and demands entries
inline constexpr double kAuditorPermits = 3.0 * (1.0 + 16.0 * kSlack); ///< the auditor permits entries where > 1 float

// Radii of the judge around the exact value, in units of H = D / 2.
inline constexpr double kJudgeRequires =
    3.0 * (1.0 + 6.0 * kSlack); ///< entry required where > 1, parity illegal where > 2
inline constexpr double kJudgeIllegal = 5.0 * (1.0 + 12.0 * kSlack); ///< entry illegal where this holds only one float
inline constexpr double kJudgeTakes = 1.0 + 3.0 * kSlack;            ///< a logged value must lie here

} // namespace assay::arith
