// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cuda/arith/interval.h"

namespace assay::numerics {

using arith::KeyInterval;

/// One entry of the rounding log: element `index` of a site was in doubt, and this is what the trainer took.
struct LogEntry {
    std::uint64_t index = 0;
    bool whole = false;        ///< false: `payload` is the parity of the key; true: the bits of the float
    std::uint32_t payload = 0; ///< parity 0 or 1; or FP32 bits, never 0x80000000 (-0) and never a NaN

    bool operator==(const LogEntry&) const = default;
};

/// The entries of one site in strictly increasing index order.
using SiteLog = std::vector<LogEntry>;

/// Ways in which a log breaks the rules. Persistent in evidence, never renumber.
enum class OffenceKind : std::uint8_t {
    missingEntry = 1,     ///< the auditor demands an entry here and there is none
    illegalEntry = 2,     ///< an entry where none is permitted
    noFit = 3,            ///< no float, or more than one, fits the entry within what the auditor takes
    indexOutOfRange = 4,  ///< an index outside the product
    notIncreasing = 5,    ///< an index that is not larger than the one before
    leftOver = 6,         ///< an entry behind the last element of the site
    malformedPayload = 7, ///< a parity other than 0 and 1, or the bits of -0 or of a NaN
    nonFinite = 8         ///< an entry where the bound is not finite: it would allow anything
};

/// Stable lower-case text for reports ("missing entry").
[[nodiscard]] std::string_view toString(OffenceKind kind);

/// One broken rule, recorded even where the logged value agrees with the auditor's own.
struct Offence {
    OffenceKind kind = OffenceKind::missingEntry;
    std::uint64_t index = 0;
    float own = 0.0F;            ///< the auditor's own rounding; 0 where the index names no element
    std::optional<float> logged; ///< what the entry says, where it says exactly one float
    KeyInterval takes;           ///< keys that the auditor would have taken
    KeyInterval permits;         ///< an entry is permitted only if this holds more than one
};

/// An entry that changed the auditor's own rounding.
struct CorrectionRecord {
    std::uint64_t index = 0;
    float own = 0.0F;
    float taken = 0.0F;
};

/// Lists in statistics hold at most this many records; the counts beside them are exact.
inline constexpr std::size_t kListCap = 100;

struct RecordStats {
    std::uint64_t values = 0;
    std::uint64_t entries = 0;
    std::uint64_t wholeEntries = 0;
    bool finite = true; ///< no norm, bound, product or rounded value is infinite or NaN

    RecordStats& operator+=(const RecordStats& other);
};

struct EnforceStats {
    std::uint64_t values = 0;
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;   ///< entries that changed the auditor's own rounding
    std::uint64_t correctionsUp = 0; ///< of these, entries that took a larger value
    std::uint64_t oddEntries = 0;    ///< entries whose float has an odd key (balance of parity)
    std::uint64_t demanded = 0;      ///< elements where the auditor demands an entry
    std::uint64_t offenceCount = 0;
    bool finite = true;                      ///< no norm, bound, product or taken value is infinite or NaN
    std::vector<Offence> offences;           ///< the first kListCap, in index order
    std::vector<CorrectionRecord> corrected; ///< the first kListCap, in index order

    /// Adds the statistics of a later part of the same site (batched products).
    EnforceStats& operator+=(const EnforceStats& other);
};

/// Cuts the entries with index < end off the front of `rest` and returns them: how a site made of several products
/// hands each product its share.
[[nodiscard]] std::span<const LogEntry> takeEntriesBelow(std::span<const LogEntry>& rest, std::uint64_t end);

/// After the last product of a site: whatever is still in `rest` is an offence of kind leftOver.
[[nodiscard]] EnforceStats leftOverEntries(std::span<const LogEntry> rest);

} // namespace assay::numerics
