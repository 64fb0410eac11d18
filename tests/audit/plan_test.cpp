// SPDX-License-Identifier: Apache-2.0
// Sampling plans against brute force.
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/audit/plan.h"
#include "core/crypto/sha256.h"

namespace assay::test {
namespace {

using namespace audit;
using base::ErrorCode;

std::vector<StepRange> equalSegments(std::uint64_t count, std::uint64_t length) {
    std::vector<StepRange> segments;
    for (std::uint64_t i = 0; i < count; ++i) {
        segments.push_back({i * length + 1, (i + 1) * length});
    }
    return segments;
}

TEST(Segments, endAtCheckpoints) {
    const std::vector<std::uint64_t> checkpoints{4, 8, 10};
    EXPECT_EQ(*segmentsOf(10, checkpoints), (std::vector<StepRange>{{1, 4}, {5, 8}, {9, 10}}));
    EXPECT_EQ(*segmentsOf(11, checkpoints), (std::vector<StepRange>{{1, 4}, {5, 8}, {9, 10}, {11, 11}}));
    EXPECT_EQ(*segmentsOf(3, checkpoints), (std::vector<StepRange>{{1, 3}}));
    EXPECT_EQ(*segmentsOf(5, {}), (std::vector<StepRange>{{1, 5}}));
    const std::vector<std::uint64_t> odd{0, 2, 2, 1, 4}; // nonsense from a submission must not break the order
    EXPECT_EQ(*segmentsOf(4, odd), (std::vector<StepRange>{{1, 2}, {3, 4}}));
    EXPECT_EQ(segmentsOf(0, {}).error().code, ErrorCode::usage);
}

TEST(Hypergeometric, equalsCountingAllDraws) {
    for (unsigned total = 1; total <= 12; ++total) {
        for (unsigned bad = 0; bad <= total; ++bad) {
            const unsigned badMask = (1U << bad) - 1;
            std::vector<double> met(total + 1);
            std::vector<double> all(total + 1);
            for (unsigned draw = 0; draw < (1U << total); ++draw) {
                const auto size = static_cast<std::size_t>(std::popcount(draw));
                all[size] += 1;
                met[size] += (draw & badMask) != 0 ? 1 : 0;
            }
            for (unsigned drawn = 0; drawn <= total; ++drawn) {
                EXPECT_NEAR(hypergeometricDetection(total, bad, drawn), met[drawn] / all[drawn], 1e-13)
                    << total << " " << bad << " " << drawn;
            }
        }
    }
}

TEST(Hypergeometric, keepsItsDigitsAtBothEnds) {
    // One bad, one drawn of 10^12: exactly 10^-12.
    EXPECT_NEAR(hypergeometricDetection(1'000'000'000'000, 1, 1) * 1e12, 1.0, 1e-12);
    // One bad: drawn / total, also for large numbers and without a long loop.
    EXPECT_NEAR(hypergeometricDetection(1'000'000'000, 1, 123'456'789), 0.123456789, 1e-15);
    // Chance to miss of about e^-1000: detection rounds to 1 and does not overflow.
    EXPECT_DOUBLE_EQ(hypergeometricDetection(10'000, 1'000, 6'000), 1.0);
    EXPECT_EQ(hypergeometricDetection(10, 5, 6), 1.0);
    EXPECT_EQ(hypergeometricDetection(10, 0, 10), 0.0);
    EXPECT_EQ(hypergeometricDetection(10, 5, 0), 0.0);
}

TEST(FewestSegments, equalsTryingAllSubsets) {
    const std::vector<StepRange> segments{{1, 3}, {4, 4}, {5, 9}, {10, 11}, {12, 12}};
    for (std::uint64_t bad = 0; bad <= 14; ++bad) {
        unsigned fewest = 5;
        for (unsigned subset = 0; subset < 32; ++subset) {
            std::uint64_t held = 0;
            for (std::size_t i = 0; i < 5; ++i) {
                held += (subset >> i & 1U) != 0 ? segments[i].last - segments[i].first + 1 : 0;
            }
            if (held >= bad) {
                fewest = std::min(fewest, static_cast<unsigned>(std::popcount(subset)));
            }
        }
        EXPECT_EQ(fewestSegmentsFor(segments, bad), fewest) << bad;
    }
}

TEST(DrawSegments, isAFunctionOfRootAndNonce) {
    const auto segments = equalSegments(50, 4);
    const base::Digest root = crypto::sha256(base::asBytes("root"));
    const auto plan = *drawSegments(segments, 10, root, "00112233", kNonceGiven);
    EXPECT_EQ(plan.segments.size(), 10U);
    EXPECT_EQ(plan.segmentsTotal, 50U);
    EXPECT_EQ(plan.stepsToReplay, 40U);
    EXPECT_EQ(plan.stepsTotal, 200U);
    EXPECT_DOUBLE_EQ(plan.detectionOneSegment, 0.2);
    EXPECT_EQ(plan.nonce, "00112233");
    EXPECT_EQ(plan.nonceSource, kNonceGiven);
    for (std::size_t i = 1; i < plan.segments.size(); ++i) {
        EXPECT_LT(plan.segments[i - 1].last, plan.segments[i].first); // ascending, none twice
    }
    EXPECT_EQ(drawSegments(segments, 10, root, "00112233", kNonceGiven)->segments, plan.segments);
    EXPECT_NE(drawSegments(segments, 10, root, "00112234", kNonceGiven)->segments, plan.segments);
    EXPECT_NE(drawSegments(segments, 10, root, "0011223300", kNonceGiven)->segments, plan.segments); // length counts
    EXPECT_NE(drawSegments(segments, 10, crypto::sha256(base::asBytes("other")), "00112233", kNonceGiven)->segments,
              plan.segments);
    EXPECT_EQ(drawSegments(segments, 10, root, "00112233", kNonceGiven)->nonce,
              drawSegments(segments, 10, root, "00112233", kNonceGiven)->nonce);
}

TEST(DrawSegments, firstWordIsTheDocumentedHash) {
    // Recomputed here from the description: with one segment drawn of n, it is the first accepted word modulo n.
    const base::Digest root = crypto::sha256(base::asBytes("root"));
    base::ByteWriter input;
    input.putText("assay/sample/1");
    input.putBytes(root.view());
    input.put(std::uint64_t{2});
    input.putBytes(base::ByteVector{0xab, 0xcd});
    input.put(std::uint64_t{0});
    const auto word = base::loadLe<std::uint64_t>(crypto::sha256(input.bytes()).bytes.data());
    const std::uint64_t total = 7;
    const std::uint64_t excess = (~0ULL % total + 1) % total;
    ASSERT_GE(word, excess);
    const auto plan = *drawSegments(equalSegments(total, 1), 1, root, "abcd", kNonceGiven);
    EXPECT_EQ(plan.segments[0].first, (word - excess) % total + 1);
}

TEST(DrawSegments, allWhenMoreAreAskedFor) {
    const auto segments = equalSegments(5, 2);
    const auto plan = *drawSegments(segments, 99, {}, "01", kNonceGiven);
    EXPECT_EQ(plan.segments, segments);
    EXPECT_EQ(plan.detectionOneSegment, 1.0);
}

TEST(DrawSegments, everySegmentAndEveryPairIsEquallyLikely) {
    const auto segments = equalSegments(6, 1);
    std::map<std::pair<std::uint64_t, std::uint64_t>, int> pairs;
    constexpr int kDraws = 15000;
    for (int i = 0; i < kDraws; ++i) {
        const auto nonce = base::toHex(crypto::sha256(base::asBytes(std::to_string(i))).bytes);
        const auto plan = *drawSegments(segments, 2, {}, nonce, kNonceGiven);
        ++pairs[{plan.segments[0].first, plan.segments[1].first}];
    }
    ASSERT_EQ(pairs.size(), 15U);
    double chiSquared = 0;
    for (const auto& [pair, count] : pairs) {
        chiSquared += std::pow(count - kDraws / 15.0, 2) / (kDraws / 15.0);
    }
    EXPECT_LT(chiSquared, 36.1); // 14 degrees of freedom, p = 0.001; the draw is fixed, so this cannot be flaky
}

TEST(DrawSegments, nonsenseIsUsage) {
    const auto segments = equalSegments(5, 2);
    for (const auto* nonce : {"", "0", "xy", " 01"}) {
        EXPECT_EQ(drawSegments(segments, 1, {}, nonce, kNonceGiven).error().code, ErrorCode::usage) << nonce;
    }
    EXPECT_FALSE(drawSegments(segments, 1, {}, std::string(130, 'a'), kNonceGiven).has_value());
    EXPECT_FALSE(drawSegments(segments, 0, {}, "01", kNonceGiven).has_value());
    EXPECT_FALSE(drawSegments({}, 1, {}, "01", kNonceGiven).has_value());
    EXPECT_EQ(drawSegments(segments, 1, {}, "AB", kNonceGiven)->nonce, "ab");
}

TEST(DrawNonce, isNewEveryTime) {
    std::set<std::string> seen;
    for (int i = 0; i < 20; ++i) {
        const auto nonce = *drawNonce();
        EXPECT_EQ(nonce.size(), 64U);
        seen.insert(nonce);
    }
    EXPECT_EQ(seen.size(), 20U);
}

TEST(Plan, rowsFollowTheFormulas) {
    const std::vector<StepRange> segments{{1, 4}, {5, 8}, {9, 12}, {13, 14}};
    PlanRequest request;
    request.bad = 5;
    request.secondsPerStep = 2.0;
    const auto table = *makePlan(segments, request);
    EXPECT_EQ(table.segmentsTotal, 4U);
    EXPECT_EQ(table.stepsTotal, 14U);
    ASSERT_EQ(table.rows.size(), 3U); // 1, 2, 4
    EXPECT_FALSE(table.recommended.has_value());
    EXPECT_FALSE(table.why.empty());
    const auto& row = table.rows[1];
    EXPECT_EQ(row.segments, 2U);
    EXPECT_EQ(row.stepsAtMost, 8U);
    EXPECT_DOUBLE_EQ(row.stepsExpected, 7.0);
    EXPECT_DOUBLE_EQ(*row.seconds, 14.0);
    EXPECT_EQ(row.detectionSegments, 1.0);                                  // 5 bad segments are all 4
    EXPECT_DOUBLE_EQ(row.detectionSteps, hypergeometricDetection(4, 2, 2)); // 5 bad steps fit into 2 segments
    EXPECT_EQ(table.rows.back().segments, 4U);
    EXPECT_EQ(table.rows.back().detectionSteps, 1.0);
}

TEST(Plan, budgetTakesTheLargestDrawThatAlwaysFits) {
    const std::vector<StepRange> segments{{1, 4}, {5, 8}, {9, 12}, {13, 14}};
    for (std::uint64_t budget = 1; budget <= 20; ++budget) {
        PlanRequest request;
        request.budgetSteps = budget;
        const auto table = *makePlan(segments, request);
        const std::uint64_t wanted = budget < 4 ? 0 : budget < 8 ? 1 : budget < 12 ? 2 : budget < 14 ? 3 : 4;
        EXPECT_EQ(table.recommended ? table.recommended->segments : 0, wanted) << budget;
        EXPECT_FALSE(table.why.empty());
    }
    PlanRequest seconds;
    seconds.budgetSeconds = 24.9;
    seconds.secondsPerStep = 3.1;
    EXPECT_EQ(makePlan(segments, seconds)->recommended->segments, 2U);
}

TEST(Plan, wantedProbabilityTakesTheSmallestDraw) {
    const auto segments = equalSegments(100, 10);
    for (const double wanted : {0.01, 0.5, 0.9, 0.95, 0.999, 1.0}) {
        for (const std::uint64_t bad : {1U, 5U, 99U}) {
            PlanRequest request;
            request.bad = bad;
            request.wantedDetection = wanted;
            const auto drawn = makePlan(segments, request)->recommended->segments;
            EXPECT_GE(hypergeometricDetection(100, bad, drawn), wanted);
            EXPECT_TRUE(drawn == 1 || hypergeometricDetection(100, bad, drawn - 1) < wanted);
        }
    }
    PlanRequest both; // the budget does not pay for the wish: the budget's draw, and said
    both.wantedDetection = 0.95;
    both.budgetSteps = 100;
    const auto table = *makePlan(segments, both);
    EXPECT_EQ(table.recommended->segments, 10U);
    EXPECT_NE(table.why.find("95"), std::string::npos) << table.why;
}

TEST(Plan, nonsenseIsUsage) {
    const auto segments = equalSegments(5, 2);
    const auto refused = [&](auto change) {
        PlanRequest request;
        change(request);
        const auto table = makePlan(segments, request);
        ASSERT_FALSE(table.has_value());
        EXPECT_EQ(table.error().code, ErrorCode::usage);
    };
    refused([](PlanRequest& request) { request.bad = 0; });
    refused([](PlanRequest& request) { request.bad = 11; });
    refused([](PlanRequest& request) { request.budgetSteps = 0; });
    refused([](PlanRequest& request) { request.budgetSeconds = 5.0; });
    refused([](PlanRequest& request) { request.budgetSeconds = -5.0; });
    refused([](PlanRequest& request) { request.secondsPerStep = 0.0; });
    refused([](PlanRequest& request) { request.secondsPerStep = std::nan(""); });
    refused([](PlanRequest& request) { request.wantedDetection = 0.0; });
    refused([](PlanRequest& request) { request.wantedDetection = 1.01; });
    EXPECT_FALSE(makePlan({}, {}).has_value());
}

TEST(Plan, jsonHoldsTheTable) {
    PlanRequest request;
    request.budgetSteps = 4;
    const auto json = planToJson(*makePlan(equalSegments(2, 4), request));
    EXPECT_EQ(json.rfind("{\"bad\":1,\"recommended\":{\"detection_segments\":0.5,", 0), 0U) << json;
    EXPECT_NE(json.find("\"schema\":\"assay.plan\",\"segments_total\":2,\"steps_total\":8,\"version\":1"),
              std::string::npos);
}

} // namespace
} // namespace assay::test
