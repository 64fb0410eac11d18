// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/product_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/assert.h"
#include "cuda/arith/reduce.h"

namespace assay::numerics {

namespace {

constexpr std::int32_t kNoGranule = std::numeric_limits<std::int32_t>::max();

/// Exponent e such that the lowest set bit of the value is 2^(e - 149); kNoGranule for zero. Branch-free so that loops vectorise.
inline std::int32_t granuleExponent(float value) {
    const auto bits = std::bit_cast<std::int32_t>(value) & 0x7fffffff;
    const std::int32_t exponent = bits >> 23;
    const std::int32_t mantissa = (bits & 0x7fffff) | (exponent != 0 ? 0x800000 : 0);
    const auto lowest = static_cast<float>(mantissa & -mantissa);
    const std::int32_t trailing = (std::bit_cast<std::int32_t>(lowest) >> 23) - 127;
    const std::int32_t result = std::max(exponent, 1) - 1 + trailing;
    return mantissa == 0 ? kNoGranule : result;
}

double granuleFromExponent(std::int32_t exponent) {
    return exponent == kNoGranule ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, exponent - 149);
}

} // namespace

double productCoefficient(BoundKind kind, std::uint64_t length, std::uint64_t block) {
    ASSAY_ASSERT(length >= 1 && block >= 1);
    if (kind == BoundKind::proven) {
        return 2.0 * static_cast<double>(std::min(length, block)) * kUnitRoundoff * kNormSlack;
    }
    // sqrt is correctly rounded everywhere, so this is the same number on every machine.
    return kUnitRoundoff * (8.0 + 2.0 * std::sqrt(static_cast<double>(length))) * kNormSlack;
}

void rowNorms(const float* a, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride, double* norm, double* granule) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        const float* row = a + i * stride;
        norm[i] = std::sqrt(arith::treeSum(columns, [row](std::uint64_t k) {
            const double value = row[k];
            return value * value;
        }));
        std::int32_t lowest = kNoGranule;
        for (std::uint64_t k = 0; k < columns; ++k) {
            lowest = std::min(lowest, granuleExponent(row[k]));
        }
        granule[i] = granuleFromExponent(lowest);
    }
}

void columnNorms(const float* a, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride, double* norm, double* granule) {
    constexpr std::uint64_t kBlock = arith::kTreeColumnBlock;
    for (std::uint64_t start = 0; start < columns; start += kBlock) {
        const std::uint64_t count = std::min(kBlock, columns - start);
        const float* base = a + start;
        double sums[kBlock];
        const auto square = [base, stride](std::uint64_t r, std::uint64_t c) {
            const double value = base[r * stride + c];
            return value * value;
        };
        if (count == kBlock) {
            arith::treeSumColumns(rows, kBlock, square, sums); // a constant count lets the compiler vectorise
        } else {
            arith::treeSumColumns(rows, count, square, sums);
        }
        std::int32_t lowest[kBlock];
        std::fill_n(lowest, kBlock, kNoGranule);
        for (std::uint64_t r = 0; r < rows; ++r) {
            for (std::uint64_t c = 0; c < count; ++c) {
                lowest[c] = std::min(lowest[c], granuleExponent(base[r * stride + c]));
            }
        }
        for (std::uint64_t c = 0; c < count; ++c) {
            norm[start + c] = std::sqrt(sums[c]);
            granule[start + c] = granuleFromExponent(lowest[c]);
        }
    }
}

} // namespace assay::numerics
