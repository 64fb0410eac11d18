// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/arith/interval.h"
#include "cuda/arith/philox.h"
#include "cuda/arith/reduce.h"
#include "cuda/arith/rounding.h"
#include "cuda/arith/two_sum.h"
#include "tests/numerics/random_source.h"

namespace assay::arith {
namespace {

using numerics::test::RandomSource;
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Rounding, TiesGoToEvenAndZeroIsPositive) {
    EXPECT_EQ(roundToFloat(1.0 + 0x1p-24), 1.0F);
    EXPECT_EQ(roundToFloat(1.0 + 0x1.000002p-24), 1.0F + 0x1p-23F);
    EXPECT_EQ(roundToFloat(1.0 + 0x1.8p-23), 1.0F + 0x1p-22F);
    EXPECT_EQ(bitsOf(roundToFloat(-0.0)), 0U);
    EXPECT_EQ(bitsOf(roundToFloat(-0x1p-150)), 0U); // the tie between 0 and the smallest subnormal
    EXPECT_EQ(bitsOf(roundToFloat(-0x1.8p-150)), 0x80000001U);
    EXPECT_EQ(bitsOf(roundToFloat(-1e-320)), 0U);
    EXPECT_EQ(roundToFloat(0x1.fffffefffffffp127), std::numeric_limits<float>::max());
    EXPECT_EQ(roundToFloat(0x1.ffffffp127), kInf);
    EXPECT_TRUE(std::isnan(roundToFloat(std::nan(""))));
}

TEST(Rounding, KeysOrderTheFloats) {
    EXPECT_EQ(keyOf(0.0F), 0);
    EXPECT_EQ(keyOf(-0.0F), 0);
    EXPECT_EQ(keyOf(0x1p-149F), 1);
    EXPECT_EQ(keyOf(-0x1p-149F), -1);
    EXPECT_EQ(keyOf(kInf), 0x7F800000);
    EXPECT_EQ(bitsOf(fromKey(0)), 0U);
    RandomSource random(1);
    for (int i = 0; i < 200000; ++i) {
        const float x = floatFromBits(static_cast<std::uint32_t>(random.word()));
        if (std::isnan(x) || (x == 0.0F)) {
            continue;
        }
        ASSERT_EQ(bitsOf(fromKey(keyOf(x))), bitsOf(x));
        if (std::isfinite(x)) {
            ASSERT_EQ(keyOf(std::nextafter(x, kInf)), keyOf(x) + 1);
            ASSERT_EQ(keyOf(std::nextafter(x, -kInf)), keyOf(x) - 1);
        }
    }
}

TEST(Rounding, Representable) {
    EXPECT_TRUE(isRepresentable(0.0));
    EXPECT_FALSE(isRepresentable(-0.0));
    EXPECT_TRUE(isRepresentable(-0x1p-149));
    EXPECT_FALSE(isRepresentable(0x1p-150));
    EXPECT_FALSE(isRepresentable(0.1));
    EXPECT_TRUE(isRepresentable(static_cast<double>(kInf)));
    EXPECT_FALSE(isRepresentable(std::nan("")));
}

TEST(Interval, CountsFloatsAndRoundsThroughDouble) {
    EXPECT_EQ(floatsWithin(1.0, 0.0).count(), 1U);
    EXPECT_EQ(floatsWithin(1.0, 0x1p-23).count(), 4U); // below 1 the spacing is half as wide
    EXPECT_EQ(floatsWithin(0.0, 0x1p-149), (KeyInterval{-1, 1}));
    EXPECT_EQ(floatsWithin(0.0, 0x1p-151), (KeyInterval{0, 0}));
    EXPECT_EQ(floatsWithin(0x1.fffffep127, 0x1p104).hi, 0x7F800000);
    // y + r lies below the tie by less than FP64 can tell: fl64 lands on the tie, which goes to even.
    const double tie = 1.0 + 0x3p-24;
    const KeyInterval interval = floatsWithin(tie - 0x1p-40, 0x1p-40 - 0x1p-95);
    EXPECT_EQ(interval.hi, keyOf(1.0F + 0x1p-22F));
    EXPECT_EQ((KeyInterval{3, 2}).count(), 0U);
    EXPECT_EQ((KeyInterval{-0x7F800000, 0x7F800000}).count(), 0xFF000001ULL);
}

TEST(TwoSum, IsExact) {
    RandomSource random(2);
    for (int i = 0; i < 100000; ++i) {
        const double a = random.sign() * random.logUniform(-60, 60);
        const double b = random.sign() * random.logUniform(-60, 60);
        const DoublePair s = twoSum(a, b);
        ASSERT_EQ(s.high, a + b);
        const long double rest = (static_cast<long double>(std::fabs(a) > std::fabs(b) ? a : b) - s.high) +
                                 (std::fabs(a) > std::fabs(b) ? b : a);
        if (std::fabs(a / b) < 512 && std::fabs(b / a) < 512) { // long double holds the rest exactly
            ASSERT_EQ(static_cast<long double>(s.low), rest);
        }
        const DoublePair p = twoProduct(a, b);
        ASSERT_EQ(p.high, a * b);
        ASSERT_EQ(p.low, std::fma(a, b, -p.high));
    }
    EXPECT_EQ(bitsOf(BlockSum{}.sum), bitsOf(-0.0));
    BlockSum one;
    one.add(0.1);
    EXPECT_EQ(one.value(), 0.1);
    BlockSum cancel; // plain summation loses the small block
    for (const double block : {1e17, 1.0, -1e17}) {
        cancel.add(block);
    }
    EXPECT_EQ(cancel.value(), 1.0);
}

// Known-answer vectors of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
    constexpr std::uint32_t kOnes = 0xffffffffU;
    EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              (PhiloxBlock{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
    EXPECT_EQ(philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
              (PhiloxBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(Philox, WordsComeFromDistinctCounters) {
    EXPECT_EQ(randomWord(7, 1, 2, 9), randomBlock(7, 1, 2, 2)[1]);
    EXPECT_EQ(randomBlock(0x0000000200000001ULL, 0x300000004ULL, 5, 0x600000007ULL),
              philox({7, 6U | (3U << 16), 4, 5}, {1, 2}));
    EXPECT_NE(randomBlock(7, 1, 2, 0), randomBlock(7, 2, 1, 0));
    EXPECT_EQ(uniform01(0), 0x1p-33);
    EXPECT_EQ(uniform01(0xFFFFFFFFU), 1.0 - 0x1p-33);
    EXPECT_TRUE(keepByDropout(0, 0.0));
    EXPECT_FALSE(keepByDropout(0xFFFFFFFFU, 1.0));
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < 100000; ++i) {
        kept += keepByDropout(randomWord(1, 2, 3, i), 0.25) ? 1U : 0U;
    }
    EXPECT_NEAR(static_cast<double>(kept), 75000.0, 700.0); // 5 standard deviations
}

TEST(Permutation, IsABijectionForEverySmallSize) {
    for (std::uint64_t n = 1; n <= 1000; ++n) {
        std::vector<bool> seen(n);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t p = permuteIndex(42, n % 7, n, i);
            ASSERT_LT(p, n);
            ASSERT_FALSE(seen[p]) << n;
            seen[p] = true;
        }
    }
}

TEST(Permutation, LargeSizes) {
    for (const std::uint64_t n : {60000ULL, 65536ULL, 65537ULL}) {
        std::vector<bool> seen(n);
        std::uint64_t fixed = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t p = permuteIndex(1, 2, n, i);
            ASSERT_LT(p, n);
            ASSERT_FALSE(seen[p]);
            seen[p] = true;
            fixed += p == i ? 1U : 0U;
        }
        EXPECT_LT(fixed, 10U); // one is expected
    }
    for (const std::uint64_t n : {~0ULL, (1ULL << 63) + 1, 1ULL << 40}) {
        std::vector<std::uint64_t> images;
        for (std::uint64_t i = 0; i < 2000; ++i) {
            images.push_back(permuteIndex(3, 4, n, i < 1000 ? i : n - 1 - i));
            ASSERT_LT(images.back(), n);
        }
        std::ranges::sort(images);
        EXPECT_EQ(std::ranges::adjacent_find(images), images.end());
    }
    EXPECT_NE(permuteIndex(1, 2, 60000, 5), permuteIndex(1, 3, 60000, 5));
    EXPECT_NE(permuteIndex(1, 2, 60000, 5), permuteIndex(2, 2, 60000, 5));
}

/// The definition in reduce.h, followed literally.
double sumByDefinition(const std::vector<double>& terms) {
    std::vector<double> level;
    for (std::size_t begin = 0; begin < terms.size(); begin += 1024) {
        const std::size_t count = std::min<std::size_t>(1024, terms.size() - begin);
        std::vector<double> lanes;
        for (std::size_t l = 0; l < std::min<std::size_t>(16, count); ++l) {
            double lane = terms[begin + l];
            for (std::size_t k = l + 16; k < count; k += 16) {
                lane = lane + terms[begin + k];
            }
            lanes.push_back(lane);
        }
        for (const std::size_t stride : {8U, 4U, 2U, 1U}) {
            for (std::size_t l = 0; l < stride; ++l) {
                if (l + stride < lanes.size()) {
                    lanes[l] = lanes[l] + lanes[l + stride];
                }
            }
        }
        level.push_back(lanes[0]);
    }
    while (level.size() > 1) {
        std::vector<double> up;
        for (std::size_t i = 0; i < level.size(); i += 2) {
            up.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
        }
        level = up;
    }
    return level.empty() ? 0.0 : level[0];
}

std::vector<std::uint64_t> interestingSizes() {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t n = 0; n <= 70; ++n) {
        sizes.push_back(n);
    }
    for (const std::uint64_t n :
         {1008U, 1023U, 1024U, 1025U, 1040U, 2047U, 2048U, 2049U, 3072U, 5000U, 7168U, 7169U, 33333U}) {
        sizes.push_back(n);
    }
    return sizes;
}

TEST(TreeSum, EqualsTheDefinition) {
    RandomSource random(3);
    for (const std::uint64_t n : interestingSizes()) {
        std::vector<double> terms(n);
        for (double& t : terms) {
            t = random.sign() * random.logUniform(-30, 30);
        }
        const double sum = treeSum(n, [&](std::uint64_t i) { return terms[i]; });
        ASSERT_EQ(bitsOf(sum), bitsOf(sumByDefinition(terms))) << n;
        ASSERT_EQ(bitsOf(treeSum(terms.data(), n)), bitsOf(sum));
    }
    // The sign of zero: a sum of negative zeros is -0, only the empty sum is +0.
    EXPECT_EQ(bitsOf(treeSum(0, [](std::uint64_t) { return 1.0; })), 0U);
    EXPECT_EQ(bitsOf(treeSum(5, [](std::uint64_t) { return -0.0; })), bitsOf(-0.0));
    EXPECT_EQ(bitsOf(treeSum(2000, [](std::uint64_t) { return -0.0; })), bitsOf(-0.0));
    EXPECT_TRUE(std::isnan(treeSum(100, [](std::uint64_t i) { return i == 77 ? std::nan("") : 1.0; })));
}

TEST(TreeSum, OrderMatters) { // the tests above could not fail otherwise
    std::vector<double> terms(3000);
    RandomSource random(4);
    for (double& t : terms) {
        t = random.normal();
    }
    double sequential = 0.0;
    for (const double t : terms) {
        sequential += t;
    }
    EXPECT_NE(sequential, sumByDefinition(terms));
}

TEST(TreeSum, ColumnsGiveTheSameBits) {
    RandomSource random(5);
    for (const std::uint64_t rows : {0U, 1U, 15U, 16U, 17U, 1023U, 1024U, 1025U, 3500U}) {
        for (const std::uint64_t cols : {1U, 2U, 15U, 16U, 17U, 40U}) {
            std::vector<double> a(rows * cols);
            for (double& v : a) {
                v = random.sign() * random.logUniform(-20, 20);
            }
            std::vector<double> sums(cols, -1.0);
            treeSumColumns(
                rows, cols, [&](std::uint64_t r, std::uint64_t c) { return a[r * cols + c]; }, sums.data());
            for (std::uint64_t c = 0; c < cols; ++c) {
                const double one = treeSum(rows, [&](std::uint64_t r) { return a[r * cols + c]; });
                ASSERT_EQ(bitsOf(sums[c]), bitsOf(one)) << rows << " x " << cols;
            }
        }
    }
}

TEST(ArgMax, LowestIndexWinsAndNanStays) {
    const std::vector<float> ties{1.0F, 3.0F, 3.0F, 2.0F};
    EXPECT_EQ(argMax(4, [&](std::uint64_t i) { return ties[i]; }), 1U);
    const std::vector<float> zeros{-0.0F, 0.0F};
    EXPECT_EQ(argMax(2, [&](std::uint64_t i) { return zeros[i]; }), 0U);
    const std::vector<float> nans{5.0F, std::nanf(""), 9.0F, std::nanf("")};
    EXPECT_EQ(argMax(4, [&](std::uint64_t i) { return nans[i]; }), 1U);
    EXPECT_TRUE(std::isnan(maxOf(4, [&](std::uint64_t i) { return nans[i]; })));
    const std::vector<float> infinite{-kInf, -kInf};
    EXPECT_EQ(argMax(2, [&](std::uint64_t i) { return infinite[i]; }), 0U);
    EXPECT_EQ(maxOf(4, [&](std::uint64_t i) { return ties[i]; }), 3.0F);
}

} // namespace
} // namespace assay::arith
