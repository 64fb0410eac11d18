// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/audit/verdict.h"

namespace assay::audit {

namespace {

/// State of every check with its detail; the worse of two reports of the same check counts.
class CheckTable {
public:
    explicit CheckTable(const std::vector<CheckResult>& checks) {
        for (const auto& check : checks) {
            auto& slot = m_slots.at(static_cast<std::size_t>(check.check));
            if (!slot.seen || badness(check.state) > badness(slot.state)) {
                slot = {check.state, true, check.detail};
            }
        }
    }
    [[nodiscard]] CheckState state(Check check) const { return slot(check).state; }
    [[nodiscard]] const std::string& detail(Check check) const { return slot(check).detail; }
    [[nodiscard]] bool nothingDone() const {
        return std::all_of(m_slots.begin(), m_slots.end(),
                           [](const Slot& slot) { return slot.state == CheckState::notChecked; });
    }

private:
    struct Slot {
        CheckState state = CheckState::notChecked;
        bool seen = false;
        std::string detail;
    };
    static int badness(CheckState state) {
        return state == CheckState::failed ? 2 : state == CheckState::notChecked ? 1 : 0;
    }
    [[nodiscard]] const Slot& slot(Check check) const { return m_slots.at(static_cast<std::size_t>(check)); }
    std::array<Slot, kCheckCount> m_slots;
};

/// The checks that need no replay and whose failure speaks against the submission.
constexpr std::array kAccusing{Check::signature, Check::order,        Check::files,
                               Check::merkle,    Check::initialState, Check::finalCheckpoint};
/// What must have passed before anything is accepted; signature and order have rules of their own.
constexpr std::array kRequired{Check::files, Check::merkle, Check::initialState, Check::data, Check::finalCheckpoint};

std::string capitalised(std::string text) {
    if (!text.empty()) {
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    }
    return text;
}

std::string steps(std::uint64_t count) {
    return count == 1 ? "1 step" : fmt::format("{} steps", count);
}

std::uint64_t lengthOf(const StepRange& range) {
    return range.last - range.first + 1;
}

/// Why a replay that calls itself passed did not do what it says; empty if it did.
std::string doubtAbout(const ReplayOutcome& replay) {
    if (replay.stepsTotal == 0) {
        return "the submission has no steps";
    }
    if (replay.divergenceClaimed && !replay.diverged) {
        return fmt::format(
            "the trainer claims that the run broke down at step {0}, which was not replayed; include it, "
            "for example with --steps {0}:{0}",
            replay.stepsTotal);
    }
    if (replay.scope == Scope::all) {
        return replay.stepsChecked == replay.stepsTotal
                   ? std::string()
                   : fmt::format("only {} of {} were replayed", replay.stepsChecked, steps(replay.stepsTotal));
    }
    std::uint64_t planned = 0;
    std::uint64_t previous = 0;
    for (const auto& range : replay.ranges) {
        if (range.first <= previous || range.last < range.first || range.last > replay.stepsTotal) {
            return "the planned ranges are not ranges of this submission";
        }
        planned += lengthOf(range);
        previous = range.last;
    }
    if (planned == 0) {
        return "no steps were planned";
    }
    if (planned != replay.stepsChecked) {
        return fmt::format("only {} of {} planned were replayed", replay.stepsChecked, steps(planned));
    }
    if (replay.scope == Scope::sample && !(replay.detectionProbability >= 0.0 && replay.detectionProbability <= 1.0)) {
        return "the detection probability of the sample is unknown";
    }
    return {};
}

/// Earliest step first, then the order of Part; what has no step or no part comes last.
bool comesBefore(const FirstDivergence& a, const FirstDivergence& b) {
    static constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();
    const auto rank = [](const FirstDivergence& where) {
        return std::pair(where.step.value_or(kNever), where.part ? static_cast<int>(*where.part) : kPartCount);
    };
    return rank(a) < rank(b);
}

/// Number of known fields, to prefer the better evidence among equals.
int knowledge(const FirstDivergence& where) {
    return where.source.has_value() + where.tensor.has_value() + where.operator_.has_value() + where.site.has_value() +
           where.element.has_value() + where.claimed.has_value() + where.computed.has_value();
}

struct Candidate {
    FirstDivergence where;
    std::string text;
};

std::optional<Candidate> firstOf(const std::vector<Candidate>& candidates) {
    const auto first =
        std::min_element(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
            if (comesBefore(a.where, b.where) || comesBefore(b.where, a.where)) {
                return comesBefore(a.where, b.where);
            }
            return knowledge(a.where) > knowledge(b.where);
        });
    return first == candidates.end() ? std::nullopt : std::optional(*first);
}

std::string shortened(const std::string& value) {
    return value.size() == 64 ? value.substr(0, 12) + "..." : value; // digests: long forms are in the report
}

std::string rejection(const Candidate& candidate) {
    const auto& where = candidate.where;
    std::string text = where.part ? capitalised(std::string(partInWords(*where.part))) : "The submission";
    if (where.step) {
        text += *where.step == 0 ? " before the first step" : fmt::format(" of step {}", *where.step);
    }
    text += " is not what the order demands";
    if (where.site) {
        text += fmt::format(", at {}", *where.site);
    } else if (where.tensor) {
        text += fmt::format(", in tensor {}", *where.tensor);
    }
    if (where.element) {
        text += fmt::format(", element {}", *where.element);
    }
    if (where.claimed && where.computed) {
        text += fmt::format(": the trainer claims {}, the audit computes {}", shortened(*where.claimed),
                            shortened(*where.computed));
    } else if (!candidate.text.empty()) { // with both values the finding's own words would only repeat them
        text += fmt::format(" ({})", candidate.text);
    }
    return text + ".";
}

std::string rangesInWords(const std::vector<StepRange>& ranges) {
    std::string text;
    for (const auto& range : ranges) {
        text += text.empty() ? "" : ", ";
        text += range.first == range.last ? fmt::format("{}", range.first)
                                          : fmt::format("{} to {}", range.first, range.last);
    }
    return text;
}

/// Rounded down, so that a sample never sounds surer than it is.
std::string percentage(double probability) {
    const double permille = std::floor(probability * 1000.0);
    return fmt::format("{:.1f} %", permille / 10.0);
}

std::string acceptance(const ReplayOutcome& replay, bool signatureKnown) {
    std::string text;
    const auto others = replay.stepsTotal - replay.stepsChecked;
    switch (replay.scope) {
    case Scope::all:
        text = replay.stepsTotal == 1
                   ? "The only step was replayed and ended exactly as the trainer committed"
                   : fmt::format("All {} steps were replayed and every one ended exactly as the trainer committed",
                                 replay.stepsTotal);
        break;
    case Scope::range:
        text = fmt::format("Of {}, only {} {} replayed, and {} exactly as the trainer committed; {} not replayed",
                           steps(replay.stepsTotal), rangesInWords(replay.ranges),
                           replay.stepsChecked == 1 ? "was" : "were",
                           replay.stepsChecked == 1 ? "it ended" : "every one ended",
                           others == 0   ? "none was"
                           : others == 1 ? "1 step was"
                                         : fmt::format("{} steps were", others));
        break;
    case Scope::sample:
        text = fmt::format("Of {}, {} drawn by lot{} were replayed, and every one ended exactly as the trainer "
                           "committed; a single bad segment would "
                           "have been found with a probability of {}",
                           steps(replay.stepsTotal), replay.stepsChecked,
                           replay.diverged ? " or leading to the breakdown" : "",
                           percentage(*replay.detectionProbability));
        break;
    }
    return text +
           (signatureKnown ? "; the signature is the trainer's." : "; who made it was not checked (unknown key).");
}

std::vector<std::string> warningsOf(const ReplayOutcome& replay) {
    std::vector<std::string> warnings;
    if (replay.diverged) {
        warnings.push_back(fmt::format("The training run broke down{}{}: a number there is no longer finite. The "
                                       "verdict speaks only of the steps up to "
                                       "that point, and there is no usable final model.",
                                       replay.divergedStep ? fmt::format(" at step {}", *replay.divergedStep) : "",
                                       replay.divergedSite.empty() ? "" : fmt::format(" in {}", replay.divergedSite)));
    }
    if (replay.logIgnored) {
        warnings.emplace_back("The rounding log was ignored: this is an experiment, not an audit.");
    }
    return warnings;
}

} // namespace

