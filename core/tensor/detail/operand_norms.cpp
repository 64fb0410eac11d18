// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/operand_norms.h"

#include <algorithm>
#include <cmath>

#include "core/numerics/product_bound.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

constexpr std::uint64_t kWidth = 16;               // columns per tree stack
constexpr std::uint64_t kValuesPerTask = 1U << 15; // about 10 us

std::uint64_t grainFor(std::uint64_t perLine) {
    return std::max<std::uint64_t>(1, kValuesPerTask / std::max<std::uint64_t>(1, perLine));
}

} // namespace

void matrixNorms(const float* x, std::uint64_t lines, std::uint64_t k, bool columns, double* norm, double* granule,
                 ThreadPool& pool) {
    if (!columns) {
        pool.parallelFor(lines, grainFor(k), [&](std::uint64_t begin, std::uint64_t end) {
            numerics::rowNorms(x + begin * k, end - begin, k, k, norm + begin, granule + begin);
        });
        return;
    }
    // Ranges of whole groups of 16 columns keep the inner loops full.
    const std::uint64_t groups = (lines + kWidth - 1) / kWidth;
    pool.parallelFor(groups, grainFor(k * kWidth) * 4, [&](std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t first = begin * kWidth;
        const std::uint64_t last = std::min(lines, end * kWidth);
        numerics::columnNorms(x + first, k, last - first, lines, norm + first, granule + first);
    });
}

void streamedNorms(const RowSource& source, std::uint64_t item, std::uint64_t k, std::uint64_t n, double* norm,
                   double* granule, ThreadPool& pool) {
    const std::uint64_t groups = (n + kWidth - 1) / kWidth;
    std::vector<float> rows(std::min(k, arith::kTreeChunk) * n);
    if (k <= arith::kTreeChunk) {
        source.rows(item, 0, k, rows.data());
        matrixNorms(rows.data(), n, k, true, norm, granule, pool);
        return;
    }
    std::vector<arith::detail::TreeStack<kWidth>> stacks(groups);
    std::fill_n(granule, n, 0.0); // 0: nothing but zeros so far
    constexpr std::uint64_t kSlices = 16;
    for (std::uint64_t k0 = 0; k0 < k; k0 += arith::kTreeChunk) {
        const std::uint64_t count = std::min(arith::kTreeChunk, k - k0);
        pool.parallelFor(count, (count + kSlices - 1) / kSlices, [&](std::uint64_t begin, std::uint64_t end) {
            source.rows(item, k0 + begin, k0 + end, rows.data() + begin * n);
        });
        pool.parallelFor(groups, 1, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t g = begin; g < end; ++g) {
                const std::uint64_t first = g * kWidth;
                const std::uint64_t width = std::min(kWidth, n - first);
                double sums[kWidth] = {};
                arith::treeSumColumns(
                    count, width,
                    [&](std::uint64_t r, std::uint64_t c) {
                        const auto v = static_cast<double>(rows[r * n + first + c]);
                        return v * v;
                    },
                    sums);
                stacks[g].push(sums);
                double chunkNorm[kWidth];
                double chunkGranule[kWidth];
                numerics::columnNorms(rows.data() + first, count, width, n, chunkNorm, chunkGranule);
                for (std::uint64_t c = 0; c < width; ++c) {
                    double& own = granule[first + c];
                    if (chunkNorm[c] != 0.0) {
                        own = own == 0.0 ? chunkGranule[c] : std::min(own, chunkGranule[c]);
                    }
                }
            }
        });
    }
    for (std::uint64_t g = 0; g < groups; ++g) {
        double sums[kWidth];
        stacks[g].finish(sums);
        for (std::uint64_t c = g * kWidth; c < std::min(n, (g + 1) * kWidth); ++c) {
            norm[c] = std::sqrt(sums[c - g * kWidth]);
            granule[c] = granule[c] == 0.0 ? 1.0 : granule[c];
        }
    }
}

} // namespace assay::tensor::detail
