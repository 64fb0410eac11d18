// SPDX-License-Identifier: Apache-2.0
// Products against exact sums, norms against their definition, every way in which operands are cut, joined and
// streamed.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/tensor/product.h"
#include "tests/tensor/op_harness.h"

namespace assay::test {
namespace {

using numerics::BoundKind;
using tensor::KernelProfile;
using tensor::NoiseKey;
using tensor::ProductRunner;
using tensor::ProductSpec;
using tensor::ThreadPool;

/// Keeps the FP64 results and their bounds.
class Capture final : public tensor::SiteEmitter {
public:
    base::Result<void> product(std::uint32_t site, const numerics::ProductSite& panel, float* out) override {
        EXPECT_EQ(panel.indexBase, y.size());
        sites.push_back(site);
        for (std::uint64_t i = 0; i < panel.rows; ++i) {
            for (std::uint64_t j = 0; j < panel.cols; ++j) {
                y.push_back(panel.y[i * panel.cols + j]);
                bound.push_back(numerics::elementBound(panel, i, j));
                rowNorm.push_back(panel.rowNorm[i]);
                colNorm.push_back(panel.colNorm[j]);
                rowGranule.push_back(panel.rowGranule[i]);
                colGranule.push_back(panel.colGranule[j]);
                out[i * panel.cols + j] = static_cast<float>(panel.y[i * panel.cols + j]);
            }
        }
        return {};
    }
    base::Result<void> completed(std::uint32_t site, std::span<float> values) override {
        EXPECT_EQ(values.size(), y.size());
        completedSite = site;
        return {};
    }
    std::vector<double> y, bound, rowNorm, colNorm, rowGranule, colGranule;
    std::vector<std::uint32_t> sites;
    std::uint32_t completedSite = ~0U;
};

std::vector<float> floats(std::uint64_t n, std::uint32_t stream) {
    const Values v = randomValues({static_cast<std::int64_t>(n)}, stream);
    return {v.v.begin(), v.v.end()};
}

KernelProfile profileOf(const char* text) {
    auto profile = KernelProfile::parse(text);
    EXPECT_TRUE(profile.has_value());
    EXPECT_TRUE(tensor::activate(*profile).has_value());
    return *profile;
}

Capture runWith(const char* profile, BoundKind bound, std::uint64_t block, const ProductSpec& spec, int threads = 1,
                NoiseKey key = {}) {
    ThreadPool pool(threads);
    ProductRunner runner(profileOf(profile), bound, block, 5, pool);
    Capture capture;
    std::vector<float> out(spec.batch * spec.m * spec.n);
    EXPECT_TRUE(runner.run(spec, 3, capture, key, out).has_value());
    EXPECT_EQ(capture.completedSite, 3U);
    return capture;
}

struct Sizes {
    std::uint64_t batch, m, n, k;
};

/// Operands of a product in memory.
struct Operands {
    std::vector<float> a, b;
    ProductSpec spec;
    Operands(Sizes s, bool aShared, bool aTransposed, bool bTransposed)
        : a(floats((aShared ? 1 : s.batch) * s.m * s.k, 50)), b(floats(s.batch * s.n * s.k, 51)) {
        spec = {s.batch,     s.m,      s.n,       s.k,         a.data(), aShared ? 0 : s.m * s.k,
                aTransposed, b.data(), s.n * s.k, bTransposed, nullptr};
    }
    [[nodiscard]] float aAt(std::uint64_t item, std::uint64_t i, std::uint64_t t) const {
        return a[item * spec.aStride + (spec.aTransposed ? t * spec.m + i : i * spec.k + t)];
    }
    [[nodiscard]] float bAt(std::uint64_t item, std::uint64_t t, std::uint64_t j) const {
        return b[item * spec.bStride + (spec.bTransposed ? j * spec.k + t : t * spec.n + j)];
    }
};

/// The exact sum, rounded to FP64 at the end: products are exact, and long double adds 11 bits to a sum of few
/// thousand.
long double exactElement(const Operands& o, std::uint64_t item, std::uint64_t i, std::uint64_t j) {
    long double sum = 0.0L;
    for (std::uint64_t t = 0; t < o.spec.k; ++t) {
        sum += static_cast<long double>(o.aAt(item, i, t)) * static_cast<long double>(o.bAt(item, t, j));
    }
    return sum;
}

void expectWithinBound(const Operands& o, const Capture& c) {
    const ProductSpec& s = o.spec;
    ASSERT_EQ(c.y.size(), s.batch * s.m * s.n);
    for (std::uint64_t e = 0; e < c.y.size(); ++e) {
        const long double exact = exactElement(o, e / (s.m * s.n), e / s.n % s.m, e % s.n);
        // The exact sum is within half of D of every machine's result; long double's own error is 2^-10 of that.
        const long double slack = 0.51L * static_cast<long double>(c.bound[e]) + 0x1p-53L * std::fabs(exact);
        ASSERT_LE(std::fabs(static_cast<long double>(c.y[e]) - exact), slack) << "element " << e;
    }
}

void expectNorms(const Operands& o, const Capture& c) {
    const ProductSpec& s = o.spec;
    for (std::uint64_t item = 0; item < s.batch; ++item) {
        std::vector<float> row(s.k);
        for (std::uint64_t e = item * s.m * s.n; e < (item + 1) * s.m * s.n; ++e) {
            double norm = 0.0;
            double granule = 0.0;
            for (std::uint64_t t = 0; t < s.k; ++t) {
                row[t] = o.aAt(item, e / s.n % s.m, t);
            }
            numerics::rowNorms(row.data(), 1, s.k, s.k, &norm, &granule);
            ASSERT_EQ(norm, c.rowNorm[e]);
            ASSERT_EQ(granule, c.rowGranule[e]);
            for (std::uint64_t t = 0; t < s.k; ++t) {
                row[t] = o.bAt(item, t, e % s.n);
            }
            numerics::rowNorms(row.data(), 1, s.k, s.k, &norm, &granule);
            ASSERT_EQ(norm, c.colNorm[e]);
            ASSERT_EQ(granule, c.colGranule[e]);
        }
    }
}

TEST(Product, EverySizeAndTransposeWithinTheBound) {
    const Sizes sizes[] = {{1, 1, 1, 1},  {1, 1, 7, 5},    {1, 5, 3, 15}, {1, 4, 6, 16},
                           {1, 3, 5, 17}, {1, 9, 33, 100}, {3, 2, 5, 40}, {7, 6, 11, 33}};
    for (const Sizes& s : sizes) {
        for (int flags = 0; flags < 8; ++flags) {
            const Operands o(s, (flags & 4) != 0, (flags & 1) != 0, (flags & 2) != 0);
            for (const char* profile :
                 {"threads=1", "threads=1,reversed", "threads=1,splitk", "threads=1,splitk,reversed"}) {
                for (const auto bound : {BoundKind::proven, BoundKind::empirical}) {
                    const Capture c = runWith(profile, bound, 16, o.spec);
                    expectWithinBound(o, c);
                    expectNorms(o, c);
                }
            }
        }
    }
}

TEST(Product, OrdersInsideABlockDifferAndBlocksLimitTheDifference) {
    // What the profiles are for: they change low bits, but never beyond D.
    const Operands o({1, 20, 30, 2000}, true, false, true);
    for (const auto bound : {BoundKind::proven, BoundKind::empirical}) {
        const Capture plain = runWith("threads=1", bound, 256, o.spec);
        for (const char* other : {"threads=1,reversed", "threads=1,splitk"}) {
            const Capture c = runWith(other, bound, 256, o.spec);
            std::uint64_t different = 0;
            for (std::size_t e = 0; e < c.y.size(); ++e) {
                different += c.y[e] != plain.y[e] ? 1 : 0;
                ASSERT_LE(std::abs(c.y[e] - plain.y[e]), std::min(c.bound[e], plain.bound[e]));
            }
            EXPECT_GT(different, c.y.size() / 4) << other;
        }
    }
}

TEST(Product, LongBlocksAndTermsBeyondOneConversion) {
    const Operands o({1, 3, 4, 5000}, true, true, false);
    for (const std::uint64_t block : {std::uint64_t{4096}, std::uint64_t{2048}, std::uint64_t{1000}}) {
        for (const char* profile : {"threads=1", "threads=1,reversed,splitk"}) {
            expectWithinBound(o, runWith(profile, BoundKind::proven, block, o.spec));
            expectWithinBound(o, runWith(profile, BoundKind::empirical, block, o.spec));
        }
    }
}

TEST(Product, TilesAndPanels) {
    // More rows than a tile and more columns than a tile, with a ragged edge each.
    const Operands o({1, 530, 1100, 9}, true, false, false);
    const Capture c = runWith("threads=1", BoundKind::proven, 4, o.spec);
    expectWithinBound(o, c);
    expectNorms(o, c);
    // So many columns that the result is handed over in several panels.
    const Operands wide({1, 200, 40000, 2}, true, false, false);
    const Capture w = runWith("threads=1", BoundKind::proven, 256, wide.spec);
    EXPECT_GT(w.sites.size(), 1U);
    expectWithinBound(wide, w);
}

TEST(Product, ThreadsOfOurOwnChangeNothing) {
    const Operands shared({3, 70, 300, 600}, true, false, false);
    const Operands batched({40, 16, 16, 300}, false, false, true);
    const Operands large({2, 300, 300, 300}, false, true, false);
    for (const Operands* o : {&shared, &batched, &large}) {
        const Capture one = runWith("threads=1", BoundKind::proven, 64, o->spec, 1);
        for (const int threads : {2, 5}) {
            const Capture many = runWith("threads=1", BoundKind::proven, 64, o->spec, threads);
            EXPECT_EQ(one.y, many.y);
            EXPECT_EQ(one.bound, many.bound);
        }
    }
}

/// A [K, N] operand in memory, given row by row.
class MatrixRows final : public tensor::RowSource {
public:
    MatrixRows(const std::vector<float>& b, std::uint64_t k, std::uint64_t n) : m_b(b), m_k(k), m_n(n) {}
    void rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const override {
        const float* from = m_b.data() + (item * m_k + k0) * m_n;
        std::copy(from, from + (k1 - k0) * m_n, out);
    }

private:
    const std::vector<float>& m_b;
    std::uint64_t m_k, m_n;
};

void expectSameAsInMemory(const Operands& o, int threads) {
    const MatrixRows source(o.b, o.spec.k, o.spec.n);
    ProductSpec streamed = o.spec;
    streamed.b = nullptr;
    streamed.bRows = &source;
    const Capture own = runWith("threads=1,reversed", BoundKind::proven, 256, o.spec, threads);
    const Capture other = runWith("threads=1,reversed", BoundKind::proven, 256, streamed, threads);
    EXPECT_EQ(own.rowNorm, other.rowNorm);
    EXPECT_EQ(own.colNorm, other.colNorm);
    EXPECT_EQ(own.rowGranule, other.rowGranule);
    EXPECT_EQ(own.colGranule, other.colGranule);
    ASSERT_EQ(own.y.size(), other.y.size());
    for (std::size_t e = 0; e < own.y.size(); ++e) { // the tiles may differ, and with them the library's order
        ASSERT_LE(std::abs(own.y[e] - other.y[e]), own.bound[e]);
    }
}

TEST(Product, GeneratedOperands) {
    for (const int threads : {1, 3}) {
        expectSameAsInMemory(Operands({5, 7, 30, 50}, true, false, false), threads);
        expectSameAsInMemory(Operands({1, 3, 17, 1500}, true, false, false), threads);
    }
}

TEST(Product, StreamedOperands) {
    // Above 2^23 values the operand is never in memory as a whole; zeros make columns without any granule for a while.
    Operands o({1, 2, 1001, 8500}, true, false, false);
    for (std::uint64_t t = 0; t < 3000; ++t) {
        for (std::uint64_t j = 0; j < 500; ++j) {
            o.b[t * 1001 + j] = 0.0F;
        }
    }
    for (std::uint64_t t = 0; t < 8500; ++t) {
        o.b[t * 1001 + 5] = 0.0F;
        o.b[t * 1001 + 6] = t == 8000 ? 6.0F : 0.0F;
    }
    expectSameAsInMemory(o, 1);
    expectSameAsInMemory(o, 3);
}

TEST(Product, ExactSumsHaveNoBound) {
    // Small integers: every order gives the same bits, D = 0.
    Operands o({1, 6, 8, 900}, true, false, true);
    for (auto* operand : {&o.a, &o.b}) {
        for (float& v : *operand) {
            v = std::round(3.0F * v);
        }
    }
    const Capture plain = runWith("threads=1", BoundKind::proven, 256, o.spec);
    EXPECT_EQ(std::accumulate(plain.bound.begin(), plain.bound.end(), 0.0), 0.0);
    for (const char* other : {"threads=1,reversed", "threads=1,splitk", "threads=1,noise=1"}) {
        EXPECT_EQ(runWith(other, BoundKind::proven, 256, o.spec).y, plain.y);
    }
}

TEST(Product, NoiseIsSeededAndWithinItsShareOfTheBound) {
    const Operands o({3, 9, 50, 400}, false, false, false);
    const Capture plain = runWith("threads=1", BoundKind::proven, 256, o.spec, 1, {7, 2});
    const Capture noisy = runWith("threads=1,noise=0.5", BoundKind::proven, 256, o.spec, 1, {7, 2});
    double most = 0.0;
    double sum = 0.0;
    for (std::size_t e = 0; e < plain.y.size(); ++e) {
        const double share = (noisy.y[e] - plain.y[e]) / plain.bound[e];
        most = std::max(most, std::abs(share));
        sum += share;
    }
    // One rounding of y may add to the noise: |y| u <= D / 2 is far less for sums of 400 terms.
    EXPECT_LE(most, 0.51);
    EXPECT_GT(most, 0.48);
    EXPECT_LT(std::abs(sum) / static_cast<double>(plain.y.size()), 0.05); // 6 deviations of the mean
    EXPECT_EQ(noisy.y, runWith("threads=1,noise=0.5", BoundKind::proven, 256, o.spec, 4, {7, 2}).y);
    EXPECT_NE(noisy.y, runWith("threads=1,noise=0.5", BoundKind::proven, 256, o.spec, 1, {8, 2}).y);
    EXPECT_NE(noisy.y, runWith("threads=1,noise=0.5", BoundKind::proven, 256, o.spec, 1, {7, 3}).y);
}

TEST(Product, SameBitsWhateverRanBefore) {
    const Operands o({1, 33, 65, 700}, true, false, false);
    const Operands other({4, 90, 40, 1200}, false, false, true);
    ThreadPool pool(2);
    ProductRunner runner(profileOf("threads=2"), BoundKind::proven, 256, 1, pool);
    std::vector<std::vector<double>> results;
    for (int round = 0; round < 3; ++round) {
        Capture c;
        std::vector<float> out(33 * 65);
        ASSERT_TRUE(runner.run(o.spec, 0, c, {}, out).has_value());
        results.push_back(c.y);
        Capture between;
        std::vector<float> outBetween(4 * 90 * 40);
        ASSERT_TRUE(runner.run(other.spec, 1, between, {}, outBetween).has_value());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

TEST(Product, NonFiniteOperandsAreSeen) {
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
        Operands o({1, 4, 5, 300}, true, false, false);
        o.a[2 * 300 + 7] = bad;
        ThreadPool pool(1);
        ProductRunner runner(profileOf("threads=1"), BoundKind::proven, 256, 1, pool);
        TestEmitter emitter(EmitMode::record, {{"y", tensor::Direction::forward, true, {4, 5}}}, nullptr);
        std::vector<float> out(20);
        ASSERT_TRUE(runner.run(o.spec, 0, emitter, {}, out).has_value());
        EXPECT_FALSE(emitter.finite);
    }
}

TEST(Product, ErrorsOfTheEmitterStopIt) {
    class Refuses final : public tensor::SiteEmitter {
    public:
        base::Result<void> product(std::uint32_t, const numerics::ProductSite&, float*) override {
            return base::fail(base::ErrorCode::cancelled, "stopped");
        }
        base::Result<void> completed(std::uint32_t, std::span<float>) override {
            ADD_FAILURE() << "completed after an error";
            return {};
        }
    };
    const Operands o({2, 3, 4, 5}, false, false, false);
    ThreadPool pool(1);
    ProductRunner runner(profileOf("threads=1"), BoundKind::proven, 256, 1, pool);
    Refuses emitter;
    std::vector<float> out(24);
    const auto result = runner.run(o.spec, 0, emitter, {}, out);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, base::ErrorCode::cancelled);
}

} // namespace
} // namespace assay::test
