// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/detail/site_pass_kernels.h"

#include <limits>

#if defined(__x86_64__)
// GCC 12 takes the deliberately undefined registers inside its own AVX-512 header for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

#include "core/numerics/product_bound.h"

namespace assay::numerics::detail {

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

void passRowTail(const ProductSite& panel, double radius, std::uint64_t i, std::uint64_t from, float* out,
                 std::vector<std::uint64_t>& doubtful) {
    for (std::uint64_t j = from; j < panel.cols; ++j) {
        const std::uint64_t at = i * panel.cols + j;
        if (passElement(panel.y[at], panelBound(panel, i, j), radius, out + at)) {
            doubtful.push_back(at);
        }
    }
}

} // namespace

bool passElement(double y, double bound, double radius, float* out) {
    *out = arith::roundToFloat(y);
    const double r = radius * bound;
    const float lo = arith::roundToFloat(y - r);
    const float hi = arith::roundToFloat(y + r);
    const float largest = hi < 0.0f ? -hi : hi;
    return !(lo == hi && largest <= kLargest); // NaN anywhere makes this true
}

void passScalar(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful) {
    for (std::uint64_t i = 0; i < panel.rows; ++i) {
        passRowTail(panel, radius, i, 0, out, doubtful);
    }
}

#if defined(__x86_64__)

// No FMA in the target lists: a contracted multiply-add would give another bound than the scalar reference.
__attribute__((target("avx2"))) void passAvx2(const ProductSite& panel, double radius, float* out,
                                              std::vector<std::uint64_t>& doubtful) {
    const __m256d exactSlack = _mm256_set1_pd(kExactSlack);
    const __m256d coefficient = _mm256_set1_pd(panel.coefficient);
    const __m256d twoU = _mm256_set1_pd(2.0 * kUnitRoundoff);
    const __m256d signBit = _mm256_set1_pd(-0.0);
    const __m256d radii = _mm256_set1_pd(radius);
    const __m128 zero = _mm_setzero_ps();
    const __m128 floatSign = _mm_set1_ps(-0.0f);
    const __m128 largest = _mm_set1_ps(kLargest);
    for (std::uint64_t i = 0; i < panel.rows; ++i) {
        const __m256d rowNorm = _mm256_set1_pd(panel.rowNorm[i]);
        const __m256d rowGranule = _mm256_set1_pd(panel.rowGranule[i] * 0x1p53);
        const double* y = panel.y + i * panel.cols;
        float* to = out + i * panel.cols;
        std::uint64_t j = 0;
        for (; j + 4 <= panel.cols; j += 4) {
            const __m256d value = _mm256_loadu_pd(y + j);
            const __m256d norms = _mm256_mul_pd(rowNorm, _mm256_loadu_pd(panel.colNorm + j));
            const __m256d limit = _mm256_mul_pd(rowGranule, _mm256_loadu_pd(panel.colGranule + j));
            const __m256d exact = _mm256_cmp_pd(_mm256_mul_pd(norms, exactSlack), limit, _CMP_LT_OQ);
            const __m256d bound = _mm256_andnot_pd(
                exact, _mm256_add_pd(_mm256_mul_pd(coefficient, norms), _mm256_mul_pd(twoU, _mm256_andnot_pd(signBit, value))));
            const __m256d r = _mm256_mul_pd(radii, bound);
            const __m128 rounded = _mm_add_ps(_mm256_cvtpd_ps(value), zero);
            const __m128 lo = _mm256_cvtpd_ps(_mm256_sub_pd(value, r));
            const __m128 hi = _mm256_cvtpd_ps(_mm256_add_pd(value, r));
            _mm_storeu_ps(to + j, rounded);
            const __m128 sure = _mm_and_ps(_mm_cmpeq_ps(lo, hi), _mm_cmple_ps(_mm_andnot_ps(floatSign, hi), largest));
            int doubt = ~_mm_movemask_ps(sure) & 15;
            while (doubt != 0) [[unlikely]] {
                doubtful.push_back(i * panel.cols + j + static_cast<std::uint64_t>(__builtin_ctz(static_cast<unsigned>(doubt))));
                doubt &= doubt - 1;
            }
        }
        passRowTail(panel, radius, i, j, out, doubtful);
    }
}

__attribute__((target("avx512f,avx512dq,avx512vl"))) void passAvx512(const ProductSite& panel, double radius, float* out,
                                                                      std::vector<std::uint64_t>& doubtful) {
    const __m512d exactSlack = _mm512_set1_pd(kExactSlack);
    const __m512d coefficient = _mm512_set1_pd(panel.coefficient);
    const __m512d twoU = _mm512_set1_pd(2.0 * kUnitRoundoff);
    const __m512d radii = _mm512_set1_pd(radius);
    const __m256 zero = _mm256_setzero_ps();
    const __m256 floatSign = _mm256_set1_ps(-0.0f);
    const __m256 largest = _mm256_set1_ps(kLargest);
    for (std::uint64_t i = 0; i < panel.rows; ++i) {
        const __m512d rowNorm = _mm512_set1_pd(panel.rowNorm[i]);
        const __m512d rowGranule = _mm512_set1_pd(panel.rowGranule[i] * 0x1p53);
        const double* y = panel.y + i * panel.cols;
        float* to = out + i * panel.cols;
        std::uint64_t j = 0;
        for (; j + 8 <= panel.cols; j += 8) {
            const __m512d value = _mm512_loadu_pd(y + j);
            const __m512d norms = _mm512_mul_pd(rowNorm, _mm512_loadu_pd(panel.colNorm + j));
            const __m512d limit = _mm512_mul_pd(rowGranule, _mm512_loadu_pd(panel.colGranule + j));
            const __mmask8 exact = _mm512_cmp_pd_mask(_mm512_mul_pd(norms, exactSlack), limit, _CMP_LT_OQ);
            const __m512d full = _mm512_add_pd(_mm512_mul_pd(coefficient, norms), _mm512_mul_pd(twoU, _mm512_abs_pd(value)));
            const __m512d bound = _mm512_maskz_mov_pd(static_cast<__mmask8>(~exact), full);
            const __m512d r = _mm512_mul_pd(radii, bound);
            const __m256 rounded = _mm256_add_ps(_mm512_cvtpd_ps(value), zero);
            const __m256 lo = _mm512_cvtpd_ps(_mm512_sub_pd(value, r));
            const __m256 hi = _mm512_cvtpd_ps(_mm512_add_pd(value, r));
            _mm256_storeu_ps(to + j, rounded);
            const __m256 sure = _mm256_and_ps(_mm256_cmp_ps(lo, hi, _CMP_EQ_OQ),
                                              _mm256_cmp_ps(_mm256_andnot_ps(floatSign, hi), largest, _CMP_LE_OQ));
            int doubt = ~_mm256_movemask_ps(sure) & 255;
            while (doubt != 0) [[unlikely]] {
                doubtful.push_back(i * panel.cols + j + static_cast<std::uint64_t>(__builtin_ctz(static_cast<unsigned>(doubt))));
                doubt &= doubt - 1;
            }
        }
        passRowTail(panel, radius, i, j, out, doubtful);
    }
}

#else

void passAvx2(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful) {
    passScalar(panel, radius, out, doubtful);
}
void passAvx512(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful) {
    passScalar(panel, radius, out, doubtful);
}

#endif

} // namespace assay::numerics::detail

#if defined(__x86_64__)
#pragma GCC diagnostic pop
#endif
