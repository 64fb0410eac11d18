// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Array forms of cuda/arith with run-time dispatch (isa.h): the same bits as the header's functions, faster. Pointers
/// need no alignment; `x` and `out` may be the same array but must not overlap otherwise. Thread-safe.
namespace assay::numerics {

/// The specified tree of cuda/arith/reduce.h over contiguous values.
[[nodiscard]] double sumOf(const float* x, std::uint64_t n);
[[nodiscard]] double sumOfSquares(const float* x, std::uint64_t n);
[[nodiscard]] double dotOf(const float* a, const float* b, std::uint64_t n);
/// out[c] = the tree over rows 0 .. rows-1 of column c of a[rows, cols] with row stride `stride`.
void columnSums(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* out);

/// RN of each value.
void roundArray(const double* x, float* out, std::uint64_t n);

void expArray(const double* x, double* out, std::uint64_t n);
void logArray(const double* x, double* out, std::uint64_t n);
void tanhArray(const double* x, double* out, std::uint64_t n);
void sigmoidArray(const double* x, double* out, std::uint64_t n);
void erfArray(const double* x, double* out, std::uint64_t n);
void sinArray(const double* x, double* out, std::uint64_t n);
void cosArray(const double* x, double* out, std::uint64_t n);

} // namespace assay::numerics