VerdictDecision combineVerdict(const VerdictInput& input) {
    const CheckTable table(input.checks);
    const auto& replay = input.replay;
    VerdictDecision decision;
    decision.warnings = warningsOf(replay);

    const bool replayFailed =
        replay.state == CheckState::failed || replay.divergence || table.state(Check::replay) == CheckState::failed;
    // A replay without the log, or by an auditor that contradicts itself, is evidence against nobody.
    const bool replayCounts = !replay.auditorAtFault && !replay.logIgnored;

    std::vector<Candidate> against;
    std::vector<Candidate> dataOnly;
    bool accused = false;
    for (const auto& check : input.checks) {
        if (check.state != CheckState::failed || (check.check == Check::replay && !replayCounts)) {
            continue;
        }
        Candidate candidate{{}, check.detail};
        candidate.where.part = check.part;
        candidate.where.step = check.step;
        if (check.check == Check::data) {
            dataOnly.push_back(std::move(candidate));
        } else {
            against.push_back(std::move(candidate));
            accused = true;
        }
    }
    const bool staticFailure = std::any_of(kAccusing.begin(), kAccusing.end(),
                                           [&](Check check) { return table.state(check) == CheckState::failed; });
    bool failureFound = false;
    for (const auto& finding : input.findings) {
        if (finding.severity != Severity::failure) {
            continue;
        }
        if (finding.where.part == Part::data) {
            dataOnly.push_back({finding.where, finding.text});
        } else {
            failureFound = true;
            if (replayCounts || staticFailure) {
                against.push_back({finding.where, finding.text});
            }
        }
    }
    if (replay.divergence && replayCounts) {
        against.push_back({*replay.divergence, replay.detail});
    }
    accused = accused || ((replayFailed || failureFound) && replayCounts);

    if (accused) {
        decision.verdict = Verdict::rejected;
        const auto first = firstOf(against);
        decision.firstDivergence = first ? first->where : FirstDivergence{};
        decision.reason = rejection(first ? *first : Candidate{{}, replay.detail});
        return decision;
    }

    decision.verdict = Verdict::inconclusive;
    if (replay.auditorAtFault) {
        decision.reason = fmt::format("auditor at fault: the repetition of the same steps on this machine gave another "
                                      "result, so it cannot judge{}{}.",
                                      replay.detail.empty() ? "" : ": ", replay.detail);
        return decision;
    }
    if (!dataOnly.empty()) {
        const auto first = firstOf(dataOnly);
        decision.firstDivergence = first->where;
        decision.firstDivergence->part = Part::data;
        decision.reason = fmt::format("data not at hand: the auditor's own data files are not those of the order, so "
                                      "nothing can be said about the "
                                      "trainer{}{}.",
                                      first->text.empty() ? "" : ": ", first->text);
        return decision;
    }
    if (replay.logIgnored) {
        decision.firstDivergence = replay.divergence;
        decision.reason = replayFailed ? "log ignored: without the rounding log this machine's own rounding leads "
                                         "elsewhere, which says nothing against the "
                                         "trainer."
                                       : "log ignored: an experiment without the rounding log is no audit.";
        return decision;
    }

    std::string missing;
    const auto miss = [&](std::string_view name, const std::string& detail) {
        missing += missing.empty() ? "" : ", ";
        missing += name;
        missing += detail.empty() ? "" : fmt::format(" ({})", detail);
    };
    if (input.trainerKeyKnown && table.state(Check::signature) != CheckState::passed) {
        miss(checkName(Check::signature), table.detail(Check::signature));
    }
    if (input.clientOrderGiven && table.state(Check::order) != CheckState::passed) {
        miss(checkName(Check::order), table.detail(Check::order));
    }
    for (const auto check : kRequired) {
        if (table.state(check) != CheckState::passed) {
            miss(checkName(check), table.detail(check));
        }
    }
    const auto doubt = replay.state == CheckState::passed ? doubtAbout(replay) : replay.detail;
    if (replay.state != CheckState::passed || !doubt.empty()) {
        miss(checkName(Check::replay), doubt);
    }
    if (replay.state == CheckState::notChecked && table.nothingDone()) {
        decision.verdict = Verdict::notChecked;
        decision.reason = "Nothing has been checked yet.";
        return decision;
    }
    if (!missing.empty()) {
        decision.reason = fmt::format("not checked: {}.", missing);
        if (!input.clientOrderGiven) {
            decision.reason += " The order was not compared either.";
        }
        return decision;
    }
    if (!input.clientOrderGiven) {
        decision.reason = "order not compared: the client's own order was not given, so the submission was only "
                          "compared with what it says about itself.";
        return decision;
    }
    decision.verdict = Verdict::accepted;
    decision.reason = acceptance(replay, input.trainerKeyKnown);
    return decision;
}

