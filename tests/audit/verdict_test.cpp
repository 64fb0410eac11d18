// SPDX-License-Identifier: Apache-2.0
// Verdicts: every combination of checks, and the sentences that a client reads.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "core/audit/verdict.h"

namespace assay::test {
namespace {

using namespace audit;

constexpr std::array kStatic{Check::signature,    Check::order, Check::files,          Check::merkle,
                             Check::initialState, Check::data,  Check::finalCheckpoint};

/// An audit in which everything was checked and nothing found.
VerdictInput perfect() {
    VerdictInput input;
    for (const auto check : kStatic) {
        input.checks.push_back({check, CheckState::passed, "fine", {}, {}});
    }
    input.replay.state = CheckState::passed;
    input.replay.stepsChecked = 10;
    input.replay.stepsTotal = 10;
    input.replay.ranges = {{1, 10}};
    input.clientOrderGiven = true;
    input.trainerKeyKnown = true;
    return input;
}

CheckResult& checkIn(VerdictInput& input, Check check) {
    for (auto& result : input.checks) {
        if (result.check == check) {
            return result;
        }
    }
    throw std::logic_error("no such check");
}

FirstDivergence at(std::uint64_t step, Part part) {
    FirstDivergence where;
    where.source = Source::leaf;
    where.step = step;
    where.part = part;
    return where;
}

TEST(Verdict, perfectAuditIsAccepted) {
    const auto decision = combineVerdict(perfect());
    EXPECT_EQ(decision.verdict, Verdict::accepted);
    EXPECT_EQ(decision.reason, "All 10 steps were replayed and every one ended exactly as the trainer committed; the "
                               "signature is the trainer's.");
    EXPECT_TRUE(decision.warnings.empty());
    EXPECT_FALSE(decision.firstDivergence.has_value());
}

/// All 3^8 states of the checks x what the client gave x the auditor's own trouble: never better than what was checked.
TEST(Verdict, neverBetterThanWhatWasChecked) {
    constexpr std::array kStates{CheckState::notChecked, CheckState::passed, CheckState::failed};
    std::array<int, 4> seen{};
    for (int code = 0; code < 6561 * 16; ++code) {
        int rest = code;
        const auto digit = [&](int base) {
            const int value = rest % base;
            rest /= base;
            return value;
        };
        VerdictInput input = perfect();
        std::array<CheckState, kStatic.size()> states{};
        for (std::size_t i = 0; i < kStatic.size(); ++i) {
            states[i] = kStates.at(static_cast<std::size_t>(digit(3)));
            input.checks[i].state = states[i];
        }
        const auto replay = kStates.at(static_cast<std::size_t>(digit(3)));
        input.replay.state = replay;
        input.clientOrderGiven = digit(2) == 1;
        input.trainerKeyKnown = digit(2) == 1;
        input.replay.auditorAtFault = digit(2) == 1;
        input.replay.logIgnored = digit(2) == 1;
        const auto decision = combineVerdict(input);
        ++seen.at(static_cast<std::size_t>(decision.verdict));

        const auto stateOf = [&](Check check) {
            return states.at(
                static_cast<std::size_t>(std::find(kStatic.begin(), kStatic.end(), check) - kStatic.begin()));
        };
        bool allPassed = replay == CheckState::passed && input.clientOrderGiven && !input.replay.auditorAtFault &&
                         !input.replay.logIgnored;
        bool accusing = replay == CheckState::failed && !input.replay.auditorAtFault && !input.replay.logIgnored;
        bool anything = replay != CheckState::notChecked;
        for (const auto check : kStatic) {
            const auto state = stateOf(check);
            anything = anything || state != CheckState::notChecked;
            accusing = accusing || (state == CheckState::failed && check != Check::data);
            const bool excused = check == Check::signature && !input.trainerKeyKnown && state == CheckState::notChecked;
            allPassed = allPassed && (state == CheckState::passed || excused);
        }
        if (accusing) {
            EXPECT_EQ(decision.verdict, Verdict::rejected) << code;
        } else if (allPassed) {
            EXPECT_EQ(decision.verdict, Verdict::accepted) << code;
        } else {
            EXPECT_TRUE(decision.verdict == Verdict::inconclusive ||
                        (!anything && decision.verdict == Verdict::notChecked))
                << code;
        }
        EXPECT_FALSE(decision.reason.empty());
        EXPECT_EQ(decision.reason.back(), '.');
        EXPECT_EQ(decision.firstDivergence.has_value() && decision.verdict == Verdict::accepted, false);
        if (decision.verdict == Verdict::rejected) {
            EXPECT_TRUE(decision.firstDivergence.has_value());
        }
    }
    for (const int count : seen) {
        EXPECT_GT(count, 0); // the table reached all four verdicts
    }
}

TEST(Verdict, nothingGivenIsNotChecked) {
    const auto decision = combineVerdict({});
    EXPECT_EQ(decision.verdict, Verdict::notChecked);
    EXPECT_EQ(decision.reason, "Nothing has been checked yet.");
}

TEST(Verdict, anyMissingCheckIsNamed) {
    for (const auto check : kStatic) {
        auto input = perfect();
        std::erase_if(input.checks, [&](const CheckResult& result) { return result.check == check; });
        const auto decision = combineVerdict(input);
        EXPECT_EQ(decision.verdict, Verdict::inconclusive) << checkName(check);
        EXPECT_NE(decision.reason.find(checkName(check)), std::string::npos);
        EXPECT_EQ(decision.reason.rfind("not checked: ", 0), 0U) << decision.reason;
    }
}

TEST(Verdict, worseOfTwoReportsCounts) {
    for (const auto state : {CheckState::failed, CheckState::notChecked}) {
        for (const bool front : {true, false}) {
            auto input = perfect();
            const CheckResult second{Check::files, state, "second", {}, {}};
            input.checks.insert(front ? input.checks.begin() : input.checks.end(), second);
            EXPECT_EQ(combineVerdict(input).verdict,
                      state == CheckState::failed ? Verdict::rejected : Verdict::inconclusive);
        }
    }
}

TEST(Verdict, withoutClientOrderAtBestOrderNotCompared) {
    auto input = perfect();
    input.clientOrderGiven = false;
    checkIn(input, Check::order).state = CheckState::notChecked;
    auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::inconclusive);
    EXPECT_EQ(decision.reason.rfind("order not compared", 0), 0U) << decision.reason;
    checkIn(input, Check::order).state = CheckState::passed; // whatever a check may claim
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::inconclusive);
    // A submission that contradicts itself is rejected all the same.
    input.replay.state = CheckState::failed;
    input.replay.divergence = at(3, Part::loss);
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::rejected);
}

