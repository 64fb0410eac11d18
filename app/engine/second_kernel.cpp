// SPDX-License-Identifier: Apache-2.0
#include "app/engine/second_kernel.h"

#include <bit>
#include <charconv>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/engine/site_digests.h"

namespace assay::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// Writes the values of one site in one step to a file.
class SiteDump final : public engine::SiteHook {
public:
    SiteDump(std::uint64_t step, std::uint64_t site, base::fs::path path)
        : m_step(step), m_site(site), m_path(std::move(path)) {}
    Result<void> completed(std::uint64_t step, const engine::Site& site, std::span<float> values) override {
        if (step != m_step || site.index != m_site) {
            return {};
        }
        return base::writeFileAtomic(
            m_path, base::ByteView(reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()));
    }

private:
    std::uint64_t m_step;
    std::uint64_t m_site;
    base::fs::path m_path;
};

std::string spanText(const std::vector<engine::StepSpan>& spans) {
    std::string text;
    for (const auto& span : spans) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", span.first, span.last);
    }
    return text;
}

Result<std::vector<engine::StepSpan>> parseSpans(std::string_view text) {
    std::vector<engine::StepSpan> spans;
    const char* at = text.data();
    const char* end = at + text.size();
    while (at != end) {
        engine::StepSpan span;
        const auto first = std::from_chars(at, end, span.first);
        if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') {
            return fail(ErrorCode::usage, "option spans: expected A:B,C:D,...");
        }
        const auto last = std::from_chars(first.ptr + 1, end, span.last);
        if (last.ec != std::errc{} || span.first < 1 || span.last < span.first) {
            return fail(ErrorCode::usage, "option spans: expected A:B,C:D,...");
        }
        spans.push_back(span);
        at = last.ptr != end && *last.ptr == ',' ? last.ptr + 1 : last.ptr;
    }
    return spans;
}

Result<void> runChild(const SecondKernelRequest& request, nlohmann::json options, engine::RunControl& control) {
    options["verb"] = "trace";
    options["submission"] = request.submission;
    options["order"] = request.order;
    options["data"] = request.data;
    options["kernel"] = request.profile;
    std::string message = "it ended without a result";
    bool done = false;
    base::ProcessRequest process;
    process.arguments = {base::executableFolder() + "/assay-engine", "run"};
    process.input = options.dump() + "\n";
    process.onOutputLine = [&](std::string_view line) {
        const auto event = nlohmann::json::parse(line, nullptr, false);
        const std::string name = event.is_object() ? event.value("event", "") : "";
        done = done || name == "done";
        if (name == "error") {
            message = event.value("message", message);
        }
    };
    ASSAY_TRY(end, base::runProcess(process, control.stopToken()));
    if (control.stopToken().stop_requested()) {
        return fail(ErrorCode::cancelled, "the replay under the second kernel was stopped");
    }
    if (!done || end.exitCode != 0) {
        return fail(ErrorCode::environment,
                    fmt::format("the replay under the second kernel \"{}\" failed: {}", request.profile, message),
                    "choose another --second-kernel");
    }
    return {};
}

struct DifferingSite {
    std::uint64_t step = 0;
    std::uint64_t site = 0;
};

/// First line in which two digest files differ; both were written for the same steps.
Result<std::optional<DifferingSite>> firstDifference(const base::fs::path& a, const base::fs::path& b) {
    std::ifstream left(a);
    std::ifstream right(b);
    std::string one;
    std::string two;
    for (;;) {
        const bool hasOne = static_cast<bool>(std::getline(left, one));
        const bool hasTwo = static_cast<bool>(std::getline(right, two));
        if (!hasOne && !hasTwo) {
            return std::optional<DifferingSite>{};
        }
        if (hasOne && hasTwo && one == two) {
            continue;
        }
        DifferingSite found;
        const std::string& line = hasOne ? one : two;
        const auto step = std::from_chars(line.data(), line.data() + line.size(), found.step);
        if (step.ec != std::errc{} || *step.ptr != '\t' ||
            std::from_chars(step.ptr + 1, line.data() + line.size(), found.site).ec != std::errc{}) {
            return fail(ErrorCode::internal, "a site digest file is damaged");
        }
        return std::optional(found);
    }
}

} // namespace

