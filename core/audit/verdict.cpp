// SPDX-License-Identifier: Apache-2.0
#include "core/audit/verdict.h"

#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace assay::audit {

namespace {

template <typename Enum, std::size_t N>
std::optional<Enum> fromName(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) {
            return static_cast<Enum>(i);
        }
    }
    return std::nullopt;
}
template <typename Enum, std::size_t N>
std::string_view nameOf(const std::array<std::string_view, N>& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

// Indexed by the enumerations of the header. Persistent.
constexpr std::array<std::string_view, 4> kVerdicts{"not_checked", "accepted", "rejected", "inconclusive"};
constexpr std::array<std::string_view, kPartCount> kParts{"batch",         "learning_rate", "loss",      "log_root",
                                                          "state_root",    "evaluation",    "chain",     "final_file",
                                                          "initial_state", "data",          "signature", "order"};
constexpr std::array<std::string_view, kPartCount> kPartWords{"the training batch",
                                                              "the learning rate",
                                                              "the loss",
                                                              "the rounding log",
                                                              "the training state",
                                                              "the evaluation value",
                                                              "the chain of commitments",
                                                              "the final checkpoint file",
                                                              "the initial state",
                                                              "the data",
                                                              "the signature",
                                                              "the order"};
constexpr std::array<std::string_view, 6> kSources{"leaf", "log", "tensor", "checkpoint", "trace", "dispute"};
constexpr std::array<std::string_view, 3> kSeverities{"info", "warning", "failure"};
constexpr std::array<std::string_view, kCheckCount> kChecks{"signature",     "order", "files",  "merkle",
                                                            "initial_state", "data",  "replay", "final_checkpoint"};
constexpr std::array<std::string_view, 3> kCheckStates{"not_checked", "passed", "failed"};
constexpr std::array<std::string_view, 3> kScopes{"all", "range", "sample"};

} // namespace

std::string_view verdictName(Verdict verdict) {
    return nameOf(kVerdicts, verdict);
}
std::optional<Verdict> verdictFromName(std::string_view name) {
    return fromName<Verdict>(kVerdicts, name);
}
std::string_view partName(Part part) {
    return nameOf(kParts, part);
}
std::optional<Part> partFromName(std::string_view name) {
    return fromName<Part>(kParts, name);
}
std::string_view partInWords(Part part) {
    return nameOf(kPartWords, part);
}
std::string_view sourceName(Source source) {
    return nameOf(kSources, source);
}
std::optional<Source> sourceFromName(std::string_view name) {
    return fromName<Source>(kSources, name);
}
std::string_view severityName(Severity severity) {
    return nameOf(kSeverities, severity);
}
std::optional<Severity> severityFromName(std::string_view name) {
    return fromName<Severity>(kSeverities, name);
}
std::string_view checkName(Check check) {
    return nameOf(kChecks, check);
}
std::optional<Check> checkFromName(std::string_view name) {
    return fromName<Check>(kChecks, name);
}
std::string_view checkStateName(CheckState state) {
    return nameOf(kCheckStates, state);
}
std::optional<CheckState> checkStateFromName(std::string_view name) {
    return fromName<CheckState>(kCheckStates, name);
}
std::string_view scopeName(Scope scope) {
    return nameOf(kScopes, scope);
}
std::optional<Scope> scopeFromName(std::string_view name) {
    return fromName<Scope>(kScopes, name);
}

int exitCodeFor(Verdict verdict) {
    switch (verdict) {
    case Verdict::accepted:
        return 0;
    case Verdict::rejected:
        return 1;
    case Verdict::inconclusive:
    case Verdict::notChecked:
        return 5;
    }
    return 5;
}

std::string floatText(float value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    return fmt::format("{}", value);
}

void FirstDivergence::setClaimed(float value) {
    claimed = floatText(value);
    claimedBits = std::bit_cast<std::uint32_t>(value);
}

void FirstDivergence::setComputed(float value) {
    computed = floatText(value);
    computedBits = std::bit_cast<std::uint32_t>(value);
}

} // namespace assay::audit