TEST(Verdict, unknownKeyIsSaidAloud) {
    auto input = perfect();
    input.trainerKeyKnown = false;
    checkIn(input, Check::signature).state = CheckState::notChecked;
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::accepted);
    EXPECT_NE(decision.reason.find("who made it was not checked (unknown key)"), std::string::npos);
    // With a key known, an unchecked signature is not excused, and a wrong one rejects.
    input.trainerKeyKnown = true;
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::inconclusive);
    auto& signature = checkIn(input, Check::signature);
    signature = {Check::signature, CheckState::failed, "not signed", Part::signature, {}};
    const auto rejected = combineVerdict(input);
    EXPECT_EQ(rejected.verdict, Verdict::rejected);
    EXPECT_EQ(rejected.firstDivergence->part, Part::signature);
    EXPECT_EQ(rejected.reason, "The signature is not what the order demands (not signed).");
}

TEST(Verdict, wrongDataOfTheAuditorAccuseNobody) {
    auto input = perfect();
    checkIn(input, Check::data) = {Check::data, CheckState::failed, "train-images differs", Part::data, {}};
    Finding finding;
    finding.severity = Severity::failure;
    finding.where.part = Part::data;
    finding.text = "train-images differs";
    input.findings.push_back(finding);
    input.replay.state = CheckState::notChecked;
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::inconclusive);
    EXPECT_EQ(decision.firstDivergence->part, Part::data);
    EXPECT_NE(decision.reason.find("train-images differs"), std::string::npos);
    // But it excuses nothing else.
    checkIn(input, Check::files).state = CheckState::failed;
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::rejected);
}

