// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/product_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/arith/rounding.h"
#include "cuda/arith/two_sum.h"
#include "tests/numerics/random_source.h"

namespace assay::numerics {
namespace {

using test::RandomSource;
using Vector = std::vector<float>;

TEST(BoundCoefficient, Values) {
    EXPECT_EQ(boundCoefficient(BoundKind::proven, 1000, 256), 0x1p-44);
    EXPECT_EQ(boundCoefficient(BoundKind::proven, 100, 256), 200 * 0x1p-53);
    EXPECT_EQ(boundCoefficient(BoundKind::proven, 0, 256), 0.0);
    EXPECT_EQ(boundCoefficient(BoundKind::empirical, 0, 256), 0.0);
    EXPECT_EQ(boundCoefficient(BoundKind::empirical, 1024, 0), 72 * 0x1p-53);
}

TEST(Norms, ValuesAndGranules) {
    const Vector a{3.0F,      -4.0F,       0.0F, 99.0F, //
                   0x1p-149F, 0x1.8p-140F, 0.0F, 99.0F, 0.0F, 0.0F, 0.0F, 99.0F, 6.0F, INFINITY, -0.75F, 99.0F};
    double norm[4];
    double granule[4];
    rowNorms(a.data(), 4, 3, 4, norm, granule);
    EXPECT_EQ(norm[0], 5.0);
    EXPECT_EQ(granule[0], 1.0);
    EXPECT_EQ(granule[1], 0x1p-149);
    EXPECT_EQ(norm[1], std::sqrt(0x1p-298 + 0x1.2p-279));
    EXPECT_EQ(norm[2], 0.0);
    EXPECT_EQ(granule[2], 1.0);
    EXPECT_TRUE(std::isinf(norm[3]));
    EXPECT_EQ(granule[3], 0.25);
    columnNorms(a.data(), 4, 3, 4, norm, granule);
    EXPECT_EQ(norm[0], std::sqrt(45.0));
    EXPECT_EQ(granule[0], 0x1p-149);
    EXPECT_TRUE(std::isinf(norm[1]));
    EXPECT_EQ(norm[2], 0.75);
    EXPECT_EQ(granule[2], 0.25);
}

/// Sum of the terms begin .. end-1 in some order, all in FP64.
using BlockOrder = std::function<double(const Vector&, const Vector&, std::size_t, std::size_t)>;

double term(const Vector& a, const Vector& b, std::size_t k) {
    return static_cast<double>(a[k]) * static_cast<double>(b[k]);
}
double sequential(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t k = begin; k < end; ++k) {
        sum += term(a, b, k);
    }
    return sum;
}
double reversed(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t k = end; k-- > begin;) {
        sum += term(a, b, k);
    }
    return sum;
}
double pairwise(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    if (end - begin == 1) {
        return term(a, b, begin);
    }
    const std::size_t middle = begin + (end - begin) / 2;
    return pairwise(a, b, begin, middle) + pairwise(a, b, middle, end);
}
double fused(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t k = begin; k < end; ++k) {
        sum = std::fma(static_cast<double>(a[k]), static_cast<double>(b[k]), sum);
    }
    return sum;
}
double eightLanes(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    double lane[8] = {};
    for (std::size_t k = begin; k < end; ++k) {
        lane[(k - begin) % 8] += term(a, b, k);
    }
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}
double smallestFirst(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    std::vector<double> terms;
    for (std::size_t k = begin; k < end; ++k) {
        terms.push_back(term(a, b, k));
    }
    std::ranges::sort(terms, [](double x, double y) { return std::fabs(x) < std::fabs(y); });
    return std::accumulate(terms.begin(), terms.end(), 0.0);
}

const std::vector<std::pair<const char*, BlockOrder>>& orders() {
    static const std::vector<std::pair<const char*, BlockOrder>> list{
        {"sequential", sequential}, {"reversed", reversed},      {"pairwise", pairwise},
        {"fused", fused},           {"eight lanes", eightLanes}, {"smallest first", smallestFirst}};
    return list;
}

double product(const Vector& a, const Vector& b, std::size_t block, const BlockOrder& order) {
    arith::BlockSum sum;
    for (std::size_t begin = 0; begin < a.size(); begin += block) {
        sum.add(order(a, b, begin, std::min(a.size(), begin + block)));
    }
    return sum.value();
}

