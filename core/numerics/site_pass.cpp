// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/site_pass.h"

#include "core/base/assert.h"
#include "core/numerics/kernel_table.h"

namespace assay::numerics {
namespace {

bool isWellFormed(const LogEntry& entry) {
    if (!entry.whole) {
        return entry.payload <= 1;
    }
    const float value = arith::floatFromBits(entry.payload);
    return entry.payload != 0x80000000U && value == value;
}

/// The auditor at work on one product: walks doubtful elements and entries side by side.
class Enforcer {
public:
    Enforcer(const ProductSite& site, float* out) : m_site(site), m_out(out) {
        m_stats.values = site.values();
        m_stats.finite = kernels().scan(site, arith::kAuditorTakes, out, m_doubtful);
    }

    EnforceStats run(std::span<const LogEntry> entries) {
        m_stats.entries = entries.size();
        const std::uint64_t base = m_site.indexBase;
        bool hasPrevious = false;
        std::uint64_t previous = 0;
        for (const LogEntry& entry : entries) {
            if (entry.index < base || entry.index - base >= m_stats.values) {
                report({OffenceKind::indexOutOfRange, entry.index, 0.0F, std::nullopt, {}, {}});
                continue;
            }
            if (hasPrevious && entry.index <= previous) {
                report({OffenceKind::notIncreasing, entry.index, 0.0F, std::nullopt, {}, {}});
                continue;
            }
            hasPrevious = true;
            previous = entry.index;
            passDoubtfulBelow(entry.index - base);
            applyEntry(entry);
        }
        passDoubtfulBelow(m_stats.values);
        return std::move(m_stats);
    }

    EnforceStats runWithoutLog() {
        for (const std::uint64_t element : m_doubtful) {
            const ElementView view = viewElement(m_site, m_site.indexBase + element);
            m_stats.demanded += take(element, view, view.own) ? 1U : 0U;
        }
        return std::move(m_stats);
    }

private:
    void report(const Offence& offence) {
        ++m_stats.offenceCount;
        if (m_stats.offences.size() < kListCap) {
            m_stats.offences.push_back(offence);
        }
    }

    /// Stores the value; false (and not finite) where the bound, the product or the value is not finite.
    bool take(std::uint64_t element, const ElementView& view, float value) {
        m_out[element] = value;
        const bool isBounded = arith::isFinite(view.bound) && arith::isFinite(view.y);
        m_stats.finite = m_stats.finite && isBounded && arith::isFinite(value);
        return isBounded;
    }

    /// Doubtful elements that turned out to have no entry.
    void passDoubtfulBelow(std::uint64_t end) {
        for (; m_next < m_doubtful.size() && m_doubtful[m_next] < end; ++m_next) {
            const std::uint64_t element = m_doubtful[m_next];
            const ElementView view = viewElement(m_site, m_site.indexBase + element);
            if (take(element, view, view.own)) {
                ++m_stats.demanded;
                report({OffenceKind::missingEntry, m_site.indexBase + element, view.own, std::nullopt, view.takes,
                        view.permits});
            }
        }
    }

