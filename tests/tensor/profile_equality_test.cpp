// SPDX-License-Identifier: Apache-2.0
// A run recorded under one kernel profile and enforced under another has equal bits at every site; without its log it
// has not.
#include <gtest/gtest.h>

#include "tests/tensor/op_cases.h"

namespace assay::test {
namespace {

using numerics::BoundKind;

OpProfile profileOf(const char* text, BoundKind bound, std::uint64_t block, int poolThreads = 1) {
    auto kernel = tensor::KernelProfile::parse(text);
    EXPECT_TRUE(kernel.has_value()) << text;
    OpProfile profile;
    profile.kernel = *kernel;
    profile.bound = bound;
    profile.block = block;
    profile.poolThreads = poolThreads;
    return profile;
}

constexpr const char* kOthers[] = {"threads=1",         "threads=1,reversed",        "threads=1,splitk",
                                   "threads=2",         "threads=1,reversed,splitk", "threads=1,noise=0.9",
                                   "reversed,threads=2"};

/// Pairs of terms that cancel but for a little: |y| is far below the sum of magnitudes, so many values are in doubt.
void plantCancellation(Values& x) {
    const auto width = static_cast<std::size_t>(x.shape.back());
    for (std::size_t r = 0; r < x.v.size() / width; r += 2) {
        for (std::size_t c = 0; c + 1 < width; c += 2) {
            x.v[r * width + c + 1] = -x.v[r * width + c];
        }
        x.v[r * width] = 1.0;
        x.v[r * width + 1] = -1.0 + 0x1p-20;
    }
}

std::vector<NamedCase> largeCases() {
    std::vector<NamedCase> all;
    const auto add = [&](std::string name, std::string kind, tensor::AttributeMap attributes,
                         std::vector<Values> inputs, std::uint32_t wanted) {
        NamedCase c;
        c.name = std::move(name);
        c.op.kind = std::move(kind);
        c.op.attributes = std::move(attributes);
        c.op.inputs = std::move(inputs);
        c.op.wanted = wanted;
        all.push_back(std::move(c));
    };
    add("linear", "linear", {}, {randomValues({70, 700}, 60), randomValues({50, 700}, 61), randomValues({50}, 62)},
        0b111);
    // Equal neighbours in the weight make the planted pairs cancel.
    Values weight = randomValues({40, 600}, 63);
    for (std::size_t i = 1; i < weight.v.size(); i += 2) {
        weight.v[i] = weight.v[i - 1];
    }
    Values x = randomValues({30, 600}, 64);
    plantCancellation(x);
    add("linear with cancellation", "linear", {}, {x, weight}, 0b11);
    add("attention scores", "matmul", {{"transpose_b", true}},
        {randomValues({2, 2, 33, 300}, 65), randomValues({2, 2, 33, 300}, 66)}, 0b11);
    add("attention mix", "matmul", {{"transpose_b", false}},
        {randomValues({2, 2, 33, 33}, 67), randomValues({2, 2, 33, 20}, 68)}, 0b11);
    add("conv", "conv2d", {{"stride", std::int64_t{1}}, {"padding", std::int64_t{1}}},
        {randomValues({3, 16, 12, 11}, 69), randomValues({20, 16, 3, 3}, 70), randomValues({20}, 71)}, 0b111);
    add("conv stride 2", "conv2d", {{"stride", std::int64_t{2}}, {"padding", std::int64_t{1}}},
        {randomValues({3, 16, 12, 11}, 72), randomValues({20, 16, 3, 3}, 73)}, 0b11);
    return all;
}

void expectEqualUnder(const NamedCase& c, BoundKind bound, std::uint64_t block) {
    const OpResult recorded = runOp(c.op, profileOf("threads=1", bound, block));
    ASSERT_EQ(recorded.fault, "") << c.name;
    for (const char* other : kOthers) {
        const OpResult enforced = runOp(c.op, profileOf(other, bound, block, 2), EmitMode::enforce, &recorded.logs);
        ASSERT_EQ(enforced.fault, "") << c.name << " under " << other;
        EXPECT_EQ(enforced.offences, 0U) << c.name << " under " << other;
        ASSERT_EQ(enforced.siteValues.size(), recorded.siteValues.size());
        for (std::size_t site = 0; site < recorded.siteValues.size(); ++site) {
            // Bit for bit: no NaN and no -0 occurs (the emitter checks), so comparing values compares bits.
            EXPECT_EQ(enforced.siteValues[site], recorded.siteValues[site])
                << c.name << " / " << recorded.sites[site].suffix << " under " << other;
        }
    }
}

TEST(ProfileEquality, EveryKindBothBounds) {
    for (const NamedCase& c : allCases()) {
        expectEqualUnder(c, BoundKind::proven, 16);
        expectEqualUnder(c, BoundKind::empirical, 16);
    }
}

TEST(ProfileEquality, LargeProducts) {
    for (const NamedCase& c : largeCases()) {
        for (const std::uint64_t block : {std::uint64_t{64}, std::uint64_t{256}}) {
            expectEqualUnder(c, BoundKind::proven, block);
        }
        expectEqualUnder(c, BoundKind::empirical, 256);
    }
}

TEST(ProfileEquality, TheLogIsWhatMakesThemEqual) {
    // With noise the auditor needs corrections; ignoring the log leaves differences; exchanging it is an offence.
    std::uint64_t corrections = 0;
    std::uint64_t differing = 0;
    for (const NamedCase& c : largeCases()) {
        const auto own = profileOf("threads=1", BoundKind::proven, 256);
        const auto other = profileOf("threads=1,noise=0.9", BoundKind::proven, 256);
        const OpResult recorded = runOp(c.op, own);
        const OpResult enforced = runOp(c.op, other, EmitMode::enforce, &recorded.logs);
        const OpResult ignored = runOp(c.op, other, EmitMode::ignoreLog, &recorded.logs);
        corrections += enforced.corrections;
        for (std::size_t site = 0; site < recorded.siteValues.size(); ++site) {
            differing += ignored.siteValues[site] != recorded.siteValues[site] ? 1 : 0;
        }
        if (c.name == "linear with cancellation") {
            EXPECT_GT(recorded.entries, 100U);
            EXPECT_GT(enforced.corrections, 10U);
            const std::vector<numerics::SiteLog> empty(recorded.logs.size());
            EXPECT_GT(runOp(c.op, other, EmitMode::enforce, &empty).offences, 10U);
        }
    }
    EXPECT_GT(corrections, 10U);
    EXPECT_GT(differing, 0U);
}

TEST(ProfileEquality, ThreadsOfOurOwnChangeNoSite) {
    auto cases = allCases();
    for (auto& c : largeCases()) {
        cases.push_back(c);
    }
    // Sizes of several tasks each.
    NamedCase norm;
    norm.name = "large layer norm";
    norm.op.kind = "layer_norm";
    norm.op.attributes = {{"eps", 1e-5F}};
    norm.op.inputs = {randomValues({300, 130}, 80), randomValues({130}, 81), randomValues({130}, 82)};
    norm.op.wanted = 0b111;
    cases.push_back(norm);
    norm.name = "large batch norm";
    norm.op.kind = "batch_norm";
    norm.op.attributes = {{"eps", 1e-5F}, {"momentum", 0.1F}};
    norm.op.inputs = {randomValues({9, 40, 12, 11}, 83), randomValues({40}, 84), randomValues({40}, 85),
                      randomValues({40}, 86), randomValues({40}, 87)};
    cases.push_back(norm);
    for (const NamedCase& c : cases) {
        const OpResult one = runOp(c.op, profileOf("threads=1", BoundKind::proven, 64, 1));
        for (const int threads : {2, 5}) {
            const OpResult many = runOp(c.op, profileOf("threads=1", BoundKind::proven, 64, threads));
            ASSERT_EQ(many.fault, "");
            EXPECT_EQ(many.siteValues, one.siteValues) << c.name << ", " << threads << " threads";
            EXPECT_EQ(many.logs, one.logs);
        }
    }
}

} // namespace
} // namespace assay::test