/// The exact sum as high + low, by accumulating into many non-overlapping parts (Shewchuk).
arith::DoublePair exactProduct(const Vector& a, const Vector& b) {
    std::vector<double> parts;
    for (std::size_t k = 0; k < a.size(); ++k) {
        double x = term(a, b, k);
        std::vector<double> next;
        for (const double p : parts) {
            const arith::DoublePair s = arith::twoSum(x, p);
            if (s.low != 0.0) {
                next.push_back(s.low);
            }
            x = s.high;
        }
        next.push_back(x);
        parts = next;
    }
    double high = 0.0;
    double low = 0.0;
    for (std::size_t i = parts.size(); i-- > 0;) {
        const arith::DoublePair s = arith::twoSum(high, parts[i]);
        high = s.high;
        low += s.low;
    }
    return {high, low};
}

float positive(RandomSource& random) {
    return static_cast<float>(random.uniform(1.0, 2.0));
}

/// The operands that break bounds which only random data has confirmed.
const std::vector<std::pair<const char*, std::function<void(RandomSource&, Vector&, Vector&)>>>& operands() {
    using Fill = std::function<void(RandomSource&, Vector&, Vector&)>;
    static const std::vector<std::pair<const char*, Fill>> list{
        {"constant",
         [](RandomSource& r, Vector& a, Vector& b) {
             std::ranges::fill(a, positive(r));
             std::ranges::fill(b, positive(r));
         }},
        {"two-valued",
         [](RandomSource& r, Vector& a, Vector& b) {
             const float values[] = {positive(r), -0.3F * positive(r)};
             for (float& v : a) {
                 v = values[r.below(2)];
             }
             for (float& v : b) {
                 v = values[r.below(8) == 0 ? 1 : 0];
             }
         }},
        {"sorted",
         [](RandomSource& r, Vector& a, Vector& b) {
             for (std::size_t k = 0; k < a.size(); ++k) {
                 a[k] = positive(r);
                 b[k] = positive(r);
             }
             std::ranges::sort(a);
             std::ranges::sort(b);
         }},
        {"alternating",
         [](RandomSource& r, Vector& a, Vector& b) {
             const float base = positive(r);
             for (std::size_t k = 0; k < a.size(); ++k) {
                 a[k] = k % 2 == 0 ? base : -base;
                 b[k] = positive(r);
             }
         }},
        {"heavy-tailed",
         [](RandomSource& r, Vector& a, Vector& b) {
             for (std::size_t k = 0; k < a.size(); ++k) {
                 a[k] = static_cast<float>(r.normal() / (std::fabs(r.normal()) + 1e-4));
                 b[k] = static_cast<float>(r.normal() / (std::fabs(r.normal()) + 1e-4));
             }
         }},
        {"normal",
         [](RandomSource& r, Vector& a, Vector& b) {
             for (std::size_t k = 0; k < a.size(); ++k) {
                 a[k] = static_cast<float>(r.normal());
                 b[k] = static_cast<float>(r.normal());
             }
         }},
        {"cancelling",
         [](RandomSource& r, Vector& a, Vector& b) {
             for (std::size_t k = 0; k < a.size(); ++k) {
                 a[k] = k % 2 == 1 ? -a[k - 1] : positive(r);
                 b[k] = k % 2 == 1 ? b[k - 1] : positive(r);
             }
             std::swap(b[0], b[b.size() / 2]);
         }},
        {"small after large", // sequential addition loses every small term
         [](RandomSource& r, Vector& a, Vector& b) {
             a[0] = 1.0F;
             b[0] = 1.0F;
             for (std::size_t k = 1; k < a.size(); ++k) {
                 a[k] = 0x1p-26F * static_cast<float>(r.uniform(0.9999, 1.0));
                 b[k] = 0x1p-27F;
             }
         }},
        {"always rounding one way", // each term is chosen so that sequential addition loses as much as possible
         [](RandomSource& r, Vector& a, Vector& b) {
             double sum = 0.0;
             for (std::size_t k = 0; k < a.size(); ++k) {
                 double worst = -1.0;
                 for (int attempt = 0; attempt < 32; ++attempt) {
                     const float x = positive(r);
                     const float y = positive(r);
                     const double loss = arith::twoSum(sum, static_cast<double>(x) * static_cast<double>(y)).low;
                     if (loss > worst) {
                         worst = loss;
                         a[k] = x;
                         b[k] = y;
                     }
                 }
                 sum += term(a, b, k);
             }
         }},
    };
    return list;
}

