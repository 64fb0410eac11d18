// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/event_batch.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <QCoreApplication>
#include <QDateTime>

#include "ui/bridge/store_worker.h"
#include "ui/models/verdict_words.h"

namespace assay::ui {

namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }
double loss(std::uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

std::uint32_t clamped(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

QString tr(const char* words) { return QCoreApplication::translate("Engine", words); }

void log(EventBatch& batch, Tone tone, const QString& words) {
    batch.log.push_back({QDateTime::currentDateTime(), tone, tr("engine"), words});
}

struct Adder {
    EventBatch& batch;

    void operator()(const audit::HelloEvent& event) const {
        batch.hello = event;
        log(batch, Tone::info,
            tr("Engine %1 on %2 (%3), kernel %4, site pass %5")
                .arg(text(event.engineVersion), text(event.blas), text(event.core), text(event.kernel), text(event.isa)));
    }
    void operator()(const audit::ProgressEvent& event) const {
        RunProgress progress;
        progress.phase = text(event.phase);
        progress.done = event.done;
        progress.total = event.total;
        progress.unit = text(event.unit);
        progress.perSecond = event.stepsPerSecond.value_or(0.0);
        progress.etaSeconds = event.etaSeconds.value_or(-1.0);
        batch.progress = progress;
    }
    void operator()(const audit::CheckEvent& event) const { batch.checks.push_back(checkRow(event.result)); }
    void operator()(const audit::StepEvent& event) const {
        StepCell cell;
        cell.step = event.step;
        cell.state = event.status == audit::StepStatus::matched      ? StepState::matched
                     : event.status == audit::StepStatus::mismatched ? StepState::mismatched
                                                                     : StepState::notReplayed;
        cell.lossReplayed = loss(event.lossBits);
        cell.hasReplayed = true;
        if (event.lossClaimedBits) {
            cell.lossClaimed = loss(*event.lossClaimedBits);
            cell.hasClaimed = true;
        }
        cell.checkpoint = event.checkpoint;
        cell.entries = event.entries;
        cell.corrections = event.corrections;
        cell.offences = event.offences;
        cell.logBytes = event.logBytes;
        cell.freedom = event.freedom;
        cell.seconds = event.seconds;
        batch.steps.push_back(cell);
        if (batch.counts.empty() || batch.counts.back().step != event.step) {
            batch.counts.push_back({event.step, {}}); // replayed, and no site had anything to count
        }
    }
    void operator()(const audit::SitesEvent& event) const {
        std::vector<SiteRow> rows;
        for (const auto& site : event.sites) {
            if (site.product) {
                rows.push_back({site.index, text(site.name), text(site.direction), site.values});
            }
        }
        batch.sites = std::move(rows);
    }
    void operator()(const audit::SiteStatsEvent& event) const {
        StepCounts counts;
        counts.step = event.step;
        for (const auto& site : event.sites) {
            counts.counts.push_back({site.site, clamped(site.entries), clamped(site.corrections), clamped(site.offences)});
        }
        batch.counts.push_back(std::move(counts));
    }
    void operator()(const audit::CorrectionEvent& event) const {
        batch.corrections.push_back({{event.step, text(event.name), event.element, event.ownBits, event.takenBits}, 0});
    }
    void operator()(const audit::FindingEvent& event) const {
        batch.findings.push_back(findingRow(event.finding));
        log(batch, event.finding.severity == audit::Severity::failure ? Tone::bad : Tone::doubt, text(event.finding.text));
    }
    void operator()(const audit::VerdictEvent& event) const {
        batch.report = event.report;
        const auto words = verdictTextOf(event.report.verdict, event.report.stepsChecked < event.report.stepsTotal);
        log(batch, words.tone, words.headline + QStringLiteral(": ") + text(event.report.reason));
    }
    void operator()(const audit::DoneEvent& event) const { batch.done = text(event.resultJson); }
    void operator()(const audit::ErrorEvent& event) const {
        batch.error = text(event.error.toString());
        log(batch, Tone::bad, *batch.error);
    }
};

} // namespace

void addToBatch(const audit::EngineEvent& event, EventBatch& batch) { std::visit(Adder{batch}, event); }

} // namespace assay::ui
