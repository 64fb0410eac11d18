// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/audit/verdict.h"
#include "core/base/error.h"

namespace assay::audit {

// The events that `assay-engine` writes to its standard output, one JSON object per line. FP32 values travel as a JSON
// number (for people and scripts) and as 8 hex digits of their bits (what counts); non-finite numbers are null with
// their bits. An engine writes the site_stats, correction and finding events of a step *before* its step event, so that
// a listener can store a step as one transaction.

struct HelloEvent {
    std::string engineVersion;
    std::string blas;
    std::string core; ///< core type that the BLAS runs on
    std::uint64_t threads = 0;
    std::string kernel; ///< profile text
    std::string isa;    ///< of the site pass
    bool operator==(const HelloEvent&) const = default;
};

struct ProgressEvent {
    std::string phase;
    std::uint64_t done = 0;
    std::uint64_t total = 0; ///< 0 = unknown
    std::string unit;
    std::optional<double> stepsPerSecond;
    std::optional<double> etaSeconds;
    bool operator==(const ProgressEvent&) const = default;
};

struct CheckEvent {
    CheckResult result;
    bool operator==(const CheckEvent&) const = default;
};

enum class StepStatus { matched, mismatched, trained };
[[nodiscard]] std::string_view stepStatusName(StepStatus status);
[[nodiscard]] std::optional<StepStatus> stepStatusFromName(std::string_view name);

struct StepEvent {
    std::uint64_t step = 0;
    StepStatus status = StepStatus::mismatched;
    std::uint32_t lossBits = 0;                   ///< FP32 bits of one's own loss
    std::optional<std::uint32_t> lossClaimedBits; ///< verify only
    std::optional<std::uint32_t> evaluationBits;
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;
    std::uint64_t offences = 0;
    std::uint64_t logBytes = 0;
    std::uint64_t freedom = 0; ///< values with a choice
    double seconds = 0;
    bool checkpoint = false;
    std::string digest; ///< leaf hash, hex; empty = not given
    bool operator==(const StepEvent&) const = default;
};

struct SiteInfo {
    std::uint32_t index = 0;
    std::string name;      ///< "blocks.0.attn.qkv / dW"
    std::string direction; ///< "forward", "input gradient", ...
    bool product = false;
    std::uint64_t values = 0;
    bool operator==(const SiteInfo&) const = default;
};
/// Once, before the first step.
struct SitesEvent {
    std::vector<SiteInfo> sites;
    bool operator==(const SitesEvent&) const = default;
};

struct SiteCount {
    std::uint32_t site = 0;
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;
    std::uint64_t offences = 0;
    bool operator==(const SiteCount&) const = default;
};
/// Only sites with a count other than zero.
struct SiteStatsEvent {
    std::uint64_t step = 0;
    std::vector<SiteCount> sites;
    bool operator==(const SiteStatsEvent&) const = default;
};

inline constexpr std::size_t kCorrectionsPerStep = 100; ///< more are counted but not reported one by one
struct CorrectionEvent {
    std::uint64_t step = 0;
    std::uint32_t site = 0;
    std::string name; ///< of the site
    std::uint64_t element = 0;
    std::uint32_t ownBits = 0;
    std::uint32_t takenBits = 0;
    bool operator==(const CorrectionEvent&) const = default;
};

struct FindingEvent {
    Finding finding;
    bool operator==(const FindingEvent&) const = default;
};

struct VerdictEvent {
    VerifyReport report;
    bool operator==(const VerdictEvent&) const = default;
};

/// The verb's own result: the members of one JSON object, merged with "event":"done".
struct DoneEvent {
    std::string resultJson = "{}"; ///< canonical: keys sorted, no white space, without "event"
    bool operator==(const DoneEvent&) const = default;
};

struct ErrorEvent {
    base::Error error;
    bool operator==(const ErrorEvent& other) const;
};

using EngineEvent = std::variant<HelloEvent, ProgressEvent, CheckEvent, StepEvent, SitesEvent, SiteStatsEvent,
                                 CorrectionEvent, FindingEvent, VerdictEvent, DoneEvent, ErrorEvent>;

inline constexpr std::size_t kMaxEventBytes = 64ULL << 20;
inline constexpr std::size_t kMaxEventDepth = 16;
inline constexpr std::size_t kMaxSites = 1ULL << 20;

/// Parses one line (without its newline). `malformed` on anything that is not such an event: invalid UTF-8, too deep,
/// too big, a missing or mistyped field, a number out of range. Unknown fields are ignored; an unknown event name is
/// `malformed`. Memory is bounded by a constant factor of the line. Thread-safe.
[[nodiscard]] base::Result<EngineEvent> parseEvent(std::string_view line);
/// One line without its newline; inverse of parseEvent. Invalid UTF-8 in texts is replaced by U+FFFD.
[[nodiscard]] std::string serialiseEvent(const EngineEvent& event);

} // namespace assay::audit
