// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/inspect.h"

#include <bit>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/input.h"
#include "app/cli/verbs/order_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/crypto/dsse.h"
#include "core/format/submission.h"
#include "core/models/built_in.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

std::string profileText(const std::vector<format::ProfileRange>& ranges) {
    std::vector<std::string> parts;
    for (const auto& range : ranges) {
        parts.push_back(fmt::format("{} (steps {}-{})", printable(range.profile), range.firstStep, range.lastStep));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> signers(const format::Submission& submission) {
    std::vector<std::string> ids;
    if (const auto envelope = crypto::parseEnvelope(submission.envelopeText())) {
        for (const auto& signature : envelope->signatures) {
            ids.push_back(signature.keyId);
        }
    }
    return ids;
}

} // namespace

Result<Inspection> inspectSubmission(const fs::path& path) {
    ASSAY_TRY(s, format::Submission::open(path));
    std::uint64_t bytes = 0;
    for (const auto& file : s.manifest().files) {
        bytes += file.size;
    }
    const auto ids = signers(s);
    const auto parameters = models::parameterCount(s.program());
    const auto steps = s.steps();
    std::optional<float> firstLoss;
    std::optional<float> lastLoss;
    if (steps >= 1) {
        ASSAY_TRY(first, s.step(1));
        ASSAY_TRY(last, s.step(steps));
        firstLoss = std::bit_cast<float>(first.leaf.lossBits);
        lastLoss = std::bit_cast<float>(last.leaf.lossBits);
    }
    Inspection result;
    JsonArray checkpoints;
    for (const auto step : s.checkpoints()) {
        checkpoints.add(step);
    }
    JsonArray keyIds;
    for (const auto& id : ids) {
        keyIds.add(id);
    }
    JsonArray profiles;
    for (const auto& range : s.attestation().profiles) {
        profiles.raw(JsonObject()
                         .add("first", range.firstStep)
                         .add("last", range.lastStep)
                         .add("profile", range.profile)
                         .text());
    }
    const auto loss = [](const std::optional<float>& value) {
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    result.json.add("kind", "submission").add("path", path.string()).add("title", s.order().title);
    result.json.add("order", s.orderDigest().toHex())
        .add("program", s.programDigest().toHex())
        .add("parameters", parameters);
    result.json.add("root", s.commitment().root.toHex()).add("leaves", s.leaves()).add("steps", steps);
    result.json.add("diverged", s.commitment().diverged)
        .add("first_loss", loss(firstLoss))
        .add("last_loss", loss(lastLoss));
    result.json.add("checkpoints", checkpoints).add("files", s.manifest().files.size() + 2).add("bytes", bytes);
    result.json.add("log_bytes", s.logBytes()).add("signer_key_ids", keyIds).add("profiles", profiles);
    result.json.add("engine", s.attestation().engineVersion);

    std::vector<std::string> marks;
    for (const auto step : s.checkpoints()) {
        marks.push_back(marks.size() < 12 ? std::to_string(step) : "...");
        if (marks.back() == "...") {
            break;
        }
    }
    result.text = "Submission (what it claims; nothing here is verified)\n";
    std::vector<std::vector<std::string>> rows{
        {"root", s.commitment().root.toHex()},
        {"leaves", fmt::format("{} ({} steps and the initial state){}", grouped(s.leaves()), grouped(steps),
                               s.commitment().diverged ? "; the run ended at a value that was not finite" : "")},
        {"kernels", profileText(s.attestation().profiles)},
        {"checkpoints", s.checkpoints().empty()
                            ? "none"
                            : fmt::format("{} (steps {})", s.checkpoints().size(), fmt::join(marks, ", "))},
        {"rounding logs", fmt::format("{}{}", byteText(s.logBytes()),
                                      steps > 0 ? fmt::format(", {} a step", byteText(s.logBytes() / steps)) : "")},
        {"files", fmt::format("{} with {}", grouped(s.manifest().files.size() + 2), byteText(bytes))},
        {"signed by", ids.empty() ? "nobody"
                                  : fmt::format("{} (not verified: see assay verify)",
                                                printable(fmt::format("{}", fmt::join(ids, ", "))))},
        {"made by", printable(s.attestation().engineVersion)},
    };
    if (firstLoss) {
        rows.insert(rows.begin() + 2,
                    {"loss claimed", fmt::format("{:.4f} in step 1, {:.4f} in step {}", *firstLoss, *lastLoss, steps)});
    }
    result.text += alignColumns(rows);
    result.text += "\nIts copy of the order (verify uses yours)\n";
    std::string order = describeOrder(s.order(), s.orderDigest(), parameters);
    for (std::string_view rest = order; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        result.text += fmt::format("  {}\n", rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    result.text +=
        fmt::format("\nProgram\n  {} operators: {}\n", s.program().operators.size(), operatorCensus(s.program()));
    return result;
}

namespace {

/// A folder: submission, unfinished submission, or order.
Result<Inspection> inspectFolder(const fs::path& path) {
    std::error_code code;
    if (fs::exists(path / format::kManifestName, code)) {
        return inspectSubmission(path);
    }
    if (fs::exists(path / format::kJournalName, code)) {
        Inspection result;
        const auto committed = fs::file_size(path / format::kLeavesName, code);
        const std::uint64_t leaves = code ? 0 : committed / 32;
        result.json.add("kind", "unfinished-submission").add("path", path.string()).add("leaves", leaves);
        result.text = fmt::format(
            "Unfinished submission: {} leaves are committed. Go on with: assay train ORDER --out {} --resume\n", leaves,
            shellWord(path.string()));
        return result;
    }
    if (fs::exists(path / format::kOrderName, code)) {
        return inspectFile(path / format::kOrderName);
    }
    return fail(Error{ErrorCode::malformed,
                      "this folder is neither a submission (no manifest.json) nor an order (no order.json)",
                      path.string(), std::nullopt, "name a submission, an order, or one file"});
}

Result<int> runInspect(Session& session, const std::string& path) {
    std::error_code code;
    const auto status = fs::status(path, code);
    if (!fs::exists(status)) {
        return fail(
            Error{ErrorCode::unreadable, "there is no such file or folder", path, std::nullopt, "check the path"});
    }
    ASSAY_TRY(result, fs::is_directory(status) ? inspectFolder(path) : inspectFile(path));
    if (session.json) {
        session.console.printLine(result.json.text());
    } else {
        session.console.print(result.text);
    }
    return 0;
}

} // namespace

void addInspect(VerbSpec& root, Session& session) {
    auto& verb =
        root.verb("inspect", "Show what is in a submission, bundle, log, checkpoint, order, program, envelope or key");
    verb.about("Nothing is executed and nothing is verified: this shows what a file claims.");
    auto path = std::make_shared<std::string>();
    verb.argument("PATH", "file or folder", *path);
    addJsonOption(verb, session);
    verb.action([path](Session& s) { return runInspect(s, *path); });
}

} // namespace assay::cli
