// SPDX-License-Identifier: Apache-2.0
#include "core/audit/engine_events.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/audit/detail/report_json.h"

namespace assay::audit {

using detail::bitsText;
using detail::floatJson;
using detail::JsonReader;
using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 3> kStatuses{"matched", "mismatched", "trained"};
constexpr std::array kErrorCodes{base::ErrorCode::usage,         base::ErrorCode::malformed,
                                 base::ErrorCode::unreadable,    base::ErrorCode::environment,
                                 base::ErrorCode::notApplicable, base::ErrorCode::cancelled,
                                 base::ErrorCode::internal};

std::optional<base::ErrorCode> errorCodeFromName(std::string_view name) {
    for (const auto code : kErrorCodes) {
        if (base::toString(code) == name) {
            return code;
        }
    }
    return std::nullopt;
}

json event(const char* name) {
    return {{"event", name}};
}

// One writer per event.

json write(const HelloEvent& hello) {
    auto value = event("hello");
    value["engine_version"] = hello.engineVersion;
    value["blas"] = hello.blas;
    value["core"] = hello.core;
    value["threads"] = hello.threads;
    value["kernel"] = hello.kernel;
    value["isa"] = hello.isa;
    return value;
}

json write(const ProgressEvent& progress) {
    auto value = event("progress");
    value["phase"] = progress.phase;
    value["done"] = progress.done;
    value["total"] = progress.total;
    value["unit"] = progress.unit;
    value["steps_per_second"] = progress.stepsPerSecond ? json(*progress.stepsPerSecond) : json(nullptr);
    value["eta_seconds"] = progress.etaSeconds ? json(*progress.etaSeconds) : json(nullptr);
    return value;
}

json write(const CheckEvent& check) {
    auto value = detail::checkJson(check.result);
    value["event"] = "check";
    return value;
}

void putFloat(json& into, const char* name, const char* bitsName, const std::optional<std::uint32_t>& bits) {
    if (bits) {
        into[name] = floatJson(*bits);
        into[bitsName] = bitsText(*bits);
    }
}

json write(const StepEvent& step) {
    auto value = event("step");
    value["step"] = step.step;
    value["status"] = std::string(stepStatusName(step.status));
    putFloat(value, "loss", "loss_bits", step.lossBits);
    putFloat(value, "loss_claimed", "loss_claimed_bits", step.lossClaimedBits);
    putFloat(value, "evaluation", "evaluation_bits", step.evaluationBits);
    value["entries"] = step.entries;
    value["corrections"] = step.corrections;
    value["offences"] = step.offences;
    value["log_bytes"] = step.logBytes;
    value["freedom"] = step.freedom;
    value["seconds"] = step.seconds;
    value["checkpoint"] = step.checkpoint;
    if (!step.digest.empty()) {
        value["digest"] = step.digest;
    }
    return value;
}

json write(const SitesEvent& sites) {
    auto value = event("sites");
    auto& list = value["sites"] = json::array();
    for (const auto& site : sites.sites) {
        list.push_back({{"index", site.index},
                        {"name", site.name},
                        {"direction", site.direction},
                        {"product", site.product},
                        {"values", site.values}});
    }
    return value;
}

json write(const SiteStatsEvent& stats) {
    auto value = event("site_stats");
    value["step"] = stats.step;
    auto& list = value["sites"] = json::array();
    for (const auto& site : stats.sites) {
        list.push_back({{"site", site.site},
                        {"entries", site.entries},
                        {"corrections", site.corrections},
                        {"offences", site.offences}});
    }
    return value;
}

json write(const CorrectionEvent& correction) {
    auto value = event("correction");
    value["step"] = correction.step;
    value["site"] = correction.site;
    value["name"] = correction.name;
    value["element"] = correction.element;
    putFloat(value, "own", "own_bits", correction.ownBits);
    putFloat(value, "taken", "taken_bits", correction.takenBits);
    return value;
}

json write(const FindingEvent& finding) {
    auto value = detail::findingJson(finding.finding);
    value["event"] = "finding";
    return value;
}

json write(const VerdictEvent& verdict) {
    auto value = detail::reportJson(verdict.report);
    value["event"] = "verdict";
    return value;
}

json write(const DoneEvent& done) {
    auto value = json::parse(done.resultJson, nullptr, false);
    if (!value.is_object()) {
        value = json::object();
    }
    value["event"] = "done";
    return value;
}

json write(const ErrorEvent& error) {
    auto value = event("error");
    value["code"] = std::string(base::toString(error.error.code));
    value["message"] = error.error.message;
    value["file"] = error.error.file.empty() ? json(nullptr) : json(error.error.file);
    value["offset"] = error.error.offset ? json(*error.error.offset) : json(nullptr);
    value["remedy"] = error.error.remedy.empty() ? json(nullptr) : json(error.error.remedy);
    return value;
}

// One reader per event. What is wrong is remembered by the JsonReader.

EngineEvent readHello(JsonReader& in) {
    return HelloEvent{in.text("engine_version"), in.text("blas"),   in.text("core"),
                      in.natural("threads"),     in.text("kernel"), in.text("isa")};
}

EngineEvent readProgress(JsonReader& in) {
    return ProgressEvent{in.text("phase"),
                         in.natural("done"),
                         in.natural("total"),
                         in.text("unit"),
                         in.optionalNumber("steps_per_second"),
                         in.optionalNumber("eta_seconds")};
}

EngineEvent readStep(JsonReader& in) {
    StepEvent step;
    step.step = in.natural("step");
    step.status = in.name<StepStatus>("status", stepStatusFromName, StepStatus::mismatched);
    step.lossBits = in.bits("loss_bits");
    step.lossClaimedBits = in.optionalBits("loss_claimed_bits");
    step.evaluationBits = in.optionalBits("evaluation_bits");
    step.entries = in.natural("entries");
    step.corrections = in.natural("corrections");
    step.offences = in.natural("offences");
    step.logBytes = in.natural("log_bytes");
    step.freedom = in.natural("freedom");
    step.seconds = in.number("seconds");
    step.checkpoint = in.boolean("checkpoint");
    step.digest = in.optionalText("digest").value_or("");
    return step;
}

EngineEvent readSites(JsonReader& in) {
    SitesEvent sites;
    if (const auto* list = in.array("sites", kMaxSites)) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            JsonReader item((*list)[i], fmt::format("sites[{}]", i));
            sites.sites.push_back({item.word("index"), item.text("name"), item.text("direction"),
                                   item.boolean("product"), item.natural("values")});
            in.absorb(item);
        }
    }
    return sites;
}

