// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/cli/input.h"
#include "app/cli/interrupt.h"
#include "app/cli/verbs/audit_run.h"
#include "app/cli/verbs/kernel_option.h"
#include "app/cli/verbs/verbs.h"
#include "app/cli/verbs/verdict_text.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

Result<int> runVerify(Session& session, AuditRequest request) {
    std::error_code code;
    if (!fs::exists(request.submission, code)) {
        return fail(Error{ErrorCode::unreadable, "there is no such submission", request.submission, std::nullopt,
                          "check the path"});
    }
    if (request.steps && request.sample) {
        return fail(ErrorCode::usage, "--steps and --sample are both given", "give one of them");
    }
    if (!request.nonce.empty() && !request.sample) {
        return fail(ErrorCode::usage, "--nonce chooses the segments of --sample, which is not given",
                    "--sample N --nonce HEX");
    }
    if (request.resume && request.sample && request.nonce.empty()) {
        return fail(ErrorCode::usage, "a sampled audit can be resumed only with the nonce it was begun with",
                    "--nonce HEX");
    }
    if (!request.order.empty()) {
        ASSAY_TRY(file, findOrder(request.order));
        request.data = dataFolder(request.data, file).string();
        request.order = file.string();
    }
    const Interrupt interrupt;
    ASSAY_TRY(report, runAudit(session, request, interrupt.token()));
    if (session.json) {
        session.console.printLine(audit::toJson(report));
    } else {
        session.console.print(verdictText(session.console, report));
    }
    return audit::exitCodeFor(report.verdict);
}

Result<audit::StepRange> parseSteps(const std::string& text) {
    const auto colon = text.find(':');
    const auto first = parseInteger(std::string_view(text).substr(0, colon), 1, VerbSpec::kLargestInteger);
    const auto last = colon == std::string::npos
                          ? first
                          : parseInteger(std::string_view(text).substr(colon + 1), 1, VerbSpec::kLargestInteger);
    if (!first || !last || *last < *first) {
        return fail(ErrorCode::usage, fmt::format("is \"{}\", expected A:B with 1 <= A <= B", text),
                    "for example --steps 11:20");
    }
    return audit::StepRange{*first, *last};
}

} // namespace

void addVerify(VerbSpec& root, Session& session) {
    auto& verb = root.verb("verify", "Replay a submission with its rounding log enforced, and give a verdict");
    verb.about("Exit code 0 accepted, 1 rejected, 5 inconclusive, 3 if the submission is malformed. Every value comes "
               "from the order that "
               "you hold (--order), never from the submission. Each audit is kept in a store, so that an interrupted "
               "one can go on "
               "with --resume.");
    auto o = std::make_shared<AuditRequest>();
    verb.argument("SUBMISSION", "folder, or .assay file", o->submission);
    verb.path("--order", "ORDER", "your own order.json, or its folder; without it the best verdict is inconclusive",
              o->order);
    verb.path("--data", "DIR", "folder with the data files", o->data).byDefault("the order's folder");
    verb.path("--trainer-key", "PEM", "public key of the trainer", o->trainerKey).byDefault("the keys in your order");
    OptionSpec steps;
    steps.name = "--steps";
    steps.placeholder = "A:B";
    steps.help = "replay steps A to B only";
    steps.accept = [o](const std::string& value) -> Result<void> {
        ASSAY_TRY(range, parseSteps(value));
        o->steps = range;
        return {};
    };
    verb.option(std::move(steps));
    verb.integer("--sample", "N", "replay N segments between checkpoints, drawn from the root and a nonce", o->sample,
                 1);
    verb.text("--nonce", "HEX", "the nonce; the trainer must not have known it", o->nonce).byDefault("drawn at random");
    addKernelOption(verb, "--kernel", "kernel profile to replay with", o->kernel).byDefault("default");
    addKernelOption(verb, "--second-kernel", "replay under this one too, and compare every site", o->secondKernel);
    verb.flag("--ignore-log", "an experiment: replay without the rounding log (never an acceptance)", o->ignoreLog);
    verb.path("--site-digests", "FILE", "write the digest of every site of every step", o->siteDigests);
    verb.path("--store", "FILE", "audit store", o->store)
        .byDefault("$ASSAY_STORE, or assay/audits.sqlite in $XDG_DATA_HOME");
    verb.flag("--resume", "go on with the interrupted audit of the same submission, order and options", o->resume);
    addProgressOption(verb, session);
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runVerify(s, *o); });
    verb.example("assay verify run --order job/order.json --kernel prescott",
                 "replay on other arithmetic than the trainer's");
    verb.example("assay verify run --order job/order.json --sample 3", "a spot check of three segments");
}

} // namespace assay::cli
