// SPDX-License-Identifier: Apache-2.0
// No include guard: included once by each kernels_*.cpp, after it has defined
//   ASSAY_KERNEL       the target attribute of every function here (empty for the baseline), and
//   ASSAY_KERNEL_WIDTH how many doubles a vector register holds: 2, 4 or 8.
// The target is an attribute, not a compiler flag, so that inline functions of shared headers are never compiled for an
// instruction set that the CPU may lack; they reach this file by forced inlining. No function here may be called before
// the CPU was checked.
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/numerics/kernel_table.h"
#include "cuda/arith/elementary.h"
#include "cuda/arith/reduce.h"

namespace assay::numerics {
namespace {

constexpr std::uint64_t kPart = ASSAY_KERNEL_WIDTH;     // doubles in a register
constexpr std::uint64_t kWidth = kPart < 4 ? 4 : kPart; // elements in a group
constexpr std::uint64_t kParts = kWidth / kPart;        // registers in a group
using Doubles [[gnu::vector_size(8 * kPart)]] = double;
using Longs [[gnu::vector_size(8 * kPart)]] = std::int64_t;
using Floats [[gnu::vector_size(4 * kWidth)]] = float;
using Ints [[gnu::vector_size(4 * kWidth)]] = std::int32_t;

/// Bit l is set where lane l (0 or -1) is.
ASSAY_KERNEL ASSAY_INLINE unsigned laneMask(const Ints& lanes) {
#if defined(__x86_64__) && ASSAY_KERNEL_WIDTH == 8
    return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<const __m256&>(lanes)));
#elif defined(__x86_64__)
    return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<const __m128&>(lanes)));
#else
    unsigned mask = 0;
    for (std::uint64_t l = 0; l < kWidth; ++l) {
        mask |= lanes[l] != 0 ? 1U << l : 0U;
    }
    return mask;
#endif
}

/// Rounds the parts of a group to floats.
ASSAY_KERNEL ASSAY_INLINE Floats narrow(const Doubles (&parts)[kParts]) {
#if defined(__x86_64__) && ASSAY_KERNEL_WIDTH == 2
    return (Floats)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)parts[0]), _mm_cvtpd_ps((__m128d)parts[1]));
#elif ASSAY_KERNEL_WIDTH == 2
    Floats result;
    for (std::uint64_t l = 0; l < kWidth; ++l) {
        result[l] = static_cast<float>(parts[l / 2][l % 2]);
    }
    return result;
#else
    return __builtin_convertvector(parts[0], Floats);
#endif
}

/// What one row contributes to the bound.
struct RowParts {
    double norm;
    double exactLimit; ///< kExactGranules * granule
    double coefficient;
    double factor;
};

/// kWidth elements: stores RN(y - r), returns the mask of the doubtful ones. `zeros` stays 0 in every lane as long as
/// the stored values are finite and becomes NaN otherwise. With MayBeExact = false the caller knows that the exact-sum
/// rule holds for none of them.
template <bool MayBeExact>
ASSAY_KERNEL ASSAY_INLINE unsigned scanGroup(const double* y, const double* colNorm, const double* colGranule,
                                             const RowParts& row, float* out, Floats& zeros) {
    Doubles below[kParts];
    Doubles above[kParts];
    for (std::uint64_t p = 0; p < kParts; ++p) {
        Doubles value;
        Doubles norms;
        std::memcpy(&value, y + p * kPart, sizeof value);
        std::memcpy(&norms, colNorm + p * kPart, sizeof norms);
        norms = row.norm * norms;
        const Doubles magnitude = (Doubles)((Longs)value & 0x7FFFFFFFFFFFFFFFLL);
        Doubles bound = row.coefficient * norms + 2.0 * arith::kUnitRoundoff * magnitude;
        if constexpr (MayBeExact) {
            Doubles limit;
            std::memcpy(&limit, colGranule + p * kPart, sizeof limit);
            limit = row.exactLimit * limit;
            const Longs exact = norms < limit;
            bound = (Doubles)((Longs)bound & ~exact);
        }
        const Doubles radius = row.factor * bound;
        below[p] = value - radius;
        above[p] = value + radius;
    }
    const Floats low = narrow(below) + 0.0F;
    const Floats high = narrow(above) + 0.0F;
    const Ints differ = low != high;
    zeros += low * 0.0F;
    std::memcpy(out, &low, sizeof low);
    return laneMask(differ);
}

ASSAY_KERNEL ASSAY_INLINE void appendMask(unsigned mask, std::uint64_t first, std::vector<std::uint64_t>& doubtful) {
    for (; mask != 0; mask &= mask - 1U) {
        doubtful.push_back(first + static_cast<std::uint64_t>(__builtin_ctz(mask)));
    }
}

