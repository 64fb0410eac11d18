// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The inner loops around the library's products. Every element is computed on its own with IEEE operations, so all
/// instruction sets give the same bits.
namespace assay::tensor::detail {

struct ProductLoops {
    /// out[i] = x[i], exact.
    void (*widen)(const float* x, double* out, std::uint64_t n);
    /// out[n-1-i] = x[i].
    void (*widenReversed)(const float* x, double* out, std::uint64_t n);
    /// (sum, correction) of arith::BlockSum, one for each of n elements, take one more block.
    void (*addBlock)(double* sum, double* correction, const double* block, std::uint64_t n);
    /// out[i] = sum[i] + correction[i]; out may be sum.
    void (*finishBlocks)(const double* sum, const double* correction, double* out, std::uint64_t n);
    /// x[i] += y[i].
    void (*add)(double* x, const double* y, std::uint64_t n);
};

/// For the instruction set that core/numerics uses.
[[nodiscard]] const ProductLoops& productLoops();

/// Tables of the files compiled for one instruction set each.
extern const ProductLoops kProductLoopsBase;
#if defined(__x86_64__)
extern const ProductLoops kProductLoopsAvx2;
extern const ProductLoops kProductLoopsAvx512;
#endif

} // namespace assay::tensor::detail
