// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/site_pass.h"

#include <atomic>
#include <bit>

#include "core/base/assert.h"
#include "core/numerics/detail/site_pass_kernels.h"
#include "core/numerics/product_bound.h"

namespace assay::numerics {

namespace {

std::atomic<Isa>& chosenIsa() {
    static std::atomic<Isa> isa{bestIsa()};
    return isa;
}

detail::PassKernel kernel() {
    switch (chosenIsa().load(std::memory_order_relaxed)) {
    case Isa::avx512:
        return detail::passAvx512;
    case Isa::avx2:
        return detail::passAvx2;
    case Isa::scalar:
        break;
    }
    return detail::passScalar;
}

bool isFiniteInterval(arith::KeyInterval interval) {
    return arith::isFiniteBits(arith::fromKey(interval.lo)) && arith::isFiniteBits(arith::fromKey(interval.hi));
}

struct Element {
    double y;
    double bound;
    bool isFinite() const { return arith::isFiniteBits(y) && arith::isFiniteBits(bound); }
};

Element elementAt(const ProductSite& panel, std::uint64_t offset) {
    return {panel.y[offset], panelBound(panel, offset / panel.cols, offset % panel.cols)};
}

} // namespace

std::string_view toString(OffenceKind kind) {
    switch (kind) {
    case OffenceKind::missingEntry:
        return "missing entry";
    case OffenceKind::illegalEntry:
        return "illegal entry";
    case OffenceKind::noFit:
        return "inadmissible entry";
    case OffenceKind::indexOutOfRange:
        return "entry beyond the site";
    case OffenceKind::malformedPayload:
        return "malformed entry";
    }
    return "offence";
}

std::string_view toString(Isa isa) {
    switch (isa) {
    case Isa::scalar:
        return "scalar";
    case Isa::avx2:
        return "avx2";
    case Isa::avx512:
        return "avx512";
    }
    return "scalar";
}

Isa bestIsa() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return Isa::avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return Isa::avx2;
    }
#endif
    return Isa::scalar;
}

Isa activeIsa() {
    return chosenIsa().load();
}

bool forceIsa(Isa isa) {
    if (isa > bestIsa()) {
        return false;
    }
    chosenIsa().store(isa);
    return true;
}

double panelBound(const ProductSite& panel, std::uint64_t i, std::uint64_t j) {
    return elementBound(panel.coefficient, panel.rowNorm[i], panel.colNorm[j], panel.rowGranule[i], panel.colGranule[j],
                        panel.y[i * panel.cols + j]);
}

void SiteRecorder::pass(const ProductSite& panel, float* out) {
    m_doubtful.clear();
    kernel()(panel, arith::kTrainerLogs, out, m_doubtful);
    for (const auto offset : m_doubtful) {
        const auto element = elementAt(panel, offset);
        const auto logs = arith::floatsWithin(element.y, arith::kTrainerLogs * element.bound);
        const auto whole = arith::floatsWithin(element.y, arith::kTrainerWhole * element.bound);
        if (!element.isFinite() || !isFiniteInterval(whole)) {
            m_finite = false;
            continue;
        }
        ASSAY_ASSERT(logs.count() > 1);
        const bool needsWhole = whole.count() > 2;
        const auto bits = std::bit_cast<std::uint32_t>(out[offset]);
        m_log.push_back({panel.indexBase + offset, needsWhole, needsWhole ? bits : bits & 1u});
    }
}

void SiteEnforcer::offend(OffenceKind kind, std::uint64_t index, float own, const LogEntry* entry, arith::KeyInterval takes) {
    ++m_offenceCount;
    if (m_offences.size() < kKept) {
        m_offences.push_back({kind, index, own, entry != nullptr ? std::optional(*entry) : std::nullopt, takes});
    }
}

void SiteEnforcer::applyEntry(const ProductSite& panel, const LogEntry& entry, float* out) {
    const std::uint64_t offset = entry.index - panel.indexBase;
    const auto element = elementAt(panel, offset);
    const float own = out[offset];
    if (!element.isFinite()) {
        return; // the pass has already marked the site as not finite
    }
    const auto takes = arith::floatsWithin(element.y, arith::kAuditorTakes * element.bound);
    const auto permits = arith::floatsWithin(element.y, arith::kAuditorPermits * element.bound);
    if (permits.count() <= 1) {
        offend(OffenceKind::illegalEntry, entry.index, own, &entry, takes);
        return;
    }
    std::int32_t key = 0;
    if (entry.whole) {
        const auto value = std::bit_cast<float>(entry.payload);
        if (entry.payload == 0x80000000u || !arith::isFiniteBits(value)) {
            offend(OffenceKind::malformedPayload, entry.index, own, &entry, takes);
            return;
        }
        key = arith::keyOf(value);
        if (!takes.holds(key)) {
            offend(OffenceKind::noFit, entry.index, own, &entry, takes);
            return;
        }
    } else {
        const bool loFits = (static_cast<std::uint32_t>(takes.lo) & 1u) == entry.payload;
        key = loFits ? takes.lo : takes.lo + 1;
        // Exactly one float of that parity must lie in the interval: the next one of the same parity is two keys on.
        if (key > takes.hi || key + 2 <= takes.hi) {
            offend(OffenceKind::noFit, entry.index, own, &entry, takes);
            return;
        }
    }
    const float taken = arith::fromKey(key);
    if (!arith::isFiniteBits(taken)) {
        m_finite = false;
        return;
    }
    if (key != arith::keyOf(own)) {
        ++m_correctionCount;
        if (m_corrections.size() < kKept) {
            m_corrections.push_back({entry.index, own, taken});
        }
        out[offset] = taken;
    }
}

void SiteEnforcer::pass(const ProductSite& panel, float* out) {
    m_doubtful.clear();
    kernel()(panel, arith::kAuditorTakes, out, m_doubtful);
    const std::uint64_t end = panel.indexBase + panel.rows * panel.cols;
    std::size_t cursor = m_next; // entries of this panel, in step with the doubtful elements
    for (const auto offset : m_doubtful) {
        const std::uint64_t index = panel.indexBase + offset;
        const auto element = elementAt(panel, offset);
        const auto takes = arith::floatsWithin(element.y, arith::kAuditorTakes * element.bound);
        if (!element.isFinite() || !isFiniteInterval(takes)) {
            m_finite = false;
            continue;
        }
        ++m_demandedCount;
        while (cursor < m_entries.size() && m_entries[cursor].index < index) {
            ++cursor;
        }
        if (cursor == m_entries.size() || m_entries[cursor].index != index) {
            offend(OffenceKind::missingEntry, index, out[offset], nullptr, takes);
        }
    }
    while (m_next < m_entries.size() && m_entries[m_next].index < end) {
        applyEntry(panel, m_entries[m_next], out);
        ++m_next;
    }
}

void SiteEnforcer::finish() {
    for (; m_next < m_entries.size(); ++m_next) {
        const auto& entry = m_entries[m_next];
        ASSAY_ASSERT(entry.index >= m_values);
        offend(OffenceKind::indexOutOfRange, entry.index, 0.0f, &entry, {});
    }
}

bool roundPanel(const ProductSite& panel, float* out) {
    std::vector<std::uint64_t> doubtful;
    kernel()(panel, 0.0, out, doubtful);
    return doubtful.empty(); // with radius 0 only what is not finite is doubtful
}

} // namespace assay::numerics
