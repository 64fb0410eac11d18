// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/cli/help_text.h"
#include "app/cli/json_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/audit/verdict.h"
#include "core/format/order.h"

namespace assay::cli {

namespace {

base::Result<int> runVersion(Session& session) {
    if (session.json) {
        session.console.printLine(JsonObject("assay.version")
                                      .add("assay", kVersion)
                                      .add("semantics", format::kSemantics)
                                      .add("report_version", audit::kReportVersion)
                                      .add("compiler", ASSAY_COMPILER)
                                      .add("build", ASSAY_BUILD)
                                      .text());
        return 0;
    }
    session.console.printLine(fmt::format("assay {} (orders: semantics {}; {}, {})", kVersion, format::kSemantics,
                                          ASSAY_COMPILER, ASSAY_BUILD));
    return 0;
}

} // namespace

void addVersion(VerbSpec& root, Session& session) {
    auto& verb = root.verb("version", "Print the version");
    addJsonOption(verb, session);
    verb.action(runVersion);
}

void addCompletion(VerbSpec& root, Session&) {
    auto& group = root.verb("completion", "Print what a shell, or man, needs to know about assay");
    auto& bash = group.verb("bash", "Print a completion script for bash");
    bash.action([&root](Session& session) -> base::Result<int> {
        session.console.print(bashCompletion(root));
        return 0;
    });
    bash.example("source <(assay completion bash)", "complete verbs, options and values in this shell");
    auto& man = group.verb("man", "Print the manual page");
    man.action([&root](Session& session) -> base::Result<int> {
        session.console.print(manualPage(root, kVersion));
        return 0;
    });
    man.example("assay completion man | man -l -", "read it");
}

} // namespace assay::cli
