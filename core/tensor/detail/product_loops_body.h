// SPDX-License-Identifier: Apache-2.0
// No include guard: included once by each file that is compiled for one instruction set. Defines functions of internal
// linkage only and calls nothing, so that the linker cannot mix the versions.

#include "core/tensor/detail/product_loops.h"

namespace {

void widen(const float* __restrict x, double* __restrict out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = static_cast<double>(x[i]);
    }
}

void widenReversed(const float* __restrict x, double* __restrict out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[n - 1 - i] = static_cast<double>(x[i]);
    }
}

void addBlock(double* __restrict sum, double* __restrict correction, const double* __restrict block, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        const double a = sum[i];
        const double b = block[i];
        const double s = a + b;
        const double partOfB = s - a;
        const double partOfA = s - partOfB;
        sum[i] = s;
        correction[i] += (a - partOfA) + (b - partOfB);
    }
}

void finishBlocks(const double* sum, const double* correction, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = sum[i] + correction[i];
    }
}

void add(double* __restrict x, const double* __restrict y, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        x[i] += y[i];
    }
}

} // namespace
