// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "app/cli/engine_job.h"
#include "app/cli/engine_result.h"
#include "app/cli/input.h"
#include "app/cli/interrupt.h"
#include "app/cli/verbs/kernel_option.h"
#include "app/cli/verbs/order_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/crypto/ed25519.h"
#include "core/format/submission.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

struct TrainOptions {
    std::string order;
    std::string out;
    std::string data;
    std::string kernel;
    std::string key;
    std::string siteDigests;
    bool resume = false;
};

/// The key to sign with: the given one, or trainer.pem beside the order. Says so where the signature will not count.
Result<std::string> chooseKey(Session& session, const TrainOptions& options, const fs::path& orderFile,
                              const format::Order& order) {
    std::string file = options.key;
    std::error_code code;
    if (file.empty()) {
        const auto beside = orderFile.parent_path() / "trainer.pem";
        if (!fs::exists(beside, code)) {
            session.console.warn(
                "no --key given and no trainer.pem beside the order: the submission will not be signed");
            return std::string();
        }
        file = beside.string();
    }
    ASSAY_TRY(key, crypto::readPrivateKey(file));
    ASSAY_TRY(publicKey, key.publicKey());
    const auto& known = order.trainerKeys;
    if (std::find(known.begin(), known.end(), publicKey.toHex()) == known.end()) {
        session.console.warn(
            fmt::format("the order does not name the key in {}: an auditor will not count its signature", file));
    }
    return file;
}

bool isMissingOrEmpty(const fs::path& folder) {
    std::error_code code;
    return !fs::exists(folder, code) || (fs::is_directory(folder, code) && fs::is_empty(folder, code));
}

Result<int> runTrain(Session& session, const TrainOptions& options) {
    ASSAY_TRY(orderFile, findOrder(options.order));
    ASSAY_TRY(order, readOrder(orderFile));
    ASSAY_TRY(key, chooseKey(session, options, orderFile, order));
    const fs::path out = options.out.empty() ? orderFile.parent_path() / "submission" : fs::path(options.out);
    const bool resume = options.resume && !isMissingOrEmpty(out);
    if (options.resume && !resume) {
        session.console.note(fmt::format("nothing to resume in {}: starting at step 1", out.string()));
    }
    EngineRequest request("train");
    request.set("order", orderFile.string()).set("out", out.string());
    request.set("data", dataFolder(options.data, orderFile).string()).set("kernel", options.kernel).set("key", key);
    request.set("site_digests", options.siteDigests).setIf("resume", resume);
    Interrupt interrupt;
    const auto start = std::chrono::steady_clock::now();
    ASSAY_TRY(end, runEngine(session, request, interrupt.token(),
                             [&](const audit::EngineEvent& event, std::string_view) -> Result<void> {
                                 if (const auto* finding = std::get_if<audit::FindingEvent>(&event)) {
                                     session.console.warn(finding->finding.text);
                                 }
                                 return {};
                             }));
    if (end.exitCode != 0 || !end.result) {
        const auto again = session.commandWith("--resume");
        auto error = explainEnd(end, again);
        std::error_code code;
        if (error.code == ErrorCode::environment && fs::exists(out / format::kJournalName, code) &&
            error.remedy.find(again) == std::string::npos) {
            error.remedy += fmt::format("{}what was trained is kept: {}", error.remedy.empty() ? "" : "; ", again);
        }
        return fail(std::move(error));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (session.json) {
        session.console.printLine(withSchema("assay.train", *end.result));
        return 0;
    }
    const EngineResult result(*end.result);
    const auto steps = result.integer("steps").value_or(0);
    const auto logBytes = result.integer("log_bytes").value_or(0);
    if (result.flag("diverged")) {
        session.console.warn(fmt::format("the training met a value that is not finite at {} and ended with step {}",
                                         result.text("diverged_site").value_or("an unknown site"), steps));
    }
    std::vector<std::vector<std::string>> rows{
        {"submission", out.string()},
        {"steps",
         fmt::format("{} in {} under {}", grouped(steps), durationText(seconds), result.text("kernel").value_or("?"))},
        {"loss", fmt::format("{:.4f} at first, {:.4f} at last", result.number("first_loss").value_or(0),
                             result.number("last_loss").value_or(0))},
        {"rounding log",
         fmt::format("{} entries, {}", grouped(result.integer("entries").value_or(0)), byteText(logBytes))},
        {"root", result.text("root").value_or("?")},
        {"signature", result.flag("signed") ? "signed with " + key : "none"},
    };
    session.console.print(alignColumns(rows, ""));
    session.console.print(
        fmt::format("\nNext: assay verify {} --order {}\n", shellWord(out.string()), shellWord(orderFile.string())));
    return 0;
}

} // namespace

void addTrain(VerbSpec& root, Session& session) {
    auto& verb = root.verb("train", "Carry out an order as its trainer and write a submission");
    verb.about("Ctrl-C ends after the present step and keeps all of it; --resume goes on, also on another machine or "
               "under another "
               "kernel, and also after a crash. Without --key the trainer.pem beside the order signs.");
    auto o = std::make_shared<TrainOptions>();
    verb.argument("ORDER", "order.json, or its folder", o->order);
    verb.path("--out", "SUBMISSION", "new folder for the submission", o->out)
        .byDefault("submission in the order's folder");
    verb.path("--data", "DIR", "folder with the data files", o->data).byDefault("the order's folder");
    addKernelOption(verb, "--kernel", "kernel profile to compute with", o->kernel).byDefault("default");
    verb.path("--key", "PEM", "private key to sign with", o->key).byDefault("trainer.pem beside the order");
    verb.flag("--resume", "go on with an unfinished submission", o->resume);
    verb.path("--site-digests", "FILE", "write the digest of every site of every step", o->siteDigests);
    addProgressOption(verb, session);
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runTrain(s, *o); });
    verb.example("assay train job/order.json --out run --kernel haswell",
                 "train under the kernels for Haswell processors");
}

} // namespace assay::cli