/// One row. Where there are fewer columns than lanes the caller gives padded copies of colNorm and colGranule;
/// otherwise the last group overlaps the one before, and its first lanes are masked out.
template <bool MayBeExact>
ASSAY_KERNEL ASSAY_INLINE void scanRow(const double* y, const double* colNorm, const double* colGranule,
                                       std::uint64_t cols, const RowParts& row, std::uint64_t base, float* out,
                                       Floats& zerosInOut, std::vector<std::uint64_t>& doubtful) {
    Floats zeros = zerosInOut;
    std::uint64_t j = 0;
    for (; j + kWidth <= cols; j += kWidth) {
        const unsigned mask = scanGroup<MayBeExact>(y + j, colNorm + j, colGranule + j, row, out + j, zeros);
        if (mask != 0) [[unlikely]] {
            appendMask(mask, base + j, doubtful);
        }
    }
    const std::uint64_t tail = cols % kWidth;
    if (tail != 0 && cols > kWidth) {
        j = cols - kWidth;
        const unsigned mask = scanGroup<MayBeExact>(y + j, colNorm + j, colGranule + j, row, out + j, zeros);
        appendMask(mask & (~0U << (kWidth - tail)), base + j, doubtful);
    } else if (tail != 0) {
        double paddedY[kWidth] = {};
        float paddedOut[kWidth];
        for (std::uint64_t l = 0; l < tail; ++l) {
            paddedY[l] = y[l];
        }
        const unsigned mask = scanGroup<MayBeExact>(paddedY, colNorm, colGranule, row, paddedOut, zeros);
        for (std::uint64_t l = 0; l < tail; ++l) {
            out[l] = paddedOut[l];
        }
        appendMask(mask & ((1U << tail) - 1U), base, doubtful);
    }
    zerosInOut = zeros;
}

/// The slow answer to "is every value that is not in doubt finite?", for when a stored value was not.
bool sureValuesAreFinite(const float* out, std::uint64_t count, const std::vector<std::uint64_t>& doubtful,
                         std::size_t firstDoubtful) {
    std::size_t next = firstDoubtful;
    for (std::uint64_t e = 0; e < count; ++e) {
        if (next < doubtful.size() && doubtful[next] == e) {
            ++next;
        } else if (!arith::isFinite(out[e])) {
            return false;
        }
    }
    return true;
}

ASSAY_KERNEL bool scanSite(const ProductSite& site, double factor, float* out, std::vector<std::uint64_t>& doubtful) {
    const std::size_t firstDoubtful = doubtful.size();
    const std::uint64_t cols = site.cols;
    if (cols == 0) {
        return true;
    }
    const double* colNorm = site.colNorm;
    const double* colGranule = site.colGranule;
    double paddedNorm[kWidth] = {};
    double paddedGranule[kWidth] = {};
    if (cols < kWidth) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            paddedNorm[j] = colNorm[j];
            paddedGranule[j] = colGranule[j];
        }
        colNorm = paddedNorm;
        colGranule = paddedGranule;
    }
    // Rounding is monotone: if the rule fails for the smallest norm with the largest granule, it fails for every column
    // (and for a NaN norm, which the comparison skips, it never holds).
    double leastNorm = arith::doubleFromBits(0x7FF0000000000000ULL);
    double mostGranule = 0.0;
    for (std::uint64_t j = 0; j < cols; ++j) {
        leastNorm = site.colNorm[j] < leastNorm ? site.colNorm[j] : leastNorm;
        mostGranule = site.colGranule[j] > mostGranule ? site.colGranule[j] : mostGranule;
    }
    Floats zeros = {};
    for (std::uint64_t i = 0; i < site.rows; ++i) {
        const RowParts row{site.rowNorm[i], kExactGranules * site.rowGranule[i], site.coefficient, factor};
        const std::uint64_t base = i * cols;
        if (row.norm * leastNorm >= row.exactLimit * mostGranule) {
            scanRow<false>(site.y + base, colNorm, colGranule, cols, row, base, out + base, zeros, doubtful);
        } else {
            scanRow<true>(site.y + base, colNorm, colGranule, cols, row, base, out + base, zeros, doubtful);
        }
    }
    if (laneMask(zeros != zeros) == 0) {
        return true;
    }
    return sureValuesAreFinite(out, site.rows * cols, doubtful, firstDoubtful);
}

ASSAY_KERNEL double sumFloats(const float* x, std::uint64_t n) {
    return arith::treeSum(x, n);
}
ASSAY_KERNEL double sumSquaresFloats(const float* x, std::uint64_t n) {
    return arith::treeSumSquares(x, n);
}
ASSAY_KERNEL double dotFloats(const float* a, const float* b, std::uint64_t n) {
    return arith::treeDot(a, b, n);
}

ASSAY_KERNEL void columnSumsFloats(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride,
                                   double* out) {
    arith::treeSumColumns(
        rows, cols, [a, stride](std::uint64_t r, std::uint64_t c) { return static_cast<double>(a[r * stride + c]); },
        out);
}

