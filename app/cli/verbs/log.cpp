// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "app/cli/engine_job.h"
#include "app/cli/input.h"
#include "app/cli/verbs/inspect.h"
#include "app/cli/verbs/log_statistics.h"
#include "app/cli/verbs/verbs.h"
#include "core/format/submission.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::size_t kSitesShown = 10;

/// Kinds that frameworks have as modules, whose outputs and input gradients the published method logs. Bare functions
/// (add, matmul) are left out, which makes the dense log smaller and the comparison harder for ours.
constexpr std::array<std::string_view, 11> kModuleKinds{
    "linear",  "conv2d",     "batch_norm",      "layer_norm", "relu",     "gelu",
    "softmax", "max_pool2d", "global_avg_pool", "dropout",    "embedding"};

struct SiteTotals {
    std::uint64_t entries = 0;
    std::uint64_t whole = 0;
    std::uint64_t bytes = 0;
};

struct LogInfo {
    std::uint64_t steps = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t whole = 0;
    std::vector<SiteTotals> sections;
    std::vector<StepLogCount> perStep; ///< without their sections
};

Result<LogInfo> readLogs(const format::Submission& submission) {
    LogInfo info;
    info.steps = submission.steps();
    for (std::uint64_t step = 1; step <= submission.steps(); ++step) {
        ASSAY_TRY(record, submission.step(step));
        if (record.leaf.diverged) {
            continue;
        }
        ASSAY_TRY(bytes, submission.log(step));
        auto count = countStepLog(bytes);
        if (!count) {
            return fail(std::move(count).error().inFile((submission.folder() / format::logName(step)).string()));
        }
        info.bytes += count->bytes;
        info.entries += count->entries;
        info.whole += count->whole;
        info.sections.resize(std::max(info.sections.size(), count->sections.size()));
        for (std::size_t i = 0; i < count->sections.size(); ++i) {
            info.sections[i].entries += count->sections[i].entries;
            info.sections[i].whole += count->sections[i].whole;
            info.sections[i].bytes += count->sections[i].bytes;
        }
        count->sections.clear();
        info.perStep.push_back(std::move(*count));
    }
    return info;
}

/// The sites of one step, from the engine, which knows all shapes. Empty if it cannot say.
std::vector<audit::SiteInfo> listSites(Session& session, const std::string& submission) {
    std::vector<audit::SiteInfo> sites;
    EngineRequest request("sites");
    request.set("submission", submission);
    const auto end =
        runEngine(session, request, {}, [&](const audit::EngineEvent& event, std::string_view) -> Result<void> {
            if (const auto* list = std::get_if<audit::SitesEvent>(&event)) {
                sites = list->sites;
            }
            return {};
        });
    if (!end || end->exitCode != 0) {
        session.console.warn(
            "the engine could not list the sites, so their names and the dense encoding are not known");
        sites.clear();
    }
    return sites;
}

/// Values that the published dense encoding would log in one step.
std::uint64_t denseValues(const format::Program& program, const std::vector<audit::SiteInfo>& sites) {
    std::map<std::string, std::string, std::less<>> kinds;
    for (const auto& op : program.operators) {
        kinds[op.name] = op.kind;
    }
    // A module's output counts once: the sum with its bias is a second site of the same output here.
    std::map<std::string_view, std::uint64_t> outputs;
    std::uint64_t values = 0;
    for (const auto& site : sites) {
        const auto kind = kinds.find(std::string_view(site.name).substr(0, site.name.find(" / ")));
        if (kind == kinds.end() || std::find(kModuleKinds.begin(), kModuleKinds.end(), kind->second) == kModuleKinds.end()) {
            continue;
        }
        if (site.direction == "forward") {
            outputs[kind->first] = site.values;
        } else if (site.direction == "input gradient") {
            values += site.values;
        }
    }
    for (const auto& [name, count] : outputs) {
        values += count;
    }
    return values;
}

struct Named {
    std::string name;
    std::uint64_t values = 0;
    SiteTotals totals;
};

std::vector<Named> nameSections(const LogInfo& info, const std::vector<audit::SiteInfo>& sites) {
    std::vector<Named> named;
    for (const auto& site : sites) {
        if (site.product && named.size() < info.sections.size()) {
            named.push_back({site.name, site.values, info.sections[named.size()]});
        }
    }
    for (auto i = named.size(); i < info.sections.size(); ++i) {
        named.push_back({fmt::format("section {}", i), 0, info.sections[i]});
    }
    return named;
}

