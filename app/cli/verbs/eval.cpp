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

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

struct EvalOptions {
    std::string target;
    std::string order;
    std::string data;
    std::string kernel;
};

Result<int> runEval(Session& session, const EvalOptions& options) {
    std::error_code code;
    if (!fs::exists(options.target, code)) {
        return fail(Error{ErrorCode::unreadable, "there is no such submission or state", options.target, std::nullopt,
                          "check the path"});
    }
    std::string orderFile;
    std::string data = options.data;
    if (!options.order.empty()) {
        ASSAY_TRY(found, findOrder(options.order));
        orderFile = found.string();
        data = dataFolder(options.data, found).string();
    }
    if (data.empty()) {
        return fail(ErrorCode::usage, "where the held-out data are is not known",
                    "--data DIR, or --order ORDER whose folder holds them");
    }
    EngineRequest request("eval");
    const bool state = fs::is_regular_file(options.target, code) && options.target.ends_with(".safetensors");
    if (state && orderFile.empty()) {
        return fail(Error{ErrorCode::usage, "a bare state does not say which program it belongs to", options.target,
                          std::nullopt, "--order ORDER"});
    }
    request.set(state ? "state" : "submission", options.target).set("order", orderFile).set("data", data);
    request.set("kernel", options.kernel);
    Interrupt interrupt;
    ASSAY_TRY(end, runEngine(session, request, interrupt.token()));
    if (end.exitCode != 0 || !end.result) {
        return fail(explainEnd(end, {}));
    }
    if (session.json) {
        session.console.printLine(withSchema("assay.eval", *end.result));
        return 0;
    }
    const EngineResult result(*end.result);
    std::vector<std::vector<std::string>> rows;
    if (const auto metric = result.text("metric"); metric && !metric->empty()) {
        rows.push_back({*metric, fmt::format("{:.6f} (the order's metric)", result.number("value").value_or(0))});
    }
    for (const char* name : {"loss", "accuracy"}) {
        if (const auto value = result.number(name); value && result.text("metric") != name) {
            rows.push_back({name, fmt::format("{:.6f}", *value)});
        }
    }
    if (const auto samples = result.integer("samples")) {
        rows.push_back({"samples", grouped(*samples) + " held out"});
    }
    session.console.print(alignColumns(rows, ""));
    return 0;
}

} // namespace

void addEval(VerbSpec& root, Session& session) {
    auto& verb = root.verb("eval", "The order's metric on its held-out data");
    auto o = std::make_shared<EvalOptions>();
    verb.argument("SUBMISSION_OR_STATE", "submission (its last checkpoint counts), or a .safetensors file", o->target);
    verb.path("--order", "ORDER", "order.json, or its folder; needed for a bare state", o->order);
    verb.path("--data", "DIR", "folder with the data files", o->data).byDefault("the order's folder");
    addKernelOption(verb, "--kernel", "kernel profile to compute with", o->kernel).byDefault("default");
    addProgressOption(verb, session);
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runEval(s, *o); });
}

} // namespace assay::cli
