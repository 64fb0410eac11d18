// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/verdict_text.h"

#include <fmt/format.h>

namespace assay::cli {

namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kFindingsShown = 8;

std::string headline(const Console& console, const audit::VerifyReport& report) {
    switch (report.verdict) {
    case audit::Verdict::accepted: // the first words must not promise more than was replayed
        return console.toned(Tone::good,
                             report.stepsChecked < report.stepsTotal ? "ACCEPTED IN PART" : "ACCEPTED");
    case audit::Verdict::rejected:
        return console.toned(Tone::bad, "REJECTED");
    case audit::Verdict::inconclusive:
        return console.toned(Tone::doubtful, "INCONCLUSIVE");
    case audit::Verdict::notChecked:
        return console.toned(Tone::doubtful, "NOT CHECKED");
    }
    return console.toned(Tone::doubtful, "NOT CHECKED");
}

std::string stateWord(const Console& console, audit::CheckState state) {
    switch (state) {
    case audit::CheckState::passed:
        return console.toned(Tone::good, "passed     ");
    case audit::CheckState::failed:
        return console.toned(Tone::bad, "failed     ");
    case audit::CheckState::notChecked:
        return console.toned(Tone::doubtful, "not checked");
    }
    return "not checked";
}

std::string spaced(std::string_view name) {
    std::string words(name);
    for (char& c : words) {
        c = c == '_' ? ' ' : c;
    }
    return words;
}

std::string figures(const audit::VerifyReport& report) {
    std::vector<std::vector<std::string>> rows;
    std::string steps =
        fmt::format("{} of {} replayed and equal", grouped(report.stepsChecked), grouped(report.stepsTotal));
    if (report.scope != audit::Scope::all) {
        std::string ranges;
        for (const auto& range : report.ranges) {
            ranges += fmt::format("{}{}-{}", ranges.empty() ? "" : ", ", range.first, range.last);
        }
        steps += fmt::format(" (a {}: steps {})", audit::scopeName(report.scope), ranges);
    }
    rows.push_back({"steps", steps});
    if (report.detectionProbability) {
        rows.push_back(
            {"detection", fmt::format("{:.1f} % if exactly one segment is bad", 100 * *report.detectionProbability)});
    }
    if (!report.nonce.empty()) {
        rows.push_back({"nonce", fmt::format("{} ({})", report.nonce, report.nonceSource)});
    }
    rows.push_back(
        {"rounding log", fmt::format("{} entries in {}; {} of them corrected the auditor's own rounding",
                                     grouped(report.entries), byteText(report.logBytes), grouped(report.corrections))});
    rows.push_back({"freedom", fmt::format("{} values where the trainer had a choice", grouped(report.freedom))});
    rows.push_back({"kernels", fmt::format("trainer {}, auditor {}",
                                           report.kernelTrainer.empty() ? "unknown" : printable(report.kernelTrainer),
                                           report.kernelAuditor.empty() ? "none" : printable(report.kernelAuditor))});
    rows.push_back({"root claimed", report.rootClaimed.empty() ? "unknown" : report.rootClaimed});
    rows.push_back({"root computed", report.rootComputed.empty() ? "none (not all leaves were replayed and equal)"
                                                                 : report.rootComputed});
    rows.push_back({"time", fmt::format("{:.1f} s", report.seconds)});
    return alignColumns(rows);
}

} // namespace

std::string bitText(std::uint32_t bits) {
    return fmt::format("{:b} {:08b} {:023b}", bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF);
}

std::string divergenceText(const audit::FirstDivergence& where) {
    std::vector<std::vector<std::string>> rows;
    const auto row = [&](const char* name, const std::string& value) { rows.push_back({name, value}); };
    if (where.step) {
        row("step", *where.step == 0 ? "0 (the initial state)" : std::to_string(*where.step));
    }
    if (where.part) {
        row("part", fmt::format("{} ({})", audit::partName(*where.part), audit::partInWords(*where.part)));
    }
    if (where.source) {
        row("known from", std::string(audit::sourceName(*where.source)));
    }
    for (const auto& [name, value] : {std::pair{"tensor", &where.tensor}, std::pair{"operator", &where.operator_},
                                      std::pair{"site", &where.site}}) {
        if (*value) {
            row(name, printable(**value));
        }
    }
    if (where.element) {
        row("element", std::to_string(*where.element));
    }
    const auto value = [&](const char* name, const std::optional<std::string>& text,
                           const std::optional<std::uint32_t>& bits) {
        if (text) {
            row(name, bits ? fmt::format("{}  (bits {:08x}: {})", printable(*text), *bits, bitText(*bits))
                           : printable(*text));
        }
    };
    value("claimed", where.claimed, where.claimedBits);
    value("computed", where.computed, where.computedBits);
    return alignColumns(rows);
}

std::string verdictText(const Console& console, const audit::VerifyReport& report) {
    std::string text = headline(console, report) + "\n" + wrapText(printable(report.reason), kColumns, "");
    for (const auto& warning : report.warnings) {
        text += wrapText("warning: " + printable(warning), kColumns, "");
    }
    text += fmt::format("\n{}\n", console.toned(Tone::strong, "Checks"));
    for (const auto& check : report.checks) {
        const std::string left =
            fmt::format("  {:<17}{}  ", spaced(audit::checkName(check.check)), stateWord(console, check.state));
        const std::string indent(32, ' ');
        auto detail = wrapText(printable(check.detail), kColumns + 20, indent);
        text += left + (detail.size() > indent.size() ? detail.substr(indent.size()) : std::string("\n"));
    }
    if (report.firstDivergence) {
        text += fmt::format("\n{}\n{}", console.toned(Tone::strong, "First divergence"),
                            divergenceText(*report.firstDivergence));
    }
    std::string findings;
    std::size_t shown = 0;
    std::size_t hidden = 0;
    for (const auto& finding : report.findings) {
        if (finding.severity == audit::Severity::info) {
            continue;
        }
        if (shown < kFindingsShown) {
            ++shown;
            const auto lines =
                wrapText(fmt::format("{}: {}", audit::severityName(finding.severity), printable(finding.text)),
                         kColumns, "    ");
            findings += "  - " + lines.substr(4);
        } else {
            ++hidden;
        }
    }
    if (!findings.empty()) {
        text += fmt::format("\n{}\n{}", console.toned(Tone::strong, "Findings"), findings);
        if (hidden > 0) {
            text += fmt::format("  ... and {} more (--json has them all)\n", hidden);
        }
    }
    text += fmt::format("\n{}\n{}", console.toned(Tone::strong, "Figures"), figures(report));
    return text;
}

} // namespace assay::cli