void printInfo(Session& session, const LogInfo& info, const std::vector<Named>& named, std::uint64_t productValues,
               std::uint64_t dense) {
    const auto steps = std::max<std::uint64_t>(1, info.steps);
    std::vector<std::vector<std::string>> rows{
        {"steps", grouped(info.steps)},
        {"log", fmt::format("{}, {} a step", byteText(info.bytes), byteText(info.bytes / steps))},
        {"entries", fmt::format("{} ({:.1f} a step), {} of them whole values", grouped(info.entries),
                                static_cast<double>(info.entries) / static_cast<double>(steps), grouped(info.whole))},
    };
    if (productValues > 0) {
        rows.push_back(
            {"density", fmt::format("{:.3g} entries per value of a product ({} values a step in {} sites)",
                                    static_cast<double>(info.entries) / static_cast<double>(productValues * steps),
                                    grouped(productValues), info.sections.size())});
    }
    if (dense > 0) {
        const auto denseBytes = (dense + 4) / 5;
        rows.push_back(
            {"dense log",
             fmt::format("{} a step (1.6 bit for each of {} module outputs and input gradients): {:.0f} times as much",
                         byteText(denseBytes), grouped(dense),
                         static_cast<double>(denseBytes * steps) /
                             static_cast<double>(std::max<std::uint64_t>(1, info.bytes)))});
    }
    session.console.print(alignColumns(rows, ""));
    auto busiest = named;
    std::stable_sort(busiest.begin(), busiest.end(),
                     [](const auto& a, const auto& b) { return a.totals.entries > b.totals.entries; });
    std::vector<std::vector<std::string>> table{{"site", "values", "entries", "bytes"}};
    for (const auto& site : busiest) {
        if (table.size() <= kSitesShown && site.totals.entries > 0) {
            table.push_back(
                {printable(site.name), grouped(site.values), grouped(site.totals.entries), grouped(site.totals.bytes)});
        }
    }
    if (table.size() > 1) {
        session.console.print("\nSites with most entries, over all steps\n" + alignColumns(table));
    }
}

Result<int> runInfo(Session& session, const std::string& path) {
    std::error_code code;
    if (!fs::exists(path, code)) {
        return fail(
            Error{ErrorCode::unreadable, "there is no such submission or log", path, std::nullopt, "check the path"});
    }
    if (fs::is_regular_file(path, code) && fs::path(path).extension() == ".rlog") {
        ASSAY_TRY(inspection, inspectFile(path));
        if (session.json) {
            session.console.printLine(inspection.json.text());
        } else {
            session.console.print(inspection.text);
        }
        return 0;
    }
    ASSAY_TRY(submission, format::Submission::open(path));
    ASSAY_TRY(info, readLogs(submission));
    const auto sites = listSites(session, path);
    const auto named = nameSections(info, sites);
    std::uint64_t productValues = 0;
    for (const auto& site : sites) {
        productValues += site.product ? site.values : 0;
    }
    const auto dense = denseValues(submission.program(), sites);
    if (!session.json) {
        printInfo(session, info, named, productValues, dense);
        return 0;
    }
    JsonArray siteList;
    for (const auto& site : named) {
        siteList.raw(JsonObject()
                         .add("name", site.name)
                         .add("values", site.values)
                         .add("entries", site.totals.entries)
                         .add("whole", site.totals.whole)
                         .add("bytes", site.totals.bytes)
                         .text());
    }
    JsonArray stepList;
    for (const auto& step : info.perStep) {
        stepList.raw(JsonObject().add("step", step.step).add("bytes", step.bytes).add("entries", step.entries).text());
    }
    JsonObject json("assay.log-info");
    json.add("submission", path).add("order", submission.orderDigest().toHex()).add("steps", info.steps);
    json.add("bound", submission.order().numerics.bound).add("block", submission.order().numerics.block);
    json.add("log_bytes", info.bytes).add("entries", info.entries).add("whole_entries", info.whole);
    const auto known = [&](std::uint64_t value) { return sites.empty() ? std::nullopt : std::optional(value); };
    json.add("product_values_per_step", known(productValues)).add("dense_values_per_step", known(dense));
    json.add("dense_bytes_per_step", known((dense + 4) / 5)).add("sites", siteList).add("per_step", stepList);
    session.console.printLine(json.text());
    return 0;
}

} // namespace

void addLog(VerbSpec& root, Session& session) {
    auto& group = root.verb("log", "Rounding logs");
    auto& verb = group.verb("info", "Statistics of a submission's rounding logs, or of one log file");
    verb.about(
        "The dense log is what the published method would keep: 1.6 bit for every module output and input gradient.");
    auto path = std::make_shared<std::string>();
    verb.argument("PATH", "submission, bundle, or one .rlog file", *path);
    addJsonOption(verb, session);
    verb.action([path](Session& s) { return runInfo(s, *path); });
}

} // namespace assay::cli
