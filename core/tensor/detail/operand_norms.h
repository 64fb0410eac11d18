// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/product.h"
#include "core/tensor/thread_pool.h"

namespace assay::tensor::detail {

/// Norms and granules of one operand of a product, one of each per row of `a` or column of `b`.
struct Norms {
    std::vector<double> norm;
    std::vector<double> granule;

    void resize(std::uint64_t n) {
        norm.resize(n);
        granule.resize(n);
    }
};

/// Of the `lines` vectors of length k of a dense matrix: its rows ([lines, k]) or, if `columns`, its columns ([k,
/// lines]). Written to norm and granule [lines]. The tree over k of cuda/arith/reduce.h; threads split the lines.
void matrixNorms(const float* x, std::uint64_t lines, std::uint64_t k, bool columns, double* norm, double* granule,
                 ThreadPool& pool);

/// The same bits for the columns of a [k, n] operand that exists only row by row, in 1024 rows of memory.
void streamedNorms(const RowSource& source, std::uint64_t item, std::uint64_t k, std::uint64_t n, double* norm,
                   double* granule, ThreadPool& pool);

} // namespace assay::tensor::detail
