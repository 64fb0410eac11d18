// SPDX-License-Identifier: Apache-2.0
// Every instruction set against the scalar reference, bit for bit.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/numerics/arrays.h"
#include "core/numerics/kernel_table.h"
#include "core/numerics/site_pass.h"
#include "tests/numerics/random_source.h"

namespace assay::numerics {
namespace {

using arith::bitsOf;
using test::RandomSource;
constexpr double kInf = std::numeric_limits<double>::infinity();

class VectorKernels : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!isaAvailable(GetParam())) {
            GTEST_SKIP() << toString(GetParam()) << " is not available on this CPU";
        }
        const Isa before = currentIsa();
        ASSERT_TRUE(forceIsa(GetParam()));
        m_table = &kernels();
        ASSERT_TRUE(forceIsa(before));
    }
    const KernelTable* m_table = nullptr;
    const KernelTable& m_reference = *scalarKernels();
};

struct SiteData {
    std::vector<double> y;
    std::vector<double> rowNorm;
    std::vector<double> colNorm;
    std::vector<double> rowGranule;
    std::vector<double> colGranule;
    ProductSite site;
};

double specialValue(RandomSource& random) {
    const double specials[] = {0.0,        -0.0,          0x1p-1074,      -0x1p-149,      0x1p-150,
                               0x1.8p-150, -0x1p-126,     0x1.fffffep127, 0x1.ffffffp127, -0x1.ffffffp127,
                               0x1p200,    1.0 + 0x1p-24, 1.0 + 0x3p-24,  -1.0 - 0x1p-24, 0x1.000001p-140,
                               kInf,       -kInf,         std::nan("")};
    return specials[random.below(std::size(specials))];
}

SiteData makeSite(RandomSource& random, std::uint64_t rows, std::uint64_t cols, bool withSpecials) {
    SiteData data;
    data.y.resize(rows * cols);
    for (double& y : data.y) {
        if (withSpecials && random.below(4) == 0) {
            y = specialValue(random);
        } else {
            const auto base = static_cast<double>(static_cast<float>(random.sign() * random.logUniform(-8, 8)));
            const double half = std::fabs(base) * 0x1p-24;
            y = random.below(2) == 0 ? base + half * random.uniform(0.99, 1.01) : base * random.uniform(0.5, 2);
        }
    }
    const auto fill = [&](std::vector<double>& norm, std::vector<double>& granule, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            norm.push_back(withSpecials && random.below(20) == 0 ? std::fabs(specialValue(random))
                                                                 : random.logUniform(-4, 8));
            granule.push_back(std::ldexp(1.0, random.below(3) == 0 ? -20 : -40));
        }
    };
    fill(data.rowNorm, data.rowGranule, rows);
    fill(data.colNorm, data.colGranule, cols);
    data.site = {
        data.y.data(),          rows,    cols, data.rowNorm.data(), data.colNorm.data(), data.rowGranule.data(),
        data.colGranule.data(), 0x1p-45, 7};
    return data;
}

TEST_P(VectorKernels, ScanEqualsTheReference) {
    RandomSource random(11);
    std::uint64_t doubtfulTotal = 0;
    std::uint64_t sureTotal = 0;
    std::uint64_t exactTotal = 0;
    for (int round = 0; round < 40; ++round) {
        for (const std::uint64_t cols : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 12U, 15U, 16U, 17U, 31U, 33U, 100U}) {
            const auto rows = static_cast<std::uint64_t>(round % 5);
            SiteData data = makeSite(random, rows, cols, round % 2 == 1);
            for (const double factor : {arith::kTrainerLogs, arith::kAuditorTakes, arith::kAuditorPermits}) {
                std::vector<float> expected(rows * cols + 1, 42.0F);
                std::vector<float> got(rows * cols + 1, 42.0F); // the last one must stay
                std::vector<std::uint64_t> expectedDoubt;
                std::vector<std::uint64_t> gotDoubt;
                const bool expectedFinite = m_reference.scan(data.site, factor, expected.data(), expectedDoubt);
                ASSERT_EQ(m_table->scan(data.site, factor, got.data(), gotDoubt), expectedFinite);
                ASSERT_EQ(gotDoubt, expectedDoubt) << rows << " x " << cols;
                for (std::size_t i = 0; i <= rows * cols; ++i) {
                    if (!std::isnan(expected[i]) || !std::isnan(got[i])) {
                        ASSERT_EQ(bitsOf(got[i]), bitsOf(expected[i])) << rows << " x " << cols << " at " << i;
                    }
                }
                doubtfulTotal += gotDoubt.size();
                sureTotal += rows * cols - gotDoubt.size();
            }
            for (std::uint64_t i = 0; i < rows * cols; ++i) {
                exactTotal += elementBound(data.site, i / cols, i % cols) == 0.0 ? 1U : 0U;
            }
        }
    }
    EXPECT_GT(doubtfulTotal, 1000U);
    EXPECT_GT(sureTotal, 1000U);
    EXPECT_GT(exactTotal, 300U);
}

std::vector<float> someFloats(RandomSource& random, std::uint64_t n, bool withSpecials) {
    std::vector<float> x(n);
    for (float& v : x) {
        v = static_cast<float>(random.sign() * random.logUniform(-10, 10));
        if (random.below(5) == 0) {
            v = 0.0F;
        }
        if (withSpecials && random.below(50) == 0) {
            const float specials[] = {0x1p-149F, 0x1.8p-140F, 3.4e38F, INFINITY, -INFINITY, std::nanf("")};
            v = specials[random.below(std::size(specials))];
        }
    }
    return x;
}

