// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda/arith/interval.h"

namespace assay::numerics {

/// One logged decision: which FP32 value the trainer took for element `index` of a site.
struct LogEntry {
    std::uint64_t index = 0;
    bool whole = false;        ///< payload holds all bits of the value; else only its parity
    std::uint32_t payload = 0; ///< 0 or 1, or FP32 bits
    bool operator==(const LogEntry&) const = default;
};

/// Entries of one site, strictly increasing by index.
using SiteLog = std::vector<LogEntry>;

/// What the auditor found wrong with a log. An offence counts even where the resulting value happens to agree.
enum class OffenceKind {
    missingEntry,     ///< demanded, because [y' +- D(1+4d)] holds more than one float, but absent
    illegalEntry,     ///< not permitted: [y' +- 3D(1+16d)] holds only one float
    noFit,            ///< no float, or more than one, in [y' +- D(1+4d)] agrees with the entry
    indexOutOfRange,  ///< index beyond the site
    malformedPayload, ///< NaN, infinity or -0 as a whole value
};

[[nodiscard]] std::string_view toString(OffenceKind kind);

struct Offence {
    OffenceKind kind = OffenceKind::missingEntry;
    std::uint64_t index = 0;
    float own = 0.0f;                      ///< the auditor's own RN(y')
    std::optional<LogEntry> entry;         ///< what the log says, if anything
    arith::KeyInterval takes;              ///< [y' +- D(1+4d)]
};

/// An entry that changed the auditor's own rounding.
struct Correction {
    std::uint64_t index = 0;
    float own = 0.0f;
    float taken = 0.0f;
};

} // namespace assay::numerics