TEST(ProductBound, NeverExceededByAnyOrder) {
    RandomSource random(21);
    double worstOfAll = 0.0;
    for (const auto& [operandName, fill] : operands()) {
        double worstPair = 0.0;
        double worstExact = 0.0;
        std::string where;
        for (const std::size_t K : {2U, 3U, 17U, 64U, 255U, 256U, 257U, 511U, 1000U, 1024U, 4096U}) {
            for (const std::size_t block : {1U, 16U, 128U, 256U, 8192U}) {
                Vector a(K);
                Vector b(K);
                fill(random, a, b);
                double norms[2];
                double granules[2];
                rowNorms(a.data(), 1, K, K, &norms[0], &granules[0]);
                rowNorms(b.data(), 1, K, K, &norms[1], &granules[1]);
                const double coefficient = boundCoefficient(BoundKind::proven, K, block);
                const arith::DoublePair exact = exactProduct(a, b);
                std::vector<double> y;
                for (const auto& [name, order] : orders()) {
                    y.push_back(product(a, b, block, order));
                }
                for (std::size_t i = 0; i < y.size(); ++i) {
                    const double D = elementBound(y[i], norms[0], norms[1], granules[0], granules[1], coefficient);
                    const double distance = std::fabs((y[i] - exact.high) - exact.low);
                    ASSERT_LE(distance, 0.5 * D)
                        << operandName << ' ' << orders()[i].first << " K " << K << " block " << block;
                    if (D > 0.0) {
                        worstExact = std::max(worstExact, distance / (0.5 * D));
                    }
                    for (const double other : y) {
                        ASSERT_LE(std::fabs(y[i] - other), D) << operandName << ' ' << orders()[i].first;
                        if (D > 0.0 && std::fabs(y[i] - other) / D > worstPair) {
                            worstPair = std::fabs(y[i] - other) / D;
                            where = std::string(orders()[i].first) + ", K " + std::to_string(K) + ", block " +
                                    std::to_string(block);
                        }
                    }
                }
            }
        }
        std::printf("%-24s worst |y - y'| / D %.4f (%s), worst |y - exact| / H %.4f\n", operandName, worstPair,
                    where.c_str(), worstExact);
        worstOfAll = std::max(worstOfAll, worstPair);
    }
    EXPECT_GT(worstOfAll, 0.4) << "the operands no longer challenge the bound";
}

// Two orders whose errors point in opposite directions come close to the bound with two blocks' worth of terms.
TEST(ProductBound, EmpiricalBoundIsExceededByConstantOperands) {
    const std::size_t K = 65536;
    double worst = 0.0;
    for (const float value : {0.1F, 0.7F, 1.1F, 1.3F, 1.7F}) {
        const Vector a(K, value);
        const Vector b(K, 1.9F);
        double norms[2];
        double granules[2];
        rowNorms(a.data(), 1, K, K, &norms[0], &granules[0]);
        rowNorms(b.data(), 1, K, K, &norms[1], &granules[1]);
        const double difference = std::fabs(sequential(a, b, 0, K) - pairwise(a, b, 0, K));
        const double empirical = elementBound(sequential(a, b, 0, K), norms[0], norms[1], granules[0], granules[1],
                                              boundCoefficient(BoundKind::empirical, K, 0));
        const double proven = elementBound(sequential(a, b, 0, K), norms[0], norms[1], granules[0], granules[1],
                                           boundCoefficient(BoundKind::proven, K, K));
        worst = std::max(worst, difference / empirical);
        EXPECT_LE(difference, proven);
    }
    std::printf("constant operands, K 65536: |sequential - pairwise| is up to %.1f times the empirical bound\n", worst);
    EXPECT_GT(worst, 1.0) << "this is why the empirical bound is called weaker evidence";
}

