// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/cli/engine_job.h"
#include "app/cli/engine_result.h"
#include "app/cli/input.h"
#include "app/cli/interrupt.h"
#include "app/cli/verbs/kernel_option.h"
#include "app/cli/verbs/verbs.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct TamperOptions {
    std::string submission;
    std::string kind;
    std::optional<std::uint64_t> step;
    std::string at;
    bool recommit = false;
    std::string key;
    std::string kernel;
    std::string data;
    std::string out;
};

Result<int> runTamper(Session& session, const TamperOptions& options) {
    if (!options.at.empty() && options.kind != "site") {
        return fail(ErrorCode::usage, fmt::format("--at does not go with --kind {}", options.kind),
                    "--step N, or --kind site");
    }
    if (options.kind == "site" && options.at.empty()) {
        return fail(ErrorCode::usage, "--kind site needs --at STEP:SITE:ELEMENT", "for example --at 3:0:0");
    }
    if (options.recommit && !options.kind.starts_with("log-")) {
        return fail(ErrorCode::usage,
                    fmt::format("--recommit goes with the log kinds; {} commits anew by itself", options.kind),
                    "leave it out");
    }
    ASSAY_CHECK(refuseExisting(options.out));
    EngineRequest request("tamper");
    request.set("submission", options.submission)
        .set("kind", options.kind)
        .set("step", options.step)
        .set("at", options.at);
    request.setIf("recommit", options.recommit).set("key", options.key).set("kernel", options.kernel);
    request.set("data", options.data).set("out", options.out);
    Interrupt interrupt;
    ASSAY_TRY(end, runEngine(session, request, interrupt.token()));
    if (end.exitCode != 0 || !end.result) {
        return fail(explainEnd(end, {}));
    }
    if (options.key.empty()) {
        session.console.warn(
            "no --key given: the forged submission is not signed, and that alone is enough to reject it");
    }
    if (session.json) {
        session.console.printLine(withSchema("assay.tamper", *end.result));
        return 0;
    }
    const EngineResult result(*end.result);
    session.console.print(fmt::format("{}\n", options.out));
    if (const auto description = result.text("description")) {
        session.console.print(fmt::format("{}\n", printable(*description)));
    }
    const auto shows = result.member("shows");
    if (const auto part = shows.text("part")) {
        session.console.print(fmt::format("An audit should name: {} at step {}\n", *part, shows.integer("step").value_or(0)));
    } else if (result.flag("absorbed")) {
        session.console.print("The edit changes nothing that follows: it is another valid run, and an audit accepts it\n");
    }
    return 0;
}

} // namespace

void addTamper(VerbSpec& root, Session& session) {
    auto& verb = root.verb("tamper", "Plant a fault in a copy of a submission, to see an auditor catch it");
    verb.about("weights, data-order, skip-step, lr, optimizer, dropout, seed, loss and site are a consistent liar: "
               "training goes on from "
               "the fault, and everything is committed and signed anew. checkpoint exchanges the final file. The log "
               "kinds edit the "
               "rounding log of one step; with --recommit also the leaves and the signature. Exit code 2 where an "
               "order has no such "
               "thing (dropout without dropout).");
    auto o = std::make_shared<TamperOptions>();
    verb.argument("SUBMISSION", "honest submission; it is not changed", o->submission);
    verb.choice("--kind", "KIND", "what to falsify", o->kind,
                {"weights", "data-order", "skip-step", "lr", "optimizer", "dropout", "seed", "loss", "site",
                 "checkpoint", "log-flip", "log-extra", "log-drop", "log-empty"})
        .needed();
    verb.path("--out", "SUBMISSION2", "new folder for the forged submission", o->out).needed();
    verb.integer("--step", "N", "step of the fault, from 1", o->step, 1).byDefault("one in the middle");
    verb.text("--at", "STEP:SITE:ELEMENT", "site: the one element that is made wrong", o->at);
    verb.flag("--recommit", "log kinds: commit and sign the edited log anew", o->recommit);
    verb.path("--key", "PEM", "private key to sign with", o->key);
    addKernelOption(verb, "--kernel", "kernel profile to go on with", o->kernel).byDefault("default");
    verb.path("--data", "DIR", "folder with the data files", o->data);
    addProgressOption(verb, session);
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runTamper(s, *o); });
    verb.example("assay tamper run --kind lr --step 7 --key job/trainer.pem --data job --out forged",
                 "another learning rate from step 7 on");
}

} // namespace assay::cli