TEST(Verdict, auditorAtFaultAccusesNobody) {
    auto input = perfect();
    input.replay.state = CheckState::failed;
    input.replay.divergence = at(3, Part::stateRoot);
    input.replay.auditorAtFault = true;
    Finding finding{Severity::failure, at(3, Part::stateRoot), "differs"};
    input.findings.push_back(finding);
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::inconclusive);
    EXPECT_EQ(decision.reason.rfind("auditor at fault", 0), 0U);
    EXPECT_FALSE(decision.firstDivergence.has_value());
    // What needs no replay still counts.
    checkIn(input, Check::merkle).state = CheckState::failed;
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::rejected);
}

TEST(Verdict, ignoredLogIsAnExperiment) {
    auto input = perfect();
    input.replay.logIgnored = true;
    auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::inconclusive);
    ASSERT_EQ(decision.warnings.size(), 1U);
    input.replay.state = CheckState::failed;
    input.replay.divergence = at(2, Part::stateRoot);
    decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::inconclusive);
    EXPECT_EQ(decision.firstDivergence->step, 2U); // shown, but nobody's fault
}

TEST(Verdict, failureFindingAloneForbidsAcceptance) {
    auto input = perfect();
    input.findings.push_back({Severity::failure, at(4, Part::logRoot), "an entry that may not be"});
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::rejected);
    EXPECT_EQ(decision.firstDivergence, at(4, Part::logRoot));
    input.findings[0].severity = Severity::warning;
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::accepted);
}

TEST(Verdict, divergenceInAReplayThatCallsItselfPassed) {
    auto input = perfect();
    input.replay.divergence = at(4, Part::loss);
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::rejected);
}

TEST(Verdict, firstPartOfTheListCountsWithinAStep) {
    for (int first = 0; first < kPartCount; ++first) {
        for (int second = 0; second < kPartCount; ++second) {
            if (first == second || static_cast<Part>(first) == Part::data || static_cast<Part>(second) == Part::data) {
                continue;
            }
            auto input = perfect();
            input.findings.push_back({Severity::failure, at(5, static_cast<Part>(first)), "a"});
            input.findings.push_back({Severity::failure, at(5, static_cast<Part>(second)), "b"});
            EXPECT_EQ(combineVerdict(input).firstDivergence->part, static_cast<Part>(std::min(first, second)));
        }
    }
}

TEST(Verdict, earliestStepCountsBeforeTheList) {
    auto input = perfect();
    input.findings.push_back({Severity::failure, at(8, Part::batch), "later"});
    input.findings.push_back({Severity::failure, at(5, Part::chain), "earlier"});
    FirstDivergence stepless;
    stepless.part = Part::batch;
    input.findings.push_back({Severity::failure, stepless, "nowhere"});
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.firstDivergence->step, 5U);
    EXPECT_EQ(decision.firstDivergence->part, Part::chain);
    EXPECT_NE(decision.reason.find("(earlier)"), std::string::npos);
}

TEST(Verdict, betterKnownDivergenceWinsAmongEquals) {
    auto input = perfect();
    checkIn(input, Check::files) = {Check::files, CheckState::failed, "a file differs", Part::logRoot, 5};
    auto known = at(5, Part::logRoot);
    known.site = "blocks.0 / dW";
    known.element = 17;
    input.replay.state = CheckState::failed;
    input.replay.divergence = known;
    EXPECT_EQ(combineVerdict(input).firstDivergence, known);
}

TEST(Verdict, unknownFieldsStayUnknown) {
    auto input = perfect();
    input.replay.state = CheckState::failed; // and nothing is known about where
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::rejected);
    EXPECT_EQ(decision.firstDivergence, FirstDivergence{});
    EXPECT_EQ(decision.reason, "The submission is not what the order demands.");
}

