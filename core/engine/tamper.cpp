// SPDX-License-Identifier: Apache-2.0
#include "core/engine/tamper.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/engine/detail/fault_tools.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::array kNames{
    std::pair{FaultKind::weights, "weights"},     std::pair{FaultKind::dataOrder, "data-order"},
    std::pair{FaultKind::skipStep, "skip-step"},  std::pair{FaultKind::learningRate, "lr"},
    std::pair{FaultKind::optimizer, "optimizer"}, std::pair{FaultKind::dropout, "dropout"},
    std::pair{FaultKind::seed, "seed"},           std::pair{FaultKind::loss, "loss"},
    std::pair{FaultKind::site, "site"},           std::pair{FaultKind::checkpoint, "checkpoint"},
    std::pair{FaultKind::logFlip, "log-flip"},    std::pair{FaultKind::logExtra, "log-extra"},
    std::pair{FaultKind::logDrop, "log-drop"},    std::pair{FaultKind::logEmpty, "log-empty"}};

bool editsLog(FaultKind kind) {
    return kind == FaultKind::logFlip || kind == FaultKind::logExtra || kind == FaultKind::logDrop ||
           kind == FaultKind::logEmpty;
}

Result<void> checkOut(const fs::path& out) {
    std::error_code code;
    if (fs::exists(out, code) && !(fs::is_directory(out, code) && fs::is_empty(out, code))) {
        return fail(
            base::Error{ErrorCode::usage, "this place is taken", out.string(), std::nullopt, "give another --out"});
    }
    return {};
}

/// Looks for the plant as an auditor with the same profile would.
Result<void> inspectPlant(const detail::Victim& victim, TamperResult& result) {
    ASSAY_TRY(planted, format::Submission::open(victim.request.out));
    result.root = planted.commitment().root;
    const auto& order = victim.session.order();
    std::uint64_t last = result.step;
    while (last < planted.steps() && !format::stateRootDue(order, last)) {
        ++last; // what only changed the state shows at the next state root
    }
    ReplayRequest request;
    request.spans = {{result.step, std::max(last, result.step)}};
    ASSAY_TRY(replayed, replay(victim.session, victim.data, planted, request, {}, victim.control));
    if (replayed.cancelled) {
        return fail(ErrorCode::cancelled, "stopped while the planted fault was checked");
    }
    if (!replayed.findings.empty()) {
        result.shows = replayed.findings.front().where;
    }
    result.absorbed = !replayed.mismatch;
    return {};
}

} // namespace

std::string_view faultName(FaultKind kind) {
    const auto found =
        std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == kind; });
    return found == kNames.end() ? "?" : found->second;
}

Result<FaultKind> faultFromName(std::string_view name) {
    std::string all;
    for (const auto& [kind, text] : kNames) {
        if (name == text) {
            return kind;
        }
        all += fmt::format("{}{}", all.empty() ? "" : ", ", text);
    }
    return fail(ErrorCode::usage, fmt::format("unknown kind of fault \"{}\"", name), all);
}

Result<TamperResult> tamper(const TamperRequest& request, const base::ProgressFn& progress, RunControl& control) {
    ASSAY_CHECK(checkOut(request.out));
    ASSAY_TRY(submission, format::Submission::open(request.submission));
    if (request.kind == FaultKind::checkpoint) {
        auto result = detail::plantCheckpointEdit(request, submission);
        if (result) {
            result->root = submission.commitment().root;
        }
        return result;
    }
    if (request.dataFolder.empty()) {
        return fail(ErrorCode::usage, "this kind of fault needs the training data", "--data DIR");
    }
    ASSAY_TRY(data, format::Dataset::open(submission.order().data, request.dataFolder, progress, control.stopToken()));
    ASSAY_TRY(session, Session::create(submission.order(), submission.program(), request.profile));
    const detail::Victim victim{request, submission, data, session, progress, control};
    if (victim.lastStep() == 0 || (request.step && (*request.step < 1 || *request.step > victim.lastStep()))) {
        return fail(ErrorCode::usage,
                    victim.lastStep() == 0
                        ? std::string("the submission has no step that a fault could be planted into")
                        : fmt::format("there is no step {}, expected 1 to {}", *request.step, victim.lastStep()));
    }
    auto result = editsLog(request.kind) ? detail::plantLogEdit(victim) : detail::plantLie(victim);
    auto inspected = result ? inspectPlant(victim, *result) : Result<void>{};
    const bool pointless = result && inspected && result->absorbed && request.kind != FaultKind::logFlip;
    if (!result || !inspected || pointless) {
        std::error_code code;
        fs::remove_all(request.out, code);
    }
    if (!result) {
        return result;
    }
    if (!inspected) {
        return fail(std::move(inspected).error());
    }
    if (pointless) {
        return fail(ErrorCode::notApplicable,
                    fmt::format("{}: it changes nothing that is committed, the run stays a valid one", result->text),
                    "choose another step or element");
    }
    return result;
}

} // namespace assay::engine
