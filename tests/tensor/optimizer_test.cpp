// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/tensor/op_kernel.h"
#include "core/tensor/optimizer.h"
#include "cuda/arith/rounding.h"
#include "tests/tensor/op_harness.h"

namespace assay::test {
namespace {

using tensor::Tensor;
using tensor::ThreadPool;

std::vector<float> floats(std::size_t n, std::uint32_t stream, double scale = 1.0) {
    const Values v = randomValues({static_cast<std::int64_t>(n)}, stream, scale);
    return {v.v.begin(), v.v.end()};
}

/// One step loses one roundoff in each stored value; over a few steps errors stay a small multiple of that.
void expectClose(const std::vector<float>& own, const std::vector<double>& reference, double roundoffs) {
    ASSERT_EQ(own.size(), reference.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(own[i]), reference[i], roundoffs * 0x1p-24 * (1.0 + std::abs(reference[i])))
            << i;
    }
}

TEST(Optimizer, SgdFollowsTheTextbook) {
    ThreadPool pool(1);
    for (const float momentum : {0.0F, 0.9F}) {
        for (const bool nesterov : {false, true}) {
            const tensor::SgdSettings settings{momentum, 0.01F, nesterov};
            std::vector<float> w = floats(1000, 1);
            std::vector<float> buffer(momentum == 0.0F ? 0 : w.size(), 0.0F);
            std::vector<double> rw(w.begin(), w.end());
            std::vector<double> rb(w.size(), 0.0);
            const double clip = 0.75;
            for (std::uint32_t step = 1; step <= 5; ++step) {
                const std::vector<float> g = floats(w.size(), 10 + step);
                tensor::sgdUpdate(settings, 0.1F, clip, w, g, buffer, pool);
                for (std::size_t i = 0; i < w.size(); ++i) {
                    const double d = clip * static_cast<double>(g[i]) + static_cast<double>(0.01F) * rw[i];
                    rb[i] = static_cast<double>(momentum) * rb[i] + d;
                    const double move =
                        momentum == 0.0F ? d : (nesterov ? d + static_cast<double>(momentum) * rb[i] : rb[i]);
                    rw[i] -= static_cast<double>(0.1F) * move;
                }
            }
            expectClose(w, rw, 20);
            if (momentum != 0.0F) {
                expectClose(buffer, rb, 20);
            }
        }
    }
}

TEST(Optimizer, AdamWFollowsTheTextbook) {
    ThreadPool pool(1);
    const tensor::AdamWSettings settings{0.9F, 0.99F, 1e-8F, 0.05F};
    std::vector<float> w = floats(1000, 2);
    std::vector<float> m(w.size(), 0.0F);
    std::vector<float> v(w.size(), 0.0F);
    std::vector<double> rw(w.begin(), w.end());
    std::vector<double> rm(w.size(), 0.0);
    std::vector<double> rv(w.size(), 0.0);
    for (std::uint32_t step = 1; step <= 6; ++step) {
        const std::vector<float> g = floats(w.size(), 20 + step);
        tensor::adamwUpdate(settings, step, 0.01F, 1.0, w, g, m, v, pool);
        for (std::size_t i = 0; i < w.size(); ++i) {
            const auto gi = static_cast<double>(g[i]);
            const auto b1 = static_cast<double>(0.9F);
            const auto b2 = static_cast<double>(0.99F);
            rm[i] = b1 * rm[i] + (1.0 - b1) * gi;
            rv[i] = b2 * rv[i] + (1.0 - b2) * gi * gi;
            const double mean = rm[i] / (1.0 - std::pow(b1, step));
            const double scale = std::sqrt(rv[i] / (1.0 - std::pow(b2, step))) + static_cast<double>(1e-8F);
            rw[i] -= static_cast<double>(0.01F) * static_cast<double>(0.05F) * rw[i] +
                     static_cast<double>(0.01F) * mean / scale;
        }
    }
    expectClose(w, rw, 20);
    expectClose(m, rm, 20);
    expectClose(v, rv, 20);
}

TEST(Optimizer, OneStepIsExactlyAsWritten) {
    // By hand for one element: every stored value is rounded once, and what follows uses the rounded one.
    ThreadPool pool(1);
    std::vector<float> w{0.7F};
    std::vector<float> b{0.3F};
    const std::vector<float> g{0.11F};
    tensor::sgdUpdate({0.9F, 0.0F, false}, 0.1F, 1.0, w, g, b, pool);
    const auto nextB =
        static_cast<float>(static_cast<double>(0.9F) * static_cast<double>(0.3F) + static_cast<double>(0.11F));
    EXPECT_EQ(b[0], nextB);
    EXPECT_EQ(w[0],
              static_cast<float>(static_cast<double>(0.7F) - static_cast<double>(0.1F) * static_cast<double>(nextB)));
}

TEST(Optimizer, ThreadsChangeNothingAndZeroIsPositive) {
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        std::vector<float> w = floats(100000, 3);
        std::vector<float> m(w.size(), 0.0F);
        std::vector<float> v(w.size(), 0.0F);
        w[7] = 0.0F;
        std::vector<float> g = floats(w.size(), 4);
        g[7] = 0.0F;
        tensor::adamwUpdate({}, 1, 0.01F, 1.0, w, g, m, v, pool);
        EXPECT_TRUE(arith::isRepresentable(static_cast<double>(w[7])));
        results.push_back(w);
        results.back().insert(results.back().end(), m.begin(), m.end());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

TEST(Optimizer, GradientNormAndClipping) {
    std::vector<Tensor> tensors;
    double squares = 0.0;
    for (std::uint32_t i = 0; i < 5; ++i) {
        const std::vector<float> v = floats(1000 + 777 * i, 30 + i);
        for (const float x : v) {
            squares += static_cast<double>(x) * static_cast<double>(x);
        }
        tensors.emplace_back(tensor::Shape{static_cast<std::int64_t>(v.size())}, v);
    }
    const std::vector<const Tensor*> all{&tensors[0], &tensors[1], &tensors[2], &tensors[3], &tensors[4]};
    ThreadPool one(1);
    ThreadPool four(4);
    const float norm = tensor::gradientNorm(all, one);
    EXPECT_NEAR(static_cast<double>(norm), std::sqrt(squares), std::sqrt(squares) * 0x1.01p-24);
    EXPECT_EQ(norm, tensor::gradientNorm(all, four));
    EXPECT_EQ(tensor::clipFactor(norm, 0.0F), 1.0);
    EXPECT_EQ(tensor::clipFactor(norm, norm), 1.0);
    EXPECT_EQ(tensor::clipFactor(4.0F, 1.0F), 0.25);
    EXPECT_EQ(tensor::gradientNorm({}, one), 0.0F);
}

TEST(Optimizer, StateNames) {
    using Names = std::vector<std::string_view>;
    EXPECT_EQ(*tensor::optimizerStateNames("sgd", 0.0F), Names{});
    EXPECT_EQ(*tensor::optimizerStateNames("sgd", 0.9F), Names{"momentum"});
    EXPECT_EQ(*tensor::optimizerStateNames("adamw", 0.0F), (Names{"m", "v"}));
    EXPECT_EQ(tensor::optimizerStateNames("lion", 0.0F).error().code, base::ErrorCode::malformed);
}

TEST(Schedule, ConstantAndCosineWithWarmup) {
    const tensor::ScheduleSettings constant{"constant", 0.5F, 0.0F, 0, 100};
    EXPECT_EQ(*learningRateAt(constant, 1), 0.5F);
    EXPECT_EQ(*learningRateAt(constant, 100), 0.5F);
    const tensor::ScheduleSettings warm{"constant", 0.5F, 0.0F, 4, 100};
    EXPECT_EQ(*learningRateAt(warm, 1), 0.125F);
    EXPECT_EQ(*learningRateAt(warm, 4), 0.5F);
    const tensor::ScheduleSettings cosine{"cosine", 0.5F, 0.1F, 10, 110};
    EXPECT_EQ(*learningRateAt(cosine, 5), 0.25F);
    EXPECT_EQ(*learningRateAt(cosine, 10), 0.5F);
    EXPECT_EQ(*learningRateAt(cosine, 110), 0.1F);
    for (std::uint64_t step = 11; step <= 110; ++step) {
        const double p = static_cast<double>(step - 10) / 100.0;
        const double expected =
            static_cast<double>(0.1F) + (0.5 - static_cast<double>(0.1F)) * 0.5 * (1.0 + std::cos(M_PI * p));
        EXPECT_NEAR(static_cast<double>(*learningRateAt(cosine, step)), expected, expected * 0x1.01p-24);
        EXPECT_LE(*learningRateAt(cosine, step), *learningRateAt(cosine, step - 1));
    }
    EXPECT_EQ(*tensor::learningRateAt({"cosine", 0.5F, 0.1F, 10, 10}, 10), 0.5F);
    EXPECT_EQ(tensor::learningRateAt({"step", 0.5F, 0.1F, 0, 10}, 1).error().code, base::ErrorCode::malformed);
}

TEST(SumGradients, InOrderAndRoundedOnce) {
    ThreadPool pool(2);
    // 1 + 2^-53 + 2^-53 in FP64 stays 1 from the left; added the other way round it does not.
    const Tensor one({1}, std::vector<float>{1.0F});
    const Tensor tiny({1}, std::vector<float>{0x1p-53F});
    const Tensor minus({1}, std::vector<float>{-1.0F});
    const std::vector<const Tensor*> left{&one, &tiny, &tiny, &minus};
    const std::vector<const Tensor*> right{&tiny, &tiny, &one, &minus};
    EXPECT_EQ(tensor::sumGradients(left, pool).data()[0], 0.0F);
    EXPECT_EQ(tensor::sumGradients(right, pool).data()[0], 0x1p-52F);
    const std::vector<const Tensor*> single{&tiny};
    EXPECT_EQ(tensor::sumGradients(single, pool).data()[0], 0x1p-53F);
}

} // namespace
} // namespace assay::test
