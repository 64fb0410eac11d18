// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/rounding_log.h"

#include <algorithm>

namespace assay::numerics {
namespace {

template <typename T>
void appendCapped(std::vector<T>& to, const std::vector<T>& from) {
    const std::size_t room = kListCap - std::min(kListCap, to.size());
    const std::size_t count = std::min(room, from.size());
    to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
}

} // namespace

std::string_view toString(OffenceKind kind) {
    switch (kind) {
    case OffenceKind::missingEntry:
        return "missing entry";
    case OffenceKind::illegalEntry:
        return "illegal entry";
    case OffenceKind::noFit:
        return "no fit";
    case OffenceKind::indexOutOfRange:
        return "index out of range";
    case OffenceKind::notIncreasing:
        return "not increasing";
    case OffenceKind::leftOver:
        return "left over";
    case OffenceKind::malformedPayload:
        return "malformed payload";
    case OffenceKind::nonFinite:
        return "not finite";
    }
    return "unknown";
}

RecordStats& RecordStats::operator+=(const RecordStats& other) {
    values += other.values;
    entries += other.entries;
    wholeEntries += other.wholeEntries;
    finite = finite && other.finite;
    return *this;
}

EnforceStats& EnforceStats::operator+=(const EnforceStats& other) {
    values += other.values;
    entries += other.entries;
    corrections += other.corrections;
    correctionsUp += other.correctionsUp;
    oddEntries += other.oddEntries;
    demanded += other.demanded;
    offenceCount += other.offenceCount;
    finite = finite && other.finite;
    appendCapped(offences, other.offences);
    appendCapped(corrected, other.corrected);
    return *this;
}

std::span<const LogEntry> takeEntriesBelow(std::span<const LogEntry>& rest, std::uint64_t end) {
    std::size_t count = 0;
    while (count < rest.size() && rest[count].index < end) {
        ++count;
    }
    const std::span<const LogEntry> taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
}

EnforceStats leftOverEntries(std::span<const LogEntry> rest) {
    EnforceStats stats;
    stats.entries = rest.size();
    stats.offenceCount = rest.size();
    for (const LogEntry& entry : rest.first(std::min(rest.size(), kListCap))) {
        Offence offence;
        offence.kind = OffenceKind::leftOver;
        offence.index = entry.index;
        stats.offences.push_back(offence);
    }
    return stats;
}

} // namespace assay::numerics
