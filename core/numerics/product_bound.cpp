// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/product_bound.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/numerics/kernel_table.h"
#include "cuda/arith/elementary.h"

namespace assay::numerics {

double boundCoefficient(BoundKind kind, std::uint64_t K, std::uint64_t block) {
    if (K == 0) {
        return 0.0;
    }
    if (kind == BoundKind::empirical) {
        return arith::kUnitRoundoff * (8.0 + 2.0 * arith::sqrtOwn(static_cast<double>(K)));
    }
    ASSAY_ASSERT(block >= 1 && (K - 1) / block < kMaxBlocks);
    return 2.0 * arith::kUnitRoundoff * static_cast<double>(std::min(K, block));
}

void rowNorms(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
              double* granule) {
    kernels().rowNorms(a, rows, cols, stride, norm, granule);
}

void columnNorms(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                 double* granule) {
    kernels().columnNorms(a, rows, cols, stride, norm, granule);
}

} // namespace assay::numerics