ASSAY_KERNEL void rowNormsFloats(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride,
                                 double* norm, double* granule) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        const float* row = a + i * stride;
        norm[i] = arith::sqrtOwn(arith::treeSumSquares(row, cols));
        std::int32_t least = kNoGranule;
        for (std::uint64_t j = 0; j < cols; ++j) {
            const std::int32_t t = granuleExponent(row[j]);
            least = t < least ? t : least;
        }
        granule[i] = granuleFromExponent(least);
    }
}

/// Granules of the `width` <= 64 columns from `first` on.
ASSAY_KERNEL ASSAY_INLINE void columnGranules(const float* a, std::uint64_t rows, std::uint64_t first,
                                              std::uint64_t width, std::uint64_t stride, double* granule) {
    constexpr std::uint64_t kTile = 64;
    std::int32_t least[kTile];
    for (std::int32_t& t : least) {
        t = kNoGranule;
    }
    for (std::uint64_t r = 0; r < rows; ++r) {
        const float* row = a + r * stride + first;
        if (width == kTile) {
            for (std::uint64_t w = 0; w < kTile; ++w) {
                const std::int32_t t = granuleExponent(row[w]);
                least[w] = t < least[w] ? t : least[w];
            }
        } else {
            for (std::uint64_t w = 0; w < width; ++w) {
                const std::int32_t t = granuleExponent(row[w]);
                least[w] = t < least[w] ? t : least[w];
            }
        }
    }
    for (std::uint64_t w = 0; w < width; ++w) {
        granule[w] = granuleFromExponent(least[w]);
    }
}

ASSAY_KERNEL void columnNormsFloats(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride,
                                    double* norm, double* granule) {
    constexpr std::uint64_t kTile = 64;
    for (std::uint64_t first = 0; first < cols; first += kTile) {
        const std::uint64_t width = cols - first < kTile ? cols - first : kTile;
        arith::treeSumColumns(
            rows, width,
            [a, stride, first](std::uint64_t r, std::uint64_t c) {
                const auto v = static_cast<double>(a[r * stride + first + c]);
                return v * v;
            },
            norm + first);
        columnGranules(a, rows, first, width, stride, granule + first);
        for (std::uint64_t w = first; w < first + width; ++w) {
            norm[w] = arith::sqrtOwn(norm[w]);
        }
    }
}

ASSAY_KERNEL void roundFloats(const double* x, float* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::roundToFloat(x[i]);
    }
}
ASSAY_KERNEL void expAll(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::expOwn(x[i]);
    }
}
ASSAY_KERNEL void logAll(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::logOwn(x[i]);
    }
}
ASSAY_KERNEL void tanhAll(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::tanhOwn(x[i]);
    }
}
ASSAY_KERNEL void sigmoidAll(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::sigmoidOwn(x[i]);
    }
}
ASSAY_KERNEL void erfAll(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::erfOwn(x[i]);
    }
}

/// The vector loop reduces directly, which is right for moderate arguments; the rare others are done again. Works on
/// copies of `kBatch` arguments, so that x and out may be the same array.
template <std::uint64_t Extra>
ASSAY_KERNEL ASSAY_INLINE void sineAll(const double* x, double* out, std::uint64_t n) {
    constexpr std::uint64_t kBatch = 64;
    double argument[kBatch];
    for (std::uint64_t first = 0; first < n; first += kBatch) {
        const std::uint64_t count = n - first < kBatch ? n - first : kBatch;
        std::memcpy(argument, x + first, count * sizeof(double));
        std::uint64_t others = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const double ax = arith::detail::magnitude(argument[i]);
            const bool isPlain = ax <= arith::detail::kDirectReductionLimit && ax > 0.0;
            others += isPlain ? 0U : 1U;
            out[first + i] = arith::detail::sineOf(arith::detail::reduceDirectly(isPlain ? argument[i] : 1.0), Extra);
        }
        for (std::uint64_t i = 0; others != 0 && i < count; ++i) {
            const double ax = arith::detail::magnitude(argument[i]);
            if (!(ax <= arith::detail::kDirectReductionLimit && ax > 0.0)) {
                out[first + i] = Extra == 0 ? arith::sinOwn(argument[i]) : arith::cosOwn(argument[i]);
                --others;
            }
        }
    }
}
ASSAY_KERNEL void sinAll(const double* x, double* out, std::uint64_t n) {
    sineAll<0>(x, out, n);
}
ASSAY_KERNEL void cosAll(const double* x, double* out, std::uint64_t n) {
    sineAll<1>(x, out, n);
}

constexpr KernelTable kTable{scanSite,         rowNormsFloats,   columnNormsFloats,
                             sumFloats,        sumSquaresFloats, dotFloats,
                             columnSumsFloats, roundFloats,      expAll,
                             logAll,           tanhAll,          sigmoidAll,
                             erfAll,           sinAll,           cosAll};

} // namespace
} // namespace assay::numerics