    void applyEntry(const LogEntry& entry) {
        const std::uint64_t element = entry.index - m_site.indexBase;
        const bool isDoubtful = m_next < m_doubtful.size() && m_doubtful[m_next] == element;
        m_next += isDoubtful ? 1U : 0U;
        const ElementView view = viewElement(m_site, entry.index);
        Offence offence{OffenceKind::nonFinite, entry.index, view.own, std::nullopt, view.takes, view.permits};
        if (!take(element, view, view.own)) {
            report(offence);
            return;
        }
        m_stats.demanded += isDoubtful ? 1U : 0U;
        if (!isWellFormed(entry)) {
            offence.kind = OffenceKind::malformedPayload;
            report(offence);
            return;
        }
        const std::optional<std::int32_t> key = fittingKey(entry, view);
        if (entry.whole) {
            offence.logged = arith::floatFromBits(entry.payload);
        } else if (key) {
            offence.logged = arith::fromKey(*key);
        }
        if (!view.permitsEntry()) {
            offence.kind = OffenceKind::illegalEntry;
            report(offence);
            return;
        }
        if (!key) {
            offence.kind = OffenceKind::noFit;
            report(offence);
            return;
        }
        const float taken = arith::fromKey(*key);
        take(element, view, taken);
        m_stats.oddEntries += static_cast<std::uint32_t>(*key) & 1U;
        const std::int32_t own = arith::keyOf(view.own);
        if (*key != own) {
            ++m_stats.corrections;
            m_stats.correctionsUp += *key > own ? 1U : 0U;
            if (m_stats.corrected.size() < kListCap) {
                m_stats.corrected.push_back({entry.index, view.own, taken});
            }
        }
    }

    /// The one key within what the auditor takes that the (well-formed) entry names.
    static std::optional<std::int32_t> fittingKey(const LogEntry& entry, const ElementView& view) {
        if (entry.whole) {
            const std::int32_t key = arith::keyOf(arith::floatFromBits(entry.payload));
            return view.takes.contains(key) ? std::optional(key) : std::nullopt;
        }
        const std::int32_t low = view.takes.lo;
        const bool lowFits = (static_cast<std::uint32_t>(low) & 1U) == entry.payload;
        const std::int32_t first = lowFits ? low : low + 1;
        const bool isUnique = view.takes.contains(first) && !view.takes.contains(first + 2);
        return isUnique ? std::optional(first) : std::nullopt;
    }

    const ProductSite& m_site;
    float* m_out;
    std::vector<std::uint64_t> m_doubtful;
    std::size_t m_next = 0;
    EnforceStats m_stats;
};

} // namespace

ElementView viewElement(const ProductSite& site, std::uint64_t index) {
    ASSAY_ASSERT(index >= site.indexBase && index - site.indexBase < site.values());
    const std::uint64_t element = index - site.indexBase;
    ElementView view;
    view.y = site.y[element];
    view.bound = elementBound(site, element / site.cols, element % site.cols);
    view.own = arith::roundToFloat(view.y);
    if (arith::isFinite(view.y) && arith::isFinite(view.bound)) {
        view.takes = arith::floatsWithin(view.y, arith::kAuditorTakes * view.bound);
        view.permits = arith::floatsWithin(view.y, arith::kAuditorPermits * view.bound);
    }
    return view;
}

RecordStats recordSite(const ProductSite& site, float* out, SiteLog& appendTo) {
    RecordStats stats;
    stats.values = site.values();
    std::vector<std::uint64_t> doubtful;
    stats.finite = kernels().scan(site, arith::kTrainerLogs, out, doubtful);
    for (const std::uint64_t element : doubtful) {
        const double y = site.y[element];
        const double bound = elementBound(site, element / site.cols, element % site.cols);
        const float value = arith::roundToFloat(y);
        out[element] = value;
        stats.finite = stats.finite && arith::isFinite(value) && arith::isFinite(bound);
        if (!arith::isFinite(y) || !arith::isFinite(bound)) {
            continue;
        }
        LogEntry entry;
        entry.index = site.indexBase + element;
        entry.whole = arith::floatsWithin(y, arith::kTrainerWhole * bound).count() > 2;
        entry.payload = entry.whole ? arith::bitsOf(value) : static_cast<std::uint32_t>(arith::keyOf(value)) & 1U;
        appendTo.push_back(entry);
        ++stats.entries;
        stats.wholeEntries += entry.whole ? 1U : 0U;
    }
    return stats;
}

EnforceStats enforceSite(const ProductSite& site, std::span<const LogEntry> entries, float* out, bool ignoreLog) {
    Enforcer enforcer(site, out);
    return ignoreLog ? enforcer.runWithoutLog() : enforcer.run(entries);
}

} // namespace assay::numerics
