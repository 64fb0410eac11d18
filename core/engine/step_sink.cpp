// SPDX-License-Identifier: Apache-2.0
#include "core/engine/step_sink.h"

#include <bit>

#include "core/base/assert.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// True if every value is finite. Bit test without branches, so that the loop runs at memory speed.
bool allFinite(std::span<const float> values) {
    constexpr std::uint32_t kExponent = 0x7F800000u;
    std::uint32_t bad = 0;
    for (const float value : values) {
        bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
    }
    return bad == 0;
}

} // namespace

SiteStats& StepSink::statsOf(const Site& site) {
    if (m_stats.empty() || m_stats.back().site != site.index) {
        m_stats.push_back({});
        m_stats.back().site = site.index;
    }
    return m_stats.back();
}

Result<void> StepSink::stop(const Site& site) {
    if (!m_diverged) {
        m_diverged = site.name;
    }
    return fail(ErrorCode::internal, "a non-finite value ended the step");
}

Result<void> StepSink::product(const Site& site, const numerics::ProductSite& panel, float* out) {
    ASSAY_TRY(finite, roundPanel(site, panel, out));
    return finite ? Result<void>{} : stop(site);
}

Result<void> StepSink::completed(const Site& site, std::span<float> values) {
    if (site.product) {
        ASSAY_CHECK(finishSite(site));
    } else if (!allFinite(values)) {
        return stop(site);
    }
    for (auto* hook : m_hooks) {
        ASSAY_CHECK(hook->completed(m_step, site, values));
    }
    return {};
}

Result<bool> Recorder::roundPanel(const Site& site, const numerics::ProductSite& panel, float* out) {
    const auto before = m_log.size();
    const auto stats = numerics::recordSite(panel, out, m_log);
    if (m_log.size() != before) {
        statsOf(site).entries += m_log.size() - before;
    }
    return stats.finite;
}

Result<void> Recorder::finishSite(const Site& site) {
    ASSAY_ASSERT(site.section == m_sections.size());
    m_sections.push_back(numerics::encodeSection(m_log, site.values));
    m_log.clear();
    return {};
}

Enforcer::Enforcer(std::uint64_t step, std::span<SiteHook* const> hooks, const numerics::StepLogFile* log,
                   bool ignoreLog)
    : StepSink(step, hooks), m_log(log), m_ignoreLog(ignoreLog || log == nullptr) {}

Result<void> Enforcer::openSection(const Site& site) {
    if (m_openSite == site.index) {
        return {};
    }
    m_openSite = site.index;
    m_entries.clear();
    if (m_log != nullptr) {
        ASSAY_ASSERT(site.section < m_log->sections.size());
        const auto& section = m_log->sections[site.section];
        ASSAY_TRY(entries, numerics::decodeSection(section.bytes, site.values, section.offset));
        m_entries = std::move(entries);
    }
    m_rest = m_entries;
    return {};
}

void Enforcer::take(const Site& site, const numerics::EnforceStats& stats) {
    if (stats.entries == 0 && stats.corrections == 0 && stats.offenceCount == 0 && stats.demanded == 0) {
        return;
    }
    auto& total = statsOf(site);
    total.entries += stats.entries;
    total.corrections += stats.corrections;
    total.offences += stats.offenceCount;
    total.freedom += stats.demanded;
    for (const auto& offence : stats.offences) {
        if (m_offences.size() < numerics::kListCap) {
            m_offences.push_back({site.index, offence});
        }
    }
    for (const auto& record : stats.corrected) {
        if (m_corrections.size() < numerics::kListCap) {
            m_corrections.push_back({site.index, record});
        }
    }
}

Result<bool> Enforcer::roundPanel(const Site& site, const numerics::ProductSite& panel, float* out) {
    ASSAY_CHECK(openSection(site));
    const auto entries = numerics::takeEntriesBelow(m_rest, panel.indexBase + panel.values());
    if (m_watcher) {
        m_watcher(site, panel, entries);
    }
    const auto stats = numerics::enforceSite(panel, entries, out, m_ignoreLog);
    take(site, stats);
    return stats.finite;
}

Result<void> Enforcer::finishSite(const Site& site) {
    ASSAY_CHECK(openSection(site));
    if (!m_ignoreLog && !m_rest.empty()) {
        take(site, numerics::leftOverEntries(m_rest));
    }
    m_openSite = kNone;
    return {};
}

} // namespace assay::engine
