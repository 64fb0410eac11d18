// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/interval.h"
#include "cuda/arith/reduce.h"

namespace assay::numerics {

/// Which promise D makes. `proven`: two machines with any kernel, any order inside a block, never differ by more than
/// D. `empirical`: smaller, but exceeded by real kernels on constant or sorted operands (weaker evidence).
enum class BoundKind : std::uint8_t { proven, empirical };

/// Largest number of blocks for which the proof of `proven` holds.
inline constexpr std::uint64_t kMaxBlocks = 1ULL << 26;
/// Below this many granules a sum of exact products is exact in every order. A little under 2^53, so that the rounding
/// of the computed norms cannot matter.
inline constexpr double kExactGranules = 0x1p53 - 0x1p33;

/// The factor c of D = c * rowNorm * colNorm + 2u|y| for sums of K products.
/// proven: c = 2 min(K, block) u, exact; K is cut into blocks of at most `block` terms, each summed in any order
/// starting
///   from zero, and the blocks added with arith::BlockSum. Preconditions: block >= 1, K <= kMaxBlocks * block.
/// empirical: c = u (8 + 2 sqrt K) for K > 0, any order; `block` is ignored.
/// K = 0 gives 0. Proof: PROOF.md beside this file.
[[nodiscard]] double boundCoefficient(BoundKind kind, std::uint64_t K, std::uint64_t block);

/// One two-dimensional product and what its bound needs. Element (i, j) has index indexBase + i * cols + j.
/// Pointers are borrowed; norms and granules are those of the operand's row i and the other operand's column j, from
/// rowNorms/columnNorms (or the same tree elsewhere), so that every party has the same bits: norms are >= 0, infinite
/// or NaN, granules are powers of two.
struct ProductSite {
    const double* y = nullptr; ///< FP64 results, row-major, row stride = cols
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const double* rowNorm = nullptr;    ///< [rows]
    const double* colNorm = nullptr;    ///< [cols]
    const double* rowGranule = nullptr; ///< [rows]
    const double* colGranule = nullptr; ///< [cols]
    double coefficient = 0.0;           ///< from boundCoefficient
    std::uint64_t indexBase = 0;        ///< index of element (0, 0) in the site's log

    [[nodiscard]] std::uint64_t values() const { return rows * cols; }
};

/// D of one element from its own parts: 0 where the exact-sum rule holds (every order gives the same bits), otherwise
/// coefficient * (rowNorm * colNorm) + 2u|y|. NaN or infinite where an operand is.
[[nodiscard]] ASSAY_INLINE double elementBound(double y, double rowNorm, double colNorm, double rowGranule,
                                               double colGranule, double coefficient) {
    const double norms = rowNorm * colNorm;
    const double limit = (kExactGranules * rowGranule) * colGranule;
    const double magnitude = arith::doubleFromBits(arith::bitsOf(y) & 0x7FFFFFFFFFFFFFFFULL);
    return norms < limit ? 0.0 : coefficient * norms + 2.0 * arith::kUnitRoundoff * magnitude;
}

/// D of element (row, col) of a product.
[[nodiscard]] inline double elementBound(const ProductSite& site, std::uint64_t row, std::uint64_t col) {
    return elementBound(site.y[row * site.cols + col], site.rowNorm[row], site.colNorm[col], site.rowGranule[row],
                        site.colGranule[col], site.coefficient);
}

/// Euclidean norm of each row of the row-major matrix a[rows, cols] with row stride `stride` >= cols: the square root
/// of the sum of squares in the tree of cuda/arith/reduce.h. granule[i] is the largest power of two that divides every
/// finite nonzero value of the row (1 if there is none). Outputs have `rows` values. Infinite or NaN values make the
/// norm so.
void rowNorms(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
              double* granule);

/// The same for the columns of a[rows, cols]: outputs have `cols` values, equal bit for bit to rowNorms of the
/// transpose.
void columnNorms(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                 double* granule);

} // namespace assay::numerics
