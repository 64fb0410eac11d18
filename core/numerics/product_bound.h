// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/rounding.h"

/// Bounds on how far two honest evaluations of one element of a matrix product may lie apart. Proofs: PROOF.md beside this file.
namespace assay::numerics {

/// Unit roundoff of FP64.
inline constexpr double kUnitRoundoff = 0x1p-53;
/// Covers the rounding of the norms and of the bound itself (both below 2^-40 relatively); see PROOF.md, section 2.
inline constexpr double kNormSlack = 1.0 + 0x1p-30;
/// As kNormSlack for the exact-sum rule.
inline constexpr double kExactSlack = 1.0 + 0x1p-40;

/// Which bound an order has chosen.
enum class BoundKind {
    proven,   ///< holds for any order of additions inside a block
    empirical ///< smaller log; exceeded by real kernels on adversarial operands (factor up to 2)
};

/// D = productCoefficient(...) * |a| * |b| + 2u|y|, with |a|, |b| the Euclidean norms of the operands of one element.
/// `length` is the number of terms K >= 1, `block` the block size of the order (ignored by the empirical bound).
[[nodiscard]] double productCoefficient(BoundKind kind, std::uint64_t length, std::uint64_t block);

/// The granule of a set of FP32 values is the largest power of two that divides all of them (+Inf where all are zero).
/// Where |a| |b| < 2^53 granule_a granule_b every partial sum in any order is exact in FP64, so D = 0 (exact-sum rule).
/// All parties evaluate this one expression, in this order of operations.
[[nodiscard]] inline double elementBound(double coefficient, double normA, double normB, double granuleA, double granuleB,
                                         double y) {
    const double norms = normA * normB;
    if (norms * kExactSlack < (granuleA * 0x1p53) * granuleB) {
        return 0.0;
    }
    return coefficient * norms + (2.0 * kUnitRoundoff) * arith::magnitude(y);
}

/// Norms and granules of the rows of a row-major matrix (rows x columns, `stride` >= columns values apart) in the specified order
/// of cuda/arith/reduce.h. norm and granule hold `rows` values. A non-finite operand gives a non-finite norm.
void rowNorms(const float* a, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride, double* norm, double* granule);
/// The same for the columns: norm and granule hold `columns` values.
void columnNorms(const float* a, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride, double* norm, double* granule);

} // namespace assay::numerics
