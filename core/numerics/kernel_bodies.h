// SPDX-License-Identifier: Apache-2.0
// No include guard: included once by each kernels_*.cpp, after it has defined
//   ASSAY_KERNEL       the target attribute of every function here (empty for the baseline), and
//   ASSAY_KERNEL_WIDTH how many doubles the site pass handles at once: 4 or 8.
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

constexpr std::uint64_t kWidth = ASSAY_KERNEL_WIDTH;
using Doubles [[gnu::vector_size(8 * ASSAY_KERNEL_WIDTH)]] = double;
using Longs [[gnu::vector_size(8 * ASSAY_KERNEL_WIDTH)]] = std::int64_t;
using Floats [[gnu::vector_size(4 * ASSAY_KERNEL_WIDTH)]] = float;
using Ints [[gnu::vector_size(4 * ASSAY_KERNEL_WIDTH)]] = std::int32_t;

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

/// What one row contributes to the bound.
struct RowParts {
    double norm;
    double exactLimit; ///< kExactGranules * granule
    double coefficient;
    double factor;
};

/// kWidth elements: stores RN(y - r), returns the mask of the doubtful ones, ORs non-finite sure values into `bad`.
ASSAY_KERNEL ASSAY_INLINE unsigned scanGroup(const double* y, const double* colNorm, const double* colGranule,
                                             const RowParts& row, float* out, Ints& bad) {
    Doubles value;
    Doubles norms;
    Doubles limit;
    std::memcpy(&value, y, sizeof value);
    std::memcpy(&norms, colNorm, sizeof norms);
    std::memcpy(&limit, colGranule, sizeof limit);
    norms = row.norm * norms;
    limit = row.exactLimit * limit;
    const Doubles magnitude = (Doubles)((Longs)value & 0x7FFFFFFFFFFFFFFFLL);
    const Doubles bound = row.coefficient * norms + 2.0 * arith::kUnitRoundoff * magnitude;
    const Longs exact = norms < limit;
    const Doubles radius = row.factor * (Doubles)((Longs)bound & ~exact);
    const Floats low = __builtin_convertvector(value - radius, Floats) + 0.0F;
    const Floats high = __builtin_convertvector(value + radius, Floats) + 0.0F;
    const Ints differ = low != high;
    bad |= (((Ints)low & 0x7F800000) == 0x7F800000) & ~differ;
    std::memcpy(out, &low, sizeof low);
    return laneMask(differ);
}

ASSAY_KERNEL ASSAY_INLINE void appendMask(unsigned mask, std::uint64_t first, std::vector<std::uint64_t>& doubtful) {
    for (; mask != 0; mask &= mask - 1U) {
        doubtful.push_back(first + static_cast<std::uint64_t>(__builtin_ctz(mask)));
    }
}

ASSAY_KERNEL bool scanSite(const ProductSite& site, double factor, float* out, std::vector<std::uint64_t>& doubtful) {
    Ints bad = {};
    const std::uint64_t cols = site.cols;
    const std::uint64_t tail = cols % kWidth;
    // Fewer columns than lanes: padded copies. Otherwise the last group overlaps the one before, and its first lanes are
    // masked out.
    double paddedNorm[kWidth] = {};
    double paddedGranule[kWidth] = {};
    if (cols < kWidth && cols > 0) {
        std::memcpy(paddedNorm, site.colNorm, cols * sizeof(double));
        std::memcpy(paddedGranule, site.colGranule, cols * sizeof(double));
    }
    for (std::uint64_t i = 0; i < site.rows; ++i) {
        const RowParts row{site.rowNorm[i], kExactGranules * site.rowGranule[i], site.coefficient, factor};
        const std::uint64_t base = i * cols;
        std::uint64_t j = 0;
        for (; j + kWidth <= cols; j += kWidth) {
            const unsigned mask =
                scanGroup(site.y + base + j, site.colNorm + j, site.colGranule + j, row, out + base + j, bad);
            if (mask != 0) [[unlikely]] {
                appendMask(mask, base + j, doubtful);
            }
        }
        if (tail == 0) {
            continue;
        }
        if (cols > kWidth) {
            j = cols - kWidth;
            unsigned mask =
                scanGroup(site.y + base + j, site.colNorm + j, site.colGranule + j, row, out + base + j, bad);
            mask &= ~0U << (kWidth - tail);
            appendMask(mask, base + j, doubtful);
        } else {
            double paddedY[kWidth] = {};
            float paddedOut[kWidth];
            std::memcpy(paddedY, site.y + base, tail * sizeof(double));
            unsigned mask = scanGroup(paddedY, paddedNorm, paddedGranule, row, paddedOut, bad);
            mask &= (1U << tail) - 1U;
            std::memcpy(out + base, paddedOut, tail * sizeof(float));
            appendMask(mask, base, doubtful);
        }
    }
    return laneMask(bad) == 0;
}

ASSAY_KERNEL double sumFloats(const float* x, std::uint64_t n) { return arith::treeSum(x, n); }
ASSAY_KERNEL double sumSquaresFloats(const float* x, std::uint64_t n) { return arith::treeSumSquares(x, n); }
ASSAY_KERNEL double dotFloats(const float* a, const float* b, std::uint64_t n) { return arith::treeDot(a, b, n); }

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

ASSAY_KERNEL void columnNormsFloats(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride,
                                    double* norm, double* granule) {
    arith::treeSumColumns(
        rows, cols,
        [a, stride](std::uint64_t r, std::uint64_t c) {
            const auto v = static_cast<double>(a[r * stride + c]);
            return v * v;
        },
        norm);
    constexpr std::uint64_t kTile = 64;
    for (std::uint64_t first = 0; first < cols; first += kTile) {
        const std::uint64_t width = cols - first < kTile ? cols - first : kTile;
        std::int32_t least[kTile];
        for (std::int32_t& t : least) {
            t = kNoGranule;
        }
        for (std::uint64_t r = 0; r < rows; ++r) {
            const float* row = a + r * stride + first;
            for (std::uint64_t w = 0; w < width; ++w) {
                const std::int32_t t = granuleExponent(row[w]);
                least[w] = t < least[w] ? t : least[w];
            }
        }
        for (std::uint64_t w = 0; w < width; ++w) {
            granule[first + w] = granuleFromExponent(least[w]);
            norm[first + w] = arith::sqrtOwn(norm[first + w]);
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
ASSAY_KERNEL void sinAll(const double* x, double* out, std::uint64_t n) { sineAll<0>(x, out, n); }
ASSAY_KERNEL void cosAll(const double* x, double* out, std::uint64_t n) { sineAll<1>(x, out, n); }

constexpr KernelTable kTable{scanSite,    rowNormsFloats, columnNormsFloats, sumFloats, sumSquaresFloats,
                             dotFloats,   columnSumsFloats, roundFloats,     expAll,    logAll,
                             tanhAll,     sigmoidAll,     erfAll,            sinAll,    cosAll};

} // namespace
} // namespace assay::numerics
