// SPDX-License-Identifier: Apache-2.0
// The inequalities of core/numerics/PROOF.md in exact integer arithmetic. With d = 2^-20 every product of two factors
// (a + b d) is an integer multiple of 2^-40, so numbers are held as integers of that unit.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda/arith/interval.h"

namespace assay::numerics {
namespace {

constexpr std::int64_t kOne = 1LL << 40;

/// A radius factor as an exact multiple of 2^-40; fails the test if it is not one.
std::int64_t exact(double factor) {
    const double scaled = factor * 0x1p40;
    EXPECT_EQ(scaled, static_cast<double>(static_cast<std::int64_t>(scaled)));
    return static_cast<std::int64_t>(scaled);
}
/// factor * (1 +- d), exactly: factors here are multiples of 2^-20 already.
std::int64_t least(double factor) {
    return exact(factor) - exact(factor) / (1LL << 20);
}
std::int64_t most(double factor) {
    return exact(factor) + exact(factor) / (1LL << 20);
}
/// What three roundings (bound times factor, y +- r) and the difference between D(y), D(y') and D(e) can add, in units
/// of 2^-40 D: far below 1.
constexpr std::int64_t kRoundings = 1;

TEST(Proof, FactorsAreMultiplesOfTheSlack) {
    for (const double factor : {arith::kTrainerLogs, arith::kTrainerWhole, arith::kAuditorTakes, arith::kAuditorPermits,
                                arith::kJudgeRequires, arith::kJudgeIllegal, arith::kJudgeTakes}) {
        EXPECT_EQ(exact(factor) % (1LL << 20), 0);
    }
    EXPECT_EQ(exact(arith::kTrainerLogs), 2 * (kOne + 8 * (1LL << 20)));
    EXPECT_EQ(exact(arith::kTrainerWhole), 2 * (kOne + 16 * (1LL << 20)));
    EXPECT_EQ(exact(arith::kAuditorTakes), kOne + 4 * (1LL << 20));
    EXPECT_EQ(exact(arith::kAuditorPermits), 3 * (kOne + 16 * (1LL << 20)));
    EXPECT_EQ(exact(arith::kJudgeRequires), 3 * (kOne + 6 * (1LL << 20)));
    EXPECT_EQ(exact(arith::kJudgeIllegal), 5 * (kOne + 12 * (1LL << 20)));
    EXPECT_EQ(exact(arith::kJudgeTakes), kOne + 3 * (1LL << 20));
}

// Radii in units of D, distance between the two sides at most 1.
TEST(Proof, AuditorAgainstHonestTrainer) {
    // (A1) the trainer's value lies in what the auditor takes
    EXPECT_GE(least(arith::kAuditorTakes), kOne + kRoundings);
    // (A2) whatever the auditor demands was logged
    EXPECT_GE(least(arith::kTrainerLogs), most(arith::kAuditorTakes) + kOne + kRoundings);
    // (A3) a parity entry leaves at most two floats in what the auditor takes
    EXPECT_GE(least(arith::kTrainerWhole), most(arith::kAuditorTakes) + kOne + kRoundings);
    // (A4) whatever was logged is permitted
    EXPECT_GE(least(arith::kAuditorPermits), most(arith::kTrainerLogs) + kOne + kRoundings);
}

// Radii in units of H = D / 2, so D's factors count twice; each side lies within 1 of the exact value.
TEST(Proof, JudgeAgainstHonestClaimant) {
    EXPECT_GE(2 * least(arith::kTrainerLogs), most(arith::kJudgeRequires) + kOne + kRoundings);  // (J1)
    EXPECT_GE(least(arith::kJudgeRequires), kOne + kRoundings);                                  // (J2)
    EXPECT_GE(least(arith::kJudgeIllegal), 2 * most(arith::kTrainerLogs) + kOne + kRoundings);   // (J3)
    EXPECT_GE(2 * least(arith::kTrainerWhole), most(arith::kJudgeRequires) + kOne + kRoundings); // (J4)
    EXPECT_GE(least(arith::kJudgeTakes), kOne + kRoundings);                                     // (J5)
}

TEST(Proof, JudgeConfirmsHonestChallenger) {
    EXPECT_GE(least(arith::kJudgeRequires), 2 * most(arith::kAuditorTakes) + kOne + kRoundings);  // (C1), (C4)
    EXPECT_GE(2 * least(arith::kAuditorPermits), most(arith::kJudgeIllegal) + kOne + kRoundings); // (C2)
    EXPECT_GE(2 * least(arith::kAuditorTakes), most(arith::kJudgeTakes) + kOne + kRoundings);     // (C3)
}

} // namespace
} // namespace assay::numerics
