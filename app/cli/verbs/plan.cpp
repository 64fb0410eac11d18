// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/cli/verbs/verbs.h"
#include "core/audit/plan.h"
#include "core/format/submission.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct PlanOptions {
    std::string submission;
    std::uint64_t bad = 1;
    std::string budget;
    std::optional<float> secondsPerStep;
    std::optional<float> detection;
};

/// "500" steps, or a time: "90s", "15m", "2h".
Result<void> applyBudget(const std::string& text, audit::PlanRequest& request) {
    double unit = 0;
    switch (text.empty() ? '\0' : text.back()) {
    case 's':
        unit = 1;
        break;
    case 'm':
        unit = 60;
        break;
    case 'h':
        unit = 3600;
        break;
    default:
        break;
    }
    const auto number = text.substr(0, text.size() - (unit > 0 ? 1 : 0));
    if (unit == 0) {
        auto steps = parseInteger(number, 1, VerbSpec::kLargestInteger);
        if (!steps) {
            return fail(ErrorCode::usage,
                        fmt::format("--budget is \"{}\", expected steps (500) or a time (90s, 15m, 2h)", text));
        }
        request.budgetSteps = *steps;
        return {};
    }
    const auto amount = parseReal(number, 0.0f);
    if (!amount || *amount <= 0) {
        return fail(ErrorCode::usage,
                    fmt::format("--budget is \"{}\", expected steps (500) or a time (90s, 15m, 2h)", text));
    }
    if (!request.secondsPerStep) {
        return fail(ErrorCode::usage, "a budget in time needs to know how long a step takes",
                    "--seconds-per-step X (an earlier verify shows it), or a budget in steps");
    }
    request.budgetSeconds = static_cast<double>(*amount) * unit;
    return {};
}

Result<int> runPlan(Session& session, const PlanOptions& options) {
    audit::PlanRequest request;
    request.bad = options.bad;
    if (options.secondsPerStep) {
        request.secondsPerStep = static_cast<double>(*options.secondsPerStep);
    }
    if (options.detection) {
        request.wantedDetection = static_cast<double>(*options.detection);
    }
    if (!options.budget.empty()) {
        ASSAY_CHECK(applyBudget(options.budget, request));
    }
    ASSAY_TRY(submission, format::Submission::open(options.submission));
    ASSAY_TRY(segments, audit::segmentsOf(submission.steps(), submission.checkpoints()));
    ASSAY_TRY(table, audit::makePlan(segments, request));
    if (session.json) {
        session.console.printLine(audit::planToJson(table));
        return 0;
    }
    session.console.print(fmt::format("{} steps in {} segments between checkpoints; {} bad\n\n",
                                      grouped(table.stepsTotal), grouped(table.segmentsTotal), grouped(table.bad)));
    const bool timed = request.secondsPerStep.has_value();
    std::vector<std::vector<std::string>> rows{
        {"", "segments", "steps (mean)", "steps (most)", "bad segments found", "bad steps found"}};
    if (timed) {
        rows[0].emplace_back("time");
    }
    const auto recommended = table.recommended ? table.recommended->segments : 0;
    for (const auto& row : table.rows) {
        rows.push_back({row.segments == recommended ? ">" : "", grouped(row.segments),
                        fmt::format("{:.1f}", row.stepsExpected), grouped(row.stepsAtMost),
                        fmt::format("{:.2f} %", 100 * row.detectionSegments),
                        fmt::format("{:.2f} %", 100 * row.detectionSteps)});
        if (timed) {
            rows.back().push_back(row.seconds ? durationText(*row.seconds) : "?");
        }
    }
    session.console.print(alignColumns(rows, ""));
    session.console.print(fmt::format("\n{}\n", table.why));
    if (recommended > 0) {
        session.console.print(fmt::format("Next: assay verify {} --order ORDER --sample {}\n",
                                          shellWord(options.submission), recommended));
    }
    return 0;
}

} // namespace

void addPlan(VerbSpec& root, Session& session) {
    auto& verb = root.verb("plan", "How many segments to sample for which detection probability, and what it costs");
    verb.about("\"Bad segments found\" is the chance to draw at least one of K bad segments; \"bad steps found\" that "
               "for K bad steps "
               "which the trainer packed into as few segments as possible.");
    auto o = std::make_shared<PlanOptions>();
    verb.argument("SUBMISSION", "folder, or .assay file", o->submission);
    verb.integer("--bad", "K", "bad segments, or bad steps, that must not slip through", o->bad, 1).byDefault("1");
    verb.text("--budget", "T", "replay at most this: steps (500) or a time (90s, 15m, 2h)", o->budget);
    verb.real("--seconds-per-step", "X", "speed of the replay, for times", o->secondsPerStep, 1e-9f);
    verb.real("--detection", "P", "recommend the smallest sample that reaches this probability, 0 to 1", o->detection,
              0.0f);
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runPlan(s, *o); });
    verb.example("assay plan run --bad 3 --budget 200",
                 "what 200 steps of replay are worth against three bad segments");
}

} // namespace assay::cli
