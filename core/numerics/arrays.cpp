// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/arrays.h"

#include "core/numerics/kernel_table.h"

namespace assay::numerics {

double sumOf(const float* x, std::uint64_t n) {
    return kernels().sum(x, n);
}
double sumOfSquares(const float* x, std::uint64_t n) {
    return kernels().sumSquares(x, n);
}
double dotOf(const float* a, const float* b, std::uint64_t n) {
    return kernels().dot(a, b, n);
}
void columnSums(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* out) {
    kernels().columnSums(a, rows, cols, stride, out);
}
void roundArray(const double* x, float* out, std::uint64_t n) {
    kernels().roundToFloats(x, out, n);
}
void expArray(const double* x, double* out, std::uint64_t n) {
    kernels().exp(x, out, n);
}
void logArray(const double* x, double* out, std::uint64_t n) {
    kernels().log(x, out, n);
}
void tanhArray(const double* x, double* out, std::uint64_t n) {
    kernels().tanh(x, out, n);
}
void sigmoidArray(const double* x, double* out, std::uint64_t n) {
    kernels().sigmoid(x, out, n);
}
void erfArray(const double* x, double* out, std::uint64_t n) {
    kernels().erf(x, out, n);
}
void sinArray(const double* x, double* out, std::uint64_t n) {
    kernels().sin(x, out, n);
}
void cosArray(const double* x, double* out, std::uint64_t n) {
    kernels().cos(x, out, n);
}

} // namespace assay::numerics