TEST(ExactSumRule, EveryOrderGivesTheExactSum) {
    RandomSource random(22);
    std::uint64_t exactCases = 0;
    std::uint64_t otherCases = 0;
    std::uint64_t inexactOthers = 0;
    for (int round = 0; round < 4000; ++round) {
        const std::size_t K = 1 + random.below(600);
        // Integers times powers of two, so that some cases lie just inside and some just outside the rule.
        const auto aBits = 10 + static_cast<int>(random.below(15));
        const auto bBits = 18 + static_cast<int>(random.below(7));
        const int aScale = static_cast<int>(random.below(60)) - 30;
        Vector a(K);
        Vector b(K);
        const bool sameSign = round % 2 == 0;
        for (std::size_t k = 0; k < K; ++k) {
            const double x = static_cast<double>((1ULL << (aBits - 1)) + random.below(1ULL << (aBits - 1)));
            const double y = static_cast<double>((1ULL << (bBits - 1)) + random.below(1ULL << (bBits - 1)));
            a[k] = static_cast<float>(std::ldexp(x, aScale) * (sameSign ? 1.0 : random.sign()));
            b[k] = static_cast<float>(y);
        }
        double norms[2];
        double granules[2];
        rowNorms(a.data(), 1, K, K, &norms[0], &granules[0]);
        rowNorms(b.data(), 1, K, K, &norms[1], &granules[1]);
        const double coefficient = boundCoefficient(BoundKind::proven, K, 256);
        const double first = product(a, b, 256, sequential);
        const double D = elementBound(first, norms[0], norms[1], granules[0], granules[1], coefficient);
        const arith::DoublePair exact = exactProduct(a, b);
        bool allExact = exact.low == 0.0;
        for (const auto& [name, order] : orders()) {
            const double y = product(a, b, 256, order);
            allExact = allExact && y == exact.high;
            if (D == 0.0) {
                ASSERT_EQ(y, exact.high) << name;
                ASSERT_EQ(exact.low, 0.0);
            }
        }
        exactCases += D == 0.0 ? 1U : 0U;
        otherCases += D == 0.0 ? 0U : 1U;
        inexactOthers += D > 0.0 && !allExact ? 1U : 0U;
    }
    EXPECT_GT(exactCases, 500U);
    EXPECT_GT(otherCases, 50U);
    EXPECT_GT(inexactOthers, 5U);
}

TEST(ExactSumRule, StrictAtTheLimit) {
    const double c = 0x1p-44;
    EXPECT_EQ(elementBound(1.0, kExactGranules * (1.0 - 0x1p-53), 1.0, 1.0, 1.0, c), 0.0);
    EXPECT_GT(elementBound(1.0, kExactGranules, 1.0, 1.0, 1.0, c), 0.0);
    EXPECT_EQ(elementBound(0.0, 0.0, 1e30, 1.0, 0x1p-149, c), 0.0); // a row of zeros
    EXPECT_TRUE(std::isnan(elementBound(0.0, 0.0, INFINITY, 1.0, 1.0, c)));
    EXPECT_TRUE(std::isnan(elementBound(0.0, std::nan(""), 1.0, 1.0, 1.0, c)));
    EXPECT_TRUE(std::isinf(elementBound(0.0, INFINITY, 1.0, 1.0, 1.0, c)));
}

// One product of two floats has at most 48 bits: always exact.
TEST(ExactSumRule, SingleTerms) {
    RandomSource random(23);
    for (int i = 0; i < 10000; ++i) {
        const auto a = static_cast<float>(random.sign() * random.logUniform(-148, 127));
        const auto b = static_cast<float>(random.sign() * random.logUniform(-148, 127));
        double norms[2];
        double granules[2];
        rowNorms(&a, 1, 1, 1, &norms[0], &granules[0]);
        rowNorms(&b, 1, 1, 1, &norms[1], &granules[1]);
        ASSERT_EQ(elementBound(static_cast<double>(a) * static_cast<double>(b), norms[0], norms[1], granules[0],
                               granules[1], boundCoefficient(BoundKind::proven, 1, 256)),
                  0.0);
    }
}

} // namespace
} // namespace assay::numerics
