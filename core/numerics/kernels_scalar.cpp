// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "core/numerics/kernel_table.h"
#include "cuda/arith/elementary.h"

/// The reference: one element after the other, written from the definitions and not from the vector code.
namespace assay::numerics {
namespace {

bool scan(const ProductSite& site, double factor, float* out, std::vector<std::uint64_t>& doubtful) {
    bool finite = true;
    for (std::uint64_t i = 0; i < site.rows; ++i) {
        for (std::uint64_t j = 0; j < site.cols; ++j) {
            const std::uint64_t element = i * site.cols + j;
            const double radius = factor * elementBound(site, i, j);
            const double y = site.y[element];
            const float low = arith::roundToFloat(y - radius);
            const float high = arith::roundToFloat(y + radius);
            out[element] = low;
            if (low != low || high != high || arith::keyOf(low) != arith::keyOf(high)) {
                doubtful.push_back(element);
            } else if (!arith::isFinite(low)) {
                finite = false;
            }
        }
    }
    return finite;
}

/// As steps 1 to 4 of cuda/arith/reduce.h read, with explicit chunk sums and no neutral element.
template <typename F>
double sumByDefinition(std::uint64_t n, F term) {
    std::vector<double> sums;
    for (std::uint64_t begin = 0; begin < n; begin += arith::kTreeChunk) {
        const std::uint64_t count = std::min(n - begin, arith::kTreeChunk);
        std::vector<double> lanes;
        for (std::uint64_t l = 0; l < std::min(count, arith::kTreeLanes); ++l) {
            double lane = term(begin + l);
            for (std::uint64_t k = l + arith::kTreeLanes; k < count; k += arith::kTreeLanes) {
                lane += term(begin + k);
            }
            lanes.push_back(lane);
        }
        for (std::size_t stride = arith::kTreeLanes / 2; stride > 0; stride /= 2) {
            for (std::size_t l = 0; l < stride && l + stride < lanes.size(); ++l) {
                lanes[l] += lanes[l + stride];
            }
        }
        sums.push_back(lanes[0]);
    }
    if (sums.empty()) {
        return 0.0;
    }
    while (sums.size() > 1) {
        std::vector<double> next;
        for (std::size_t i = 0; i < sums.size(); i += 2) {
            next.push_back(i + 1 < sums.size() ? sums[i] + sums[i + 1] : sums[i]);
        }
        sums = std::move(next);
    }
    return sums[0];
}

double square(float x) {
    return static_cast<double>(x) * static_cast<double>(x);
}

/// Largest power of two dividing x, found by halving; 0 where there is none.
double granuleOf(float x) {
    if (x == 0.0F || !arith::isFinite(x)) {
        return 0.0;
    }
    const std::uint32_t magnitude = arith::bitsOf(x) & 0x7FFFFFFFU;
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t significand = exponent == 0 ? magnitude : (magnitude & 0x007FFFFFU) | 0x00800000U;
    double power = 0x1p-149;
    for (std::uint32_t e = 1; e < exponent; ++e) {
        power *= 2.0;
    }
    for (int z = std::countr_zero(significand); z > 0; --z) {
        power *= 2.0;
    }
    return power;
}

void norms(const float* a, std::uint64_t vectors, std::uint64_t length, std::uint64_t vectorStep,
           std::uint64_t elementStep, double* norm, double* granule) {
    for (std::uint64_t v = 0; v < vectors; ++v) {
        const auto at = [&](std::uint64_t k) { return a[v * vectorStep + k * elementStep]; };
        norm[v] = arith::sqrtOwn(sumByDefinition(length, [&](std::uint64_t k) { return square(at(k)); }));
        double least = 0.0;
        for (std::uint64_t k = 0; k < length; ++k) {
            const double g = granuleOf(at(k));
            least = g != 0.0 && (least == 0.0 || g < least) ? g : least;
        }
        granule[v] = least == 0.0 ? 1.0 : least;
    }
}

void rowNormsOf(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                double* granule) {
    norms(a, rows, cols, stride, 1, norm, granule);
}
void columnNormsOf(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* norm,
                   double* granule) {
    norms(a, cols, rows, 1, stride, norm, granule);
}
double sum(const float* x, std::uint64_t n) {
    return sumByDefinition(n, [x](std::uint64_t i) { return static_cast<double>(x[i]); });
}
double sumSquares(const float* x, std::uint64_t n) {
    return sumByDefinition(n, [x](std::uint64_t i) { return square(x[i]); });
}
double dot(const float* a, const float* b, std::uint64_t n) {
    return sumByDefinition(n, [&](std::uint64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}
void columnSums(const float* a, std::uint64_t rows, std::uint64_t cols, std::uint64_t stride, double* out) {
    for (std::uint64_t c = 0; c < cols; ++c) {
        out[c] = sumByDefinition(rows, [&](std::uint64_t r) { return static_cast<double>(a[r * stride + c]); });
    }
}
void roundAll(const double* x, float* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = arith::roundToFloat(x[i]);
    }
}
template <double (*Function)(double)>
void apply(const double* x, double* out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = Function(x[i]);
    }
}

constexpr KernelTable kScalar{scan,
                              rowNormsOf,
                              columnNormsOf,
                              sum,
                              sumSquares,
                              dot,
                              columnSums,
                              roundAll,
                              apply<arith::expOwn>,
                              apply<arith::logOwn>,
                              apply<arith::tanhOwn>,
                              apply<arith::sigmoidOwn>,
                              apply<arith::erfOwn>,
                              apply<arith::sinOwn>,
                              apply<arith::cosOwn>};

} // namespace

const KernelTable* scalarKernels() {
    return &kScalar;
}

} // namespace assay::numerics