EngineEvent readSiteStats(JsonReader& in) {
    SiteStatsEvent stats;
    stats.step = in.natural("step");
    if (const auto* list = in.array("sites", kMaxSites)) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            JsonReader item((*list)[i], fmt::format("sites[{}]", i));
            stats.sites.push_back(
                {item.word("site"), item.natural("entries"), item.natural("corrections"), item.natural("offences")});
            in.absorb(item);
        }
    }
    return stats;
}

EngineEvent readCorrection(JsonReader& in) {
    return CorrectionEvent{in.natural("step"),    in.word("site"),     in.text("name"),
                           in.natural("element"), in.bits("own_bits"), in.bits("taken_bits")};
}

EngineEvent readError(JsonReader& in) {
    base::Error error;
    error.code = in.name<base::ErrorCode>("code", errorCodeFromName, base::ErrorCode::internal);
    error.message = in.text("message");
    error.file = in.optionalText("file").value_or("");
    error.offset = in.optionalNatural("offset");
    error.remedy = in.optionalText("remedy").value_or("");
    return ErrorEvent{std::move(error)};
}

EngineEvent readDone(const json& object) {
    json rest = object;
    rest.erase("event");
    return DoneEvent{detail::dump(rest)};
}

base::Result<EngineEvent> readEvent(const std::string& name, JsonReader& in, const json& object) {
    if (name == "hello") {
        return readHello(in);
    }
    if (name == "progress") {
        return readProgress(in);
    }
    if (name == "check") {
        return CheckEvent{detail::readCheck(in)};
    }
    if (name == "step") {
        return readStep(in);
    }
    if (name == "sites") {
        return readSites(in);
    }
    if (name == "site_stats") {
        return readSiteStats(in);
    }
    if (name == "correction") {
        return readCorrection(in);
    }
    if (name == "finding") {
        return FindingEvent{detail::readFinding(in)};
    }
    if (name == "verdict") {
        return VerdictEvent{detail::readReport(in)};
    }
    if (name == "done") {
        return readDone(object);
    }
    if (name == "error") {
        return readError(in);
    }
    return base::fail(base::ErrorCode::malformed, fmt::format("unknown engine event \"{}\"", name.substr(0, 40)),
                      "use engine and command line of the same release");
}

} // namespace

std::string_view stepStatusName(StepStatus status) {
    return kStatuses.at(static_cast<std::size_t>(status));
}

std::optional<StepStatus> stepStatusFromName(std::string_view name) {
    for (std::size_t i = 0; i < kStatuses.size(); ++i) {
        if (kStatuses[i] == name) {
            return static_cast<StepStatus>(i);
        }
    }
    return std::nullopt;
}

bool ErrorEvent::operator==(const ErrorEvent& other) const {
    return error.code == other.error.code && error.message == other.error.message && error.file == other.error.file &&
           error.offset == other.error.offset && error.remedy == other.error.remedy;
}

base::Result<EngineEvent> parseEvent(std::string_view line) {
    ASSAY_TRY(object, detail::parseObject(line, kMaxEventBytes, kMaxEventDepth));
    JsonReader reader(*object);
    const auto name = reader.text("event");
    ASSAY_CHECK(reader.status());
    auto parsed = readEvent(name, reader, *object);
    ASSAY_CHECK(reader.status());
    return parsed;
}

std::string serialiseEvent(const EngineEvent& value) {
    return detail::dump(std::visit([](const auto& alternative) { return write(alternative); }, value));
}

} // namespace assay::audit
