// SPDX-License-Identifier: Apache-2.0
#include "app/engine/event_output.h"

#include <bit>
#include <cerrno>

#include <unistd.h>

namespace assay::app {

namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);

} // namespace

void EventOutput::emit(const audit::EngineEvent& event) {
    std::string line = audit::serialiseEvent(event);
    line += '\n';
    const std::lock_guard lock(m_mutex);
    std::string_view rest = line;
    while (!rest.empty()) {
        const auto written = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            m_control.requestStop(); // nobody listens any more
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

void EventOutput::progress(const base::Progress& progress) {
    const auto now = Clock::now();
    const bool last = progress.total != 0 && progress.done >= progress.total;
    if (m_phase == progress.phase && !last && now - m_last < kProgressInterval) {
        return;
    }
    m_phase = progress.phase;
    m_last = now;
    audit::ProgressEvent event;
    event.phase = progress.phase;
    event.done = progress.done;
    event.total = progress.total;
    event.unit = progress.unit;
    emit(event);
}

base::ProgressFn EventOutput::progressFn() {
    return [this](const base::Progress& report) { progress(report); };
}

void EventOutput::stepProgress(std::string_view phase, std::uint64_t done, std::uint64_t total) {
    const auto now = Clock::now();
    if (m_phase != phase) {
        m_phase = phase;
        m_phaseStart = now;
        m_phaseFirst = done;
        m_last = {};
    }
    if (done < total && now - m_last < kProgressInterval) {
        return;
    }
    m_last = now;
    audit::ProgressEvent event;
    event.phase = phase;
    event.done = done;
    event.total = total;
    event.unit = "steps";
    const double seconds = std::chrono::duration<double>(now - m_phaseStart).count();
    if (done > m_phaseFirst && seconds > 0) {
        event.stepsPerSecond = static_cast<double>(done - m_phaseFirst) / seconds;
        event.etaSeconds = static_cast<double>(total - done) / *event.stepsPerSecond;
    }
    emit(event);
}

void EventOutput::sites(const engine::Session& session) {
    audit::SitesEvent event;
    for (const auto& site : session.sites()) {
        event.sites.push_back(
            {site.index, site.name, std::string(tensor::toString(site.direction)), site.product, site.values});
    }
    emit(event);
}

void EventOutput::stepDetails(const engine::Session& session, const engine::StepOutcome& outcome) {
    audit::SiteStatsEvent stats;
    stats.step = outcome.leaf.step;
    for (const auto& site : outcome.stats) {
        if (site.entries != 0 || site.corrections != 0 || site.offences != 0) {
            stats.sites.push_back({site.site, site.entries, site.corrections, site.offences});
        }
    }
    if (!stats.sites.empty()) {
        emit(stats);
    }
    for (std::size_t i = 0; i < outcome.corrections.size() && i < audit::kCorrectionsPerStep; ++i) {
        const auto& correction = outcome.corrections[i];
        audit::CorrectionEvent event;
        event.step = outcome.leaf.step;
        event.site = correction.site;
        event.name = session.sites()[correction.site].name;
        event.element = correction.record.index;
        event.ownBits = std::bit_cast<std::uint32_t>(correction.record.own);
        event.takenBits = std::bit_cast<std::uint32_t>(correction.record.taken);
        emit(event);
    }
}

} // namespace assay::app
