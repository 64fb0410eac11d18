// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/numerics/product_bound.h"

/// Internal: what each instruction set implements. Users include site_pass.h, product_bound.h or arrays.h.
namespace assay::numerics {

struct KernelTable {
    /// out[e] = RN(y[e] - r), which is RN(y[e]) unless e is in doubt, r = factor * D; appends the ascending list of the
    /// elements whose [y +- r] holds more than one float (or whose r is not finite). Returns false if an element that
    /// is not in doubt is infinite or NaN.
    bool (*scan)(const ProductSite& site, double factor, float* out, std::vector<std::uint64_t>& doubtful);
    void (*rowNorms)(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                     double* granule);
    void (*columnNorms)(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                        double* granule);
    double (*sum)(const float* x, std::uint64_t n);
    double (*sumSquares)(const float* x, std::uint64_t n);
    double (*dot)(const float* a, const float* b, std::uint64_t n);
    void (*columnSums)(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* out);
    void (*roundToFloats)(const double* x, float* out, std::uint64_t n);
    void (*exp)(const double* x, double* out, std::uint64_t n);
    void (*log)(const double* x, double* out, std::uint64_t n);
    void (*tanh)(const double* x, double* out, std::uint64_t n);
    void (*sigmoid)(const double* x, double* out, std::uint64_t n);
    void (*erf)(const double* x, double* out, std::uint64_t n);
    void (*sin)(const double* x, double* out, std::uint64_t n);
    void (*cos)(const double* x, double* out, std::uint64_t n);
};

/// The table of the instruction set in use.
[[nodiscard]] const KernelTable& kernels();

// nullptr where the compiler or the architecture cannot do it.
[[nodiscard]] const KernelTable* scalarKernels();
[[nodiscard]] const KernelTable* vector128Kernels();
[[nodiscard]] const KernelTable* avx2Kernels();
[[nodiscard]] const KernelTable* avx512Kernels();

/// The exponent t of the largest power of two 2^(t - 150) that divides x; kNoGranule for 0, infinities and NaN.
inline constexpr std::int32_t kNoGranule = 1000;
[[nodiscard]] ASSAY_INLINE std::int32_t granuleExponent(float x) {
    const std::uint32_t magnitude = arith::bitsOf(x) & 0x7FFFFFFFU;
    const auto exponent = static_cast<std::int32_t>(magnitude >> 23);
    const std::uint32_t fraction = magnitude & 0x007FFFFFU;
    const std::uint32_t significand = exponent == 0 ? fraction : fraction | 0x00800000U;
    const std::uint32_t lowest = significand & (0U - significand);
    const std::uint32_t asFloat = arith::bitsOf(static_cast<float>(static_cast<std::int32_t>(lowest))); // exact
    const std::int32_t zeros = static_cast<std::int32_t>(asFloat >> 23) - 127;
    const std::int32_t result = (exponent == 0 ? 1 : exponent) + zeros;
    return magnitude == 0 || exponent == 255 ? kNoGranule : result;
}
[[nodiscard]] ASSAY_INLINE double granuleFromExponent(std::int32_t t) {
    return t == kNoGranule ? 1.0 : arith::doubleFromBits(static_cast<std::uint64_t>(t - 150 + 1023) << 52);
}

} // namespace assay::numerics
