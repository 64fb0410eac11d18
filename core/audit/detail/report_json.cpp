// SPDX-License-Identifier: Apache-2.0
#include "core/audit/detail/report_json.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::audit::detail {

using nlohmann::json;

namespace {

template <typename T>
json orNull(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

template <typename Enum>
json nameOrNull(const std::optional<Enum>& value, std::string_view (*name)(Enum)) {
    return value ? json(std::string(name(*value))) : json(nullptr);
}

json textOrNull(const std::string& text) {
    return text.empty() ? json(nullptr) : json(text);
}

/// A claimed or computed value: a JSON number where it is a finite FP32 value, otherwise its text (digests, "nan").
json valueJson(const std::optional<std::string>& text, const std::optional<std::uint32_t>& bits) {
    if (bits && std::isfinite(std::bit_cast<float>(*bits))) {
        return floatJson(*bits);
    }
    return orNull(text);
}

/// Inverse of valueJson: the bits say what the number is, so that no reader's idea of decimals matters.
void readValue(JsonReader& reader, const json* value, const char* key, const char* bitsKey,
               std::optional<std::string>& text, std::optional<std::uint32_t>& bits) {
    bits = reader.optionalBits(bitsKey);
    if (bits) {
        text = floatText(std::bit_cast<float>(*bits));
    } else if (value != nullptr && value->is_string()) {
        text = value->get<std::string>();
    } else if (value != nullptr && !value->is_null()) {
        reader.wrong(key, "is a number without its bits");
    }
}

json rangesJson(const std::vector<StepRange>& ranges) {
    json list = json::array();
    for (const auto& range : ranges) {
        list.push_back({{"first", range.first}, {"last", range.last}});
    }
    return list;
}

/// Calls `read` with a reader for every item of a list.
template <typename Read>
void each(JsonReader& reader, const char* key, std::size_t limit, Read read) {
    const auto* list = reader.array(key, limit);
    if (list == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        JsonReader item((*list)[i], fmt::format("{}[{}]", key, i));
        read(item);
        reader.absorb(item);
    }
}

} // namespace

std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json floatJson(std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    // Through the shortest decimal of the FP32 value, so that 0.1f reads 0.1 and not 0.10000000149011612.
    return std::isfinite(value) ? json(std::stod(floatText(value))) : json(nullptr);
}

void putDivergence(json& into, const FirstDivergence& where) {
    into["source"] = nameOrNull(where.source, sourceName);
    into["step"] = orNull(where.step);
    into["part"] = nameOrNull(where.part, partName);
    into["tensor"] = orNull(where.tensor);
    into["operator"] = orNull(where.operator_);
    into["site"] = orNull(where.site);
    into["element"] = orNull(where.element);
    into["claimed"] = valueJson(where.claimed, where.claimedBits);
    into["computed"] = valueJson(where.computed, where.computedBits);
    into["claimed_bits"] = where.claimedBits ? json(bitsText(*where.claimedBits)) : json(nullptr);
    into["computed_bits"] = where.computedBits ? json(bitsText(*where.computedBits)) : json(nullptr);
}

FirstDivergence readDivergence(JsonReader& reader) {
    FirstDivergence where;
    where.source = reader.optionalName<Source>("source", sourceFromName);
    where.step = reader.optionalNatural("step");
    where.part = reader.optionalName<Part>("part", partFromName);
    where.tensor = reader.optionalText("tensor");
    where.operator_ = reader.optionalText("operator");
    where.site = reader.optionalText("site");
    where.element = reader.optionalNatural("element");
    readValue(reader, reader.value("claimed"), "claimed", "claimed_bits", where.claimed, where.claimedBits);
    readValue(reader, reader.value("computed"), "computed", "computed_bits", where.computed, where.computedBits);
    return where;
}

json checkJson(const CheckResult& check) {
    return {{"name", std::string(checkName(check.check))},
            {"state", std::string(checkStateName(check.state))},
            {"detail", check.detail},
            {"part", nameOrNull(check.part, partName)},
            {"step", orNull(check.step)}};
}

CheckResult readCheck(JsonReader& reader) {
    CheckResult check;
    check.check = reader.name<Check>("name", checkFromName, Check::signature);
    check.state = reader.name<CheckState>("state", checkStateFromName, CheckState::notChecked);
    check.detail = reader.text("detail");
    check.part = reader.optionalName<Part>("part", partFromName);
    check.step = reader.optionalNatural("step");
    return check;
}

json findingJson(const Finding& finding) {
    json value;
    value["severity"] = std::string(severityName(finding.severity));
    putDivergence(value, finding.where);
    value["text"] = finding.text;
    return value;
}

Finding readFinding(JsonReader& reader) {
    Finding finding;
    finding.severity = reader.name<Severity>("severity", severityFromName, Severity::failure);
    finding.where = readDivergence(reader);
    finding.text = reader.text("text");
    return finding;
}

json reportJson(const VerifyReport& report) {
    json value;
    value["schema"] = std::string(kReportSchema);
    value["version"] = kReportVersion;
    value["verdict"] = std::string(verdictName(report.verdict));
    value["reason"] = report.reason;
    value["warnings"] = report.warnings;
    value["steps_checked"] = report.stepsChecked;
    value["steps_total"] = report.stepsTotal;
    value["root_claimed"] = textOrNull(report.rootClaimed);
    value["root_computed"] = textOrNull(report.rootComputed);
    value["scope"] = std::string(scopeName(report.scope));
    value["ranges"] = rangesJson(report.ranges);
    value["first_divergence"] = nullptr;
    if (report.firstDivergence) {
        json where = json::object();
        putDivergence(where, *report.firstDivergence);
        value["first_divergence"] = std::move(where);
    }
    value["entries"] = report.entries;
    value["corrections"] = report.corrections;
    value["log_bytes"] = report.logBytes;
    value["freedom"] = report.freedom;
    value["kernel_trainer"] = textOrNull(report.kernelTrainer);
    value["kernel_auditor"] = textOrNull(report.kernelAuditor);
    value["seconds"] = std::isfinite(report.seconds) ? report.seconds : 0.0;
    value["checks"] = json::array();
    for (const auto& check : report.checks) {
        value["checks"].push_back(checkJson(check));
    }
    value["findings"] = json::array();
    for (const auto& finding : report.findings) {
        value["findings"].push_back(findingJson(finding));
    }
    value["detection_probability"] = orNull(report.detectionProbability);
    value["profiles"] = json::array();
    for (const auto& profile : report.profiles) {
        value["profiles"].push_back({{"first", profile.first}, {"last", profile.last}, {"profile", profile.profile}});
    }
    value["order_digest"] = textOrNull(report.orderDigest);
    value["submission"] = textOrNull(report.submission);
    value["nonce"] = textOrNull(report.nonce);
    value["nonce_source"] = textOrNull(report.nonceSource);
    value["log_ignored"] = report.logIgnored;
    return value;
}

VerifyReport readReport(JsonReader& reader) {
    VerifyReport report;
    if (reader.text("schema") != kReportSchema) {
        reader.wrong("schema", "is not \"assay.verify\"");
    }
    if (reader.natural("version") != static_cast<std::uint64_t>(kReportVersion)) {
        reader.wrong("version", "is not one that this release reads");
    }
    report.verdict = reader.name<Verdict>("verdict", verdictFromName, Verdict::notChecked);
    report.reason = reader.text("reason");
    if (const auto* warnings = reader.array("warnings", kMaxListItems)) {
        for (const auto& warning : *warnings) {
            if (!warning.is_string()) {
                reader.wrong("warnings", "holds something other than texts");
                break;
            }
            report.warnings.push_back(warning.get<std::string>());
        }
    }
    report.stepsChecked = reader.natural("steps_checked");
    report.stepsTotal = reader.natural("steps_total");
    report.rootClaimed = reader.optionalText("root_claimed").value_or("");
    report.rootComputed = reader.optionalText("root_computed").value_or("");
    report.scope = reader.name<Scope>("scope", scopeFromName, Scope::sample);
    each(reader, "ranges", kMaxListItems, [&](JsonReader& item) {
        report.ranges.push_back({item.natural("first"), item.natural("last")});
    });
    if (const auto* where = reader.object("first_divergence")) {
        JsonReader inner(*where, "first_divergence");
        report.firstDivergence = readDivergence(inner);
        reader.absorb(inner);
    }
    report.entries = reader.natural("entries");
    report.corrections = reader.natural("corrections");
    report.logBytes = reader.natural("log_bytes");
    report.freedom = reader.natural("freedom");
    report.kernelTrainer = reader.optionalText("kernel_trainer").value_or("");
    report.kernelAuditor = reader.optionalText("kernel_auditor").value_or("");
    report.seconds = reader.number("seconds");
    each(reader, "checks", 1024, [&](JsonReader& item) { report.checks.push_back(readCheck(item)); });
    each(reader, "findings", kMaxListItems, [&](JsonReader& item) { report.findings.push_back(readFinding(item)); });
    report.detectionProbability = reader.optionalNumber("detection_probability");
    if (report.detectionProbability && *report.detectionProbability > 1.0) {
        reader.wrong("detection_probability", "is greater than 1");
    }
    each(reader, "profiles", kMaxListItems, [&](JsonReader& item) {
        report.profiles.push_back({item.natural("first"), item.natural("last"), item.text("profile")});
    });
    report.orderDigest = reader.optionalText("order_digest").value_or("");
    report.submission = reader.optionalText("submission").value_or("");
    report.nonce = reader.optionalText("nonce").value_or("");
    report.nonceSource = reader.optionalText("nonce_source").value_or("");
    report.logIgnored = reader.boolean("log_ignored");
    return report;
}

} // namespace assay::audit::detail

namespace assay::audit {

namespace {
constexpr std::size_t kMaxReportBytes = 256ULL << 20;
constexpr std::size_t kMaxReportDepth = 8;
} // namespace

std::string toJson(const VerifyReport& report) {
    return detail::dump(detail::reportJson(report));
}

base::Result<VerifyReport> reportFromJson(std::string_view text) {
    ASSAY_TRY(object, detail::parseObject(text, kMaxReportBytes, kMaxReportDepth));
    detail::JsonReader reader(*object);
    auto report = detail::readReport(reader);
    ASSAY_CHECK(reader.status());
    return report;
}

} // namespace assay::audit