TEST(Verdict, rejectionSentenceNamesValuesAndPlace) {
    auto input = perfect();
    auto where = at(7, Part::loss);
    where.setClaimed(2.25F);
    where.setComputed(0.1F);
    input.replay.state = CheckState::failed;
    input.replay.divergence = where;
    EXPECT_EQ(combineVerdict(input).reason,
              "The loss of step 7 is not what the order demands: the trainer claims 2.25, the audit computes 0.1.");
    where = at(0, Part::initialState);
    where.tensor = "head.weight";
    where.element = 3;
    where.claimed = std::string(64, 'a');
    where.computed = std::string(64, 'b');
    input.replay.divergence = where;
    EXPECT_EQ(
        combineVerdict(input).reason,
        "The initial state before the first step is not what the order demands, in tensor head.weight, element 3: the "
        "trainer claims aaaaaaaaaaaa..., the audit computes bbbbbbbbbbbb....");
}

TEST(Verdict, rejectionSentenceSaysNothingTwice) {
    auto input = perfect();
    input.replay.state = CheckState::failed;
    input.replay.detail = "step 7: the loss is another one";
    input.replay.divergence = at(7, Part::loss);
    const auto without = combineVerdict(input).reason; // no values: the finding's own words say more
    input.replay.divergence->setClaimed(2.25F);
    input.replay.divergence->setComputed(0.1F);
    const auto with = combineVerdict(input).reason;
    EXPECT_NE(without.find("(step 7: the loss is another one)"), std::string::npos) << without;
    EXPECT_EQ(with.find("another one"), std::string::npos) << with;
}

TEST(Verdict, rangeIsAcceptedWithItsScope) {
    auto input = perfect();
    input.replay.scope = Scope::range;
    input.replay.ranges = {{3, 5}};
    input.replay.stepsChecked = 3;
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::accepted);
    EXPECT_EQ(decision.reason, "Of 10 steps, only 3 to 5 were replayed, and every one ended exactly as the trainer "
                               "committed; 7 steps were not replayed; the "
                               "signature is the trainer's.");
    EXPECT_EQ(exitCodeFor(decision.verdict), 0);
}

TEST(Verdict, sampleIsAcceptedWithItsProbabilityRoundedDown) {
    auto input = perfect();
    input.replay.scope = Scope::sample;
    input.replay.ranges = {{1, 2}, {5, 6}};
    input.replay.stepsChecked = 4;
    input.replay.detectionProbability = 0.29999;
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::accepted);
    EXPECT_NE(decision.reason.find("29.9 %"), std::string::npos) << decision.reason;
    input.replay.detectionProbability.reset();
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::inconclusive);
    input.replay.detectionProbability = 1.5;
    EXPECT_EQ(combineVerdict(input).verdict, Verdict::inconclusive);
}

TEST(Verdict, replayThatDidNotDoItsPlanIsNotAccepted) {
    const auto inconclusive = [](auto change) {
        auto input = perfect();
        change(input.replay);
        EXPECT_EQ(combineVerdict(input).verdict, Verdict::inconclusive);
    };
    inconclusive([](ReplayOutcome& replay) { replay.stepsChecked = 9; });
    inconclusive([](ReplayOutcome& replay) { replay.stepsChecked = 11; });
    inconclusive([](ReplayOutcome& replay) { replay.stepsChecked = replay.stepsTotal = 0; });
    for (const auto scope : {Scope::range, Scope::sample}) {
        const auto with = [&](std::vector<StepRange> ranges, std::uint64_t checked) {
            inconclusive([&](ReplayOutcome& replay) {
                replay.scope = scope;
                replay.detectionProbability = 0.5;
                replay.ranges = std::move(ranges);
                replay.stepsChecked = checked;
            });
        };
        with({}, 0);
        with({{3, 5}}, 2);
        with({{5, 3}}, 0);
        with({{0, 2}}, 3);
        with({{9, 11}}, 3);
        with({{1, 3}, {3, 5}}, 6); // overlapping
        with({{5, 6}, {1, 2}}, 4); // not ascending
    }
}

TEST(Verdict, divergedRunIsAcceptedWithItsWarningFirst) {
    auto input = perfect();
    input.replay.diverged = true;
    input.replay.divergedStep = 10;
    input.replay.divergedSite = "blocks.1.mlp / y";
    const auto decision = combineVerdict(input);
    EXPECT_EQ(decision.verdict, Verdict::accepted);
    ASSERT_EQ(decision.warnings.size(), 1U);
    EXPECT_EQ(decision.warnings[0].rfind("The training run broke down at step 10 in blocks.1.mlp / y", 0), 0U);
}