Result<std::optional<engine::ReplayFinding>>
compareWithSecondKernel(const SecondKernelRequest& request, engine::Session& session, const format::Dataset& data,
                        const format::Submission& submission, engine::RunControl& control) {
    ASSAY_TRY(folder, base::TemporaryFolder::create("assay-second"));
    const auto otherDigests = folder.path() / "digests";
    ASSAY_CHECK(
        runChild(request, {{"spans", spanText(request.spans)}, {"site_digests", otherDigests.string()}}, control));
    ASSAY_TRY(found, firstDifference(request.ownDigests, otherDigests));
    if (!found) {
        return std::optional<engine::ReplayFinding>{};
    }
    if (found->site >= session.sites().size()) {
        return fail(ErrorCode::internal, "the replay under the second kernel has other sites");
    }
    // Same operands on both sides up to this site, so its values differ only by the kernels. Find the element.
    const std::string span = fmt::format("{0}:{0}", found->step);
    const auto otherValues = folder.path() / "second";
    const auto ownValues = folder.path() / "own";
    ASSAY_CHECK(
        runChild(request, {{"spans", span}, {"dump_site", found->site}, {"dump_file", otherValues.string()}}, control));
    SiteDump dump(found->step, found->site, ownValues);
    engine::ReplayRequest again;
    again.spans = {{found->step, found->step}};
    again.hooks = {&dump};
    ASSAY_TRY(replayed, engine::replay(session, data, submission, again, {}, control));
    static_cast<void>(replayed);
    ASSAY_TRY(own, base::readFile(ownValues, ~std::uint64_t{0}));
    ASSAY_TRY(other, base::readFile(otherValues, ~std::uint64_t{0}));
    const auto& site = session.sites()[found->site];
    engine::ReplayFinding finding;
    auto& where = finding.where;
    where.source = "log";
    where.step = found->step;
    where.part = "log_root";
    where.site = site.name;
    if (site.operatorIndex != engine::kNone) {
        where.operatorName = session.program().operators[site.operatorIndex].name;
    }
    finding.text =
        fmt::format("step {}, site \"{}\": the two kernel profiles disagree without an entry in the rounding log",
                    found->step, site.name);
    for (std::uint64_t i = 0; i + 4 <= std::min(own.size(), other.size()); i += 4) {
        const auto a = base::loadLe<float>(own.data() + i);
        const auto b = base::loadLe<float>(other.data() + i);
        if (std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b)) {
            where.element = i / 4;
            where.computedValue = a;
            finding.text = fmt::format("step {}, site \"{}\", element {}: missing entry in the rounding log: {} under "
                                       "{}, {} under the second kernel",
                                       found->step, site.name, i / 4, a, "the first kernel", b);
            break;
        }
    }
    return std::optional(std::move(finding));
}

Result<int> runTrace(const Job& job) {
    ASSAY_TRY(path, job.request.requiredText("submission"));
    ASSAY_TRY(orderPath, job.request.text("order"));
    ASSAY_TRY(dataPath, job.request.requiredText("data"));
    ASSAY_TRY(spansText, job.request.requiredText("spans"));
    ASSAY_TRY(digestPath, job.request.text("site_digests"));
    ASSAY_TRY(dumpSite, job.request.number("dump_site"));
    ASSAY_TRY(dumpFile, job.request.text("dump_file"));
    ASSAY_TRY(submission, format::Submission::open(path));
    auto order = submission.order();
    if (!orderPath.empty()) {
        ASSAY_TRY(bytes, base::readFile(orderPath, format::kMaxOrderBytes));
        ASSAY_TRY(parsed, format::parseOrder(bytes));
        order = std::move(parsed);
    }
    ASSAY_TRY(data, format::Dataset::open(order.data, dataPath, {}, job.control.stopToken()));
    ASSAY_TRY(session, engine::Session::create(order, submission.program(), job.profile));
    engine::ReplayRequest request;
    ASSAY_TRY(spans, parseSpans(spansText));
    request.spans = spans;
    std::unique_ptr<engine::SiteDigestFile> digests;
    std::unique_ptr<SiteDump> dump;
    if (!digestPath.empty()) {
        ASSAY_TRY(file, engine::SiteDigestFile::open(digestPath, 0));
        digests = std::move(file);
        request.hooks.push_back(digests.get());
    }
    if (dumpSite && !spans.empty()) {
        dump = std::make_unique<SiteDump>(spans.front().first, *dumpSite, dumpFile);
        request.hooks.push_back(dump.get());
    }
    ASSAY_TRY(result, engine::replay(session, data, submission, request, {}, job.control));
    if (digests) {
        ASSAY_CHECK(digests->flush());
    }
    if (result.cancelled) {
        return fail(ErrorCode::cancelled, "stopped");
    }
    job.output.emit(audit::DoneEvent{nlohmann::json{{"mismatch", result.mismatch}}.dump()});
    return 0;
}

} // namespace assay::app