void applyVerdict(const VerdictInput& input, VerifyReport& report) {
    auto decision = combineVerdict(input);
    report.verdict = decision.verdict;
    report.reason = std::move(decision.reason);
    report.warnings = std::move(decision.warnings);
    report.firstDivergence = std::move(decision.firstDivergence);
    report.checks = input.checks;
    report.findings = input.findings;
    report.stepsChecked = input.replay.stepsChecked;
    report.stepsTotal = input.replay.stepsTotal;
    report.scope = input.replay.scope;
    report.ranges = input.replay.ranges;
    if (report.scope == Scope::all && report.stepsTotal > 0) {
        report.ranges = {{1, report.stepsTotal}};
    }
    report.detectionProbability = report.scope == Scope::sample ? input.replay.detectionProbability : std::nullopt;
    report.logIgnored = input.replay.logIgnored;
    const bool listed = std::any_of(report.checks.begin(), report.checks.end(),
                                    [](const CheckResult& check) { return check.check == Check::replay; });
    if (!listed) {
        CheckResult replay{Check::replay, input.replay.state, input.replay.detail, {}, {}};
        if (input.replay.divergence) {
            replay.part = input.replay.divergence->part;
            replay.step = input.replay.divergence->step;
        }
        report.checks.push_back(std::move(replay));
    }
}

} // namespace assay::audit