TEST(Verdict, divergenceThatNobodyReplayedExcusesNoMissingStep) {
    for (const auto scope : {Scope::all, Scope::range, Scope::sample}) {
        auto input = perfect();
        input.replay.scope = scope;
        input.replay.detectionProbability = 0.5;
        input.replay.divergenceClaimed = true;
        const auto decision = combineVerdict(input);
        EXPECT_EQ(decision.verdict, Verdict::inconclusive);
        EXPECT_NE(decision.reason.find("broke down at step 10"), std::string::npos) << decision.reason;
        EXPECT_NE(decision.reason.find("--steps 10:10"), std::string::npos) << decision.reason;
        input.replay.diverged = true;
        EXPECT_EQ(combineVerdict(input).verdict, Verdict::accepted);
        EXPECT_EQ(combineVerdict(input).warnings.size(), 1U);
    }
}

TEST(Verdict, applyVerdictFillsTheReport) {
    auto input = perfect();
    input.findings.push_back({Severity::warning, {}, "w"});
    VerifyReport report;
    report.kernelAuditor = "prescott";
    applyVerdict(input, report);
    EXPECT_EQ(report.verdict, Verdict::accepted);
    EXPECT_EQ(report.stepsChecked, 10U);
    EXPECT_EQ(report.ranges, (std::vector<StepRange>{{1, 10}}));
    EXPECT_EQ(report.checks.size(), kStatic.size() + 1); // the replay is listed among the checks
    EXPECT_EQ(report.findings, input.findings);
    EXPECT_EQ(report.kernelAuditor, "prescott");
    EXPECT_FALSE(report.detectionProbability.has_value());
}

TEST(Verdict, exitCodes) {
    EXPECT_EQ(exitCodeFor(Verdict::accepted), 0);
    EXPECT_EQ(exitCodeFor(Verdict::rejected), 1);
    EXPECT_EQ(exitCodeFor(Verdict::inconclusive), 5);
    EXPECT_EQ(exitCodeFor(Verdict::notChecked), 5);
    EXPECT_EQ(Verdict{}, Verdict::notChecked);
}

TEST(Verdict, namesArePersistentAndUnique) {
    const std::array parts{"batch", "learning_rate", "loss",          "log_root", "state_root", "evaluation",
                           "chain", "final_file",    "initial_state", "data",     "signature",  "order"};
    std::set<std::string_view> words;
    for (int i = 0; i < kPartCount; ++i) {
        EXPECT_EQ(partName(static_cast<Part>(i)), parts.at(static_cast<std::size_t>(i)));
        EXPECT_EQ(partFromName(parts.at(static_cast<std::size_t>(i))), static_cast<Part>(i));
        words.insert(partInWords(static_cast<Part>(i)));
    }
    EXPECT_EQ(words.size(), parts.size());
    EXPECT_EQ(partFromName("Batch"), std::nullopt);
    EXPECT_EQ(verdictFromName("not_checked"), Verdict::notChecked);
    EXPECT_EQ(verdictFromName(""), std::nullopt);
    EXPECT_EQ(checkName(Check::finalCheckpoint), "final_checkpoint");
    EXPECT_EQ(sourceFromName("dispute"), Source::dispute);
    EXPECT_EQ(scopeFromName("sample"), Scope::sample);
    EXPECT_EQ(severityFromName("failure"), Severity::failure);
    EXPECT_EQ(checkStateFromName("passed"), CheckState::passed);
}

TEST(FloatText, readsBackAsTheSameValue) {
    EXPECT_EQ(floatText(0.1F), "0.1");
    EXPECT_EQ(floatText(0.0F), "0");
    EXPECT_EQ(floatText(std::numeric_limits<float>::quiet_NaN()), "nan");
    EXPECT_EQ(floatText(-std::numeric_limits<float>::infinity()), "-inf");
    for (const float value : {1e-45F, 3.4028235e38F, -2.7182817F, 16777216.0F, 1.17549435e-38F}) {
        EXPECT_EQ(std::strtof(floatText(value).c_str(), nullptr), value);
    }
}

} // namespace
} // namespace assay::test
