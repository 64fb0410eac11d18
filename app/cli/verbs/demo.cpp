// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/demo_story.h"

#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "app/cli/verbs/verbs.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr const char* kMarker = ".assay-demo"; ///< tells a folder of ours from anybody else's

/// Makes the folder, or empties it if an earlier demo made it.
Result<void> prepareFolder(const fs::path& folder) {
    std::error_code code;
    if (fs::exists(folder, code) && !(fs::is_directory(folder, code) && fs::is_empty(folder, code))) {
        if (!fs::is_regular_file(folder / kMarker, code)) {
            return fail(Error{ErrorCode::usage, "is there already and was not made by the demo", folder.string(),
                              std::nullopt, "--out with another folder"});
        }
        fs::remove_all(folder, code);
        if (code) {
            return fail(base::systemError(folder, "cannot remove the files of the last demo", code.value()));
        }
    }
    ASSAY_CHECK(base::makeFolders(folder));
    return base::writeFileAtomic(folder / kMarker,
                                 "This folder belongs to assay demo, which removes it when it runs again.\n");
}

Result<int> runDemo(Session& session, const std::string& out) {
    const fs::path folder = fs::path(out).lexically_normal();
    ASSAY_CHECK(prepareFolder(folder));
    const auto start = std::chrono::steady_clock::now();
    ASSAY_TRY(outcome, tellStory(session, folder));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (session.json) {
        JsonObject json("assay.demo");
        json.add("folder", folder.string()).add("as_told", outcome.asTold).add("kernel_trainer", outcome.trainer);
        json.add("kernel_auditor", outcome.auditor).add("noise_used", outcome.noiseUsed);
        json.raw("honest", audit::toJson(outcome.honest)).raw("needs_log", audit::toJson(outcome.needsLog));
        json.add("sites_total", outcome.sitesTotal).add("sites_differ_with_log", outcome.sitesDifferWithLog);
        json.add("sites_differ_without_log", outcome.sitesDifferWithoutLog);
        json.raw("forged", audit::toJson(outcome.forged)).add("seconds", seconds);
        session.console.printLine(json.text());
    } else {
        session.console.print(fmt::format(
            "\nThe whole demo took {:.0f} seconds. Its files are in {}; try\n\n"
            "  assay inspect {}\n  assay verify {} --order {} --json\n  assay-workbench {}\n",
            seconds, folder.string(), shellWord((folder / "run").string()), shellWord((folder / "forged").string()),
            shellWord((folder / "order").string()), shellWord((folder / "forged").string())));
    }
    if (!outcome.asTold) {
        session.console.warn("something did not end as the story says; see above");
        return 1;
    }
    return 0;
}

} // namespace

void addDemo(VerbSpec& root, Session& session) {
    auto& verb = root.verb("demo", "Order, training, audit, and a cheat that is caught, in under two minutes");
    verb.about("Trains a small GPT on real text under one kernel, verifies it under a really different one, shows a "
               "replay that needs the "
               "rounding log and what happens without it, plants a fault, and shows the rejection. Exit code 0 if all "
               "of it ends as told.");
    auto out = std::make_shared<std::string>("assay-demo");
    verb.path("--out", "DIR", "folder for the demo's files; one that an earlier demo made is replaced", *out)
        .byDefault("assay-demo");
    addProgressOption(verb, session);
    addJsonOption(verb, session);
    verb.action([out](Session& s) { return runDemo(s, *out); });
}

} // namespace assay::cli