void expectSameDouble(double got, double expected) {
    if (!std::isnan(got) || !std::isnan(expected)) {
        ASSERT_EQ(bitsOf(got), bitsOf(expected));
    }
}

TEST_P(VectorKernels, SumsEqualTheReference) {
    RandomSource random(12);
    for (const std::uint64_t n : {0U, 1U, 2U, 7U, 15U, 16U, 17U, 63U, 64U, 1023U, 1024U, 1025U, 2048U, 5000U, 70001U}) {
        for (const bool special : {false, true}) {
            const std::vector<float> a = someFloats(random, n, special);
            const std::vector<float> b = someFloats(random, n, special);
            expectSameDouble(m_table->sum(a.data(), n), m_reference.sum(a.data(), n));
            expectSameDouble(m_table->sumSquares(a.data(), n), m_reference.sumSquares(a.data(), n));
            expectSameDouble(m_table->dot(a.data(), b.data(), n), m_reference.dot(a.data(), b.data(), n));
        }
    }
}

TEST_P(VectorKernels, NormsAndColumnsEqualTheReference) {
    RandomSource random(13);
    for (const std::uint64_t rows : {0U, 1U, 3U, 16U, 17U, 1024U, 1100U}) {
        for (const std::uint64_t cols : {0U, 1U, 5U, 15U, 16U, 17U, 64U, 65U, 130U}) {
            for (const bool special : {false, true}) {
                const std::uint64_t stride = cols + 3;
                const std::vector<float> a = someFloats(random, rows * stride, special);
                const auto compare = [&](auto function, std::uint64_t count) {
                    std::vector<double> norm(count, -1.0);
                    std::vector<double> granule(count, -1.0);
                    std::vector<double> normExpected(count, -1.0);
                    std::vector<double> granuleExpected(count, -1.0);
                    (m_table->*function)(a.data(), rows, cols, stride, norm.data(), granule.data());
                    (m_reference.*function)(a.data(), rows, cols, stride, normExpected.data(), granuleExpected.data());
                    for (std::uint64_t i = 0; i < count; ++i) {
                        expectSameDouble(norm[i], normExpected[i]);
                        ASSERT_EQ(granule[i], granuleExpected[i]);
                    }
                };
                compare(&KernelTable::rowNorms, rows);
                compare(&KernelTable::columnNorms, cols);
                std::vector<double> sums(cols);
                std::vector<double> sumsExpected(cols);
                m_table->columnSums(a.data(), rows, cols, stride, sums.data());
                m_reference.columnSums(a.data(), rows, cols, stride, sumsExpected.data());
                for (std::uint64_t c = 0; c < cols; ++c) {
                    expectSameDouble(sums[c], sumsExpected[c]);
                }
            }
        }
    }
}

TEST_P(VectorKernels, FunctionsEqualTheReference) {
    using Function = void (*KernelTable::*)(const double*, double*, std::uint64_t);
    const Function functions[] = {&KernelTable::exp, &KernelTable::log, &KernelTable::tanh, &KernelTable::sigmoid,
                                  &KernelTable::erf, &KernelTable::sin, &KernelTable::cos};
    RandomSource random(14);
    for (std::uint64_t n = 0; n < 140; ++n) {
        std::vector<double> x(n);
        for (double& v : x) {
            v = random.below(6) == 0 ? specialValue(random) : random.sign() * random.logUniform(-20, 25);
        }
        for (const Function function : functions) {
            std::vector<double> got(n + 1, 42.0);
            std::vector<double> expected(n + 1, 42.0);
            (m_table->*function)(x.data(), got.data(), n);
            (m_reference.*function)(x.data(), expected.data(), n);
            std::vector<double> inPlace = x;
            (m_table->*function)(inPlace.data(), inPlace.data(), n);
            for (std::uint64_t i = 0; i <= n; ++i) {
                ASSERT_EQ(bitsOf(got[i]), bitsOf(expected[i])) << (i < n ? x[i] : 0.0);
                if (i < n) {
                    ASSERT_EQ(bitsOf(inPlace[i]), bitsOf(expected[i]));
                }
            }
        }
        std::vector<float> rounded(n);
        m_table->roundToFloats(x.data(), rounded.data(), n);
        for (std::uint64_t i = 0; i < n; ++i) {
            if (!std::isnan(x[i])) {
                ASSERT_EQ(bitsOf(rounded[i]), bitsOf(arith::roundToFloat(x[i])));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Isa, VectorKernels, testing::Values(Isa::scalar, Isa::vector128, Isa::avx2, Isa::avx512),
                         [](const auto& instance) { return std::string(toString(instance.param)); });

TEST(Isa, ForcingAndNames) {
    const Isa before = currentIsa();
    EXPECT_TRUE(isaAvailable(Isa::scalar));
    ASSERT_TRUE(forceIsa(Isa::scalar));
    EXPECT_STREQ(activeIsa(), "scalar");
    const float one[] = {1.0F, 2.0F};
    EXPECT_EQ(sumOf(one, 2), 3.0);
    if (!isaAvailable(Isa::avx512)) {
        EXPECT_FALSE(forceIsa(Isa::avx512));
        EXPECT_EQ(currentIsa(), Isa::scalar);
    }
    ASSERT_TRUE(forceIsa(before));
    EXPECT_EQ(sumOf(one, 2), 3.0);
}

} // namespace
} // namespace assay::numerics
