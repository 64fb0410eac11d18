// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/rounding.h"

/// The interval + parity code of the rounding log. Derivation of the constants: core/numerics/PROOF.md.
namespace assay::arith {

/// Relative uncertainty of a computed bound D: two sides' D lie within a factor 1 +- kSlack of the true one.
inline constexpr double kSlack = 0x1p-20;

inline constexpr double kTrainerLogs = 2.0 * (1.0 + 8.0 * kSlack);    ///< trainer logs when [y +- this*D] holds > 1 float
inline constexpr double kTrainerWhole = 2.0 * (1.0 + 16.0 * kSlack);  ///< parity is enough while [y +- this*D] holds <= 2
inline constexpr double kAuditorTakes = 1.0 + 4.0 * kSlack;           ///< the value comes from [y' +- this*D]
inline constexpr double kAuditorPermits = 3.0 * (1.0 + 16.0 * kSlack); ///< entries only where [y' +- this*D] holds > 1
// The judge works with H = D/2 and the exact value e.
inline constexpr double kJudgeRequires = 3.0 * (1.0 + 6.0 * kSlack);  ///< x H: an entry was required
inline constexpr double kJudgePermits = 5.0 * (1.0 + 12.0 * kSlack);  ///< x H: an entry was legal
inline constexpr double kJudgeAccepts = 1.0 + 3.0 * kSlack;           ///< x H: the value itself

/// FP32 values as an inclusive range of keys.
struct KeyInterval {
    std::int32_t lo = 0;
    std::int32_t hi = 0;
    [[nodiscard]] ASSAY_HD std::int64_t count() const { return static_cast<std::int64_t>(hi) - lo + 1; }
    [[nodiscard]] ASSAY_HD bool holds(std::int32_t key) const { return key >= lo && key <= hi; }
    bool operator==(const KeyInterval&) const = default;
};

/// [y +- r]: the floats from RN(fl64(y - r)) to RN(fl64(y + r)). y finite, r >= 0 finite. Results beyond the largest finite
/// float give the key of infinity; callers treat a non-finite candidate as the end of the run.
ASSAY_HD inline KeyInterval floatsWithin(double y, double r) {
    return {keyOf(roundToFloat(y - r)), keyOf(roundToFloat(y + r))};
}

} // namespace assay::arith
