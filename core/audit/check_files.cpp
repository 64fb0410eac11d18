// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/format.h>

#include "core/audit/detail/outcome.h"
#include "core/audit/static_checks.h"
#include "core/base/words.h"

namespace assay::audit {

using detail::Outcome;

namespace {

/// Step of "logs/000012.rlog" and the like; only names exactly as they are written count.
std::optional<std::uint64_t> stepOf(std::string_view name, std::string_view folder,
                                    std::string (*nameOf)(std::uint64_t)) {
    if (name.substr(0, folder.size()) != folder) {
        return std::nullopt;
    }
    const auto digits = name.substr(folder.size());
    std::uint64_t step = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    return parsed.ec == std::errc() && nameOf(step) == name ? std::optional(step) : std::nullopt;
}

} // namespace

FilePart partOfFile(std::string_view name, std::uint64_t lastStep) {
    if (const auto step = stepOf(name, "logs/", format::logName)) {
        return {Part::logRoot, step, Source::log};
    }
    if (const auto step = stepOf(name, "checkpoints/", format::checkpointName)) {
        return {*step == lastStep ? Part::finalFile : Part::stateRoot, step, Source::checkpoint};
    }
    if (name == format::kInitName) {
        return {Part::initialState, 0, Source::checkpoint};
    }
    if (name == format::kOrderName || name == format::kProgramName) {
        return {Part::order, std::nullopt, std::nullopt};
    }
    return {Part::chain, std::nullopt, std::nullopt};
}

base::Result<CheckOutcome> checkFiles(const format::Submission& submission, const base::ProgressFn& progress,
                                      std::stop_token stop) {
    Outcome outcome(Check::files);
    ASSAY_TRY(differences, submission.verifyFiles(progress, stop));
    for (const auto& difference : differences) {
        const auto part = partOfFile(difference.name, submission.steps());
        FirstDivergence where;
        where.source = part.source;
        where.step = part.step;
        outcome.fail(part.part, where, fmt::format("{}: {}", difference.name, difference.text));
    }
    return outcome.finish(
        base::counted(submission.manifest().files.size(), "file has its digest", "files have the digests") +
        " of the manifest");
}

CheckOutcome checkOrder(const format::Submission& submission, const AuditorInputs& inputs) {
    Outcome outcome(Check::order);
    const auto& order = inputs.order(submission);
    for (const auto& difference : format::describeDifferences(order, submission.order())) {
        FirstDivergence where;
        where.computed = difference.a;
        where.claimed = difference.b;
        outcome.fail(Part::order, where,
                     fmt::format("{}: the client ordered {}, the submission says {}", difference.field, difference.a,
                                 difference.b));
    }
    if (!outcome.failed() && format::orderDigest(order) != submission.orderDigest()) {
        outcome.fail(Part::order, {}, "the submission's order.json has another digest than the client's order");
    }
    if (submission.programDigest() != order.program) {
        FirstDivergence where;
        where.claimed = submission.programDigest().toHex();
        where.computed = order.program.toHex();
        outcome.fail(Part::order, where, "program.json is not the program of the order");
    }
    if (!inputs.clientOrder) {
        return outcome.finishUnchecked("no client order was given");
    }
    return outcome.finish(fmt::format("equal to the client's order {}", submission.orderDigest().shortHex()));
}

base::Result<DataOutcome> checkData(const format::Submission& submission, const AuditorInputs& inputs,
                                    const base::fs::path& dataFolder, const base::ProgressFn& progress,
                                    std::stop_token stop) {
    Outcome outcome(Check::data);
    auto opened = format::Dataset::open(inputs.order(submission).data, dataFolder, progress, stop);
    if (!opened) {
        if (opened.error().code != base::ErrorCode::malformed) {
            return base::fail(std::move(opened).error());
        }
        outcome.fail(Part::data, {}, opened.error().toString());
        return DataOutcome{outcome.finish({}), std::nullopt};
    }
    const auto detail =
        fmt::format("{} and {} are those of the order", base::counted(opened->spec().files.size(), "file", "files"),
                    base::counted(opened->size(), "sample", "samples"));
    return DataOutcome{outcome.finish(detail), std::move(*opened)};
}

} // namespace assay::audit
