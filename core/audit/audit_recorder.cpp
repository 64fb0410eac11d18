// SPDX-License-Identifier: Apache-2.0
#include "core/audit/audit_recorder.h"

#include <fmt/format.h>

namespace assay::audit {

namespace {

template <typename Enum>
std::optional<std::string> nameOf(const std::optional<Enum>& value, std::string_view (*name)(Enum)) {
    return value ? std::optional(std::string(name(*value))) : std::nullopt;
}

template <typename Enum>
std::optional<Enum> valueOf(const std::optional<std::string>& name, std::optional<Enum> (*parse)(std::string_view)) {
    return name ? parse(*name) : std::nullopt;
}

store::StepRow toRow(const StepEvent& step) {
    store::StepRow row;
    row.step = step.step;
    row.status = stepStatusName(step.status);
    row.lossBits = step.lossBits;
    row.lossClaimedBits = step.lossClaimedBits;
    row.evaluationBits = step.evaluationBits;
    row.entries = step.entries;
    row.corrections = step.corrections;
    row.offences = step.offences;
    row.logBytes = step.logBytes;
    row.freedom = step.freedom;
    row.seconds = step.seconds;
    row.checkpoint = step.checkpoint;
    row.digest = step.digest;
    return row;
}

} // namespace

std::string ReplayOptions::toString() const {
    std::string text = fmt::format("scope={}", scopeName(scope));
    if (scope != Scope::all) {
        text += ";ranges=";
        for (const auto& range : ranges) {
            text += fmt::format("{}:{},", range.first, range.last);
        }
    }
    if (scope == Scope::sample) {
        text += ";nonce=" + nonce;
    }
    if (logIgnored) {
        text += ";ignore-log";
    }
    if (!secondKernel.empty()) {
        text += ";second-kernel=" + secondKernel;
    }
    return text;
}

store::WorkKey workKey(std::string_view rootHex, std::string_view orderDigestHex, std::string_view kernel,
                       const ReplayOptions& options) {
    return {std::string(rootHex), std::string(orderDigestHex), std::string(kernel), options.toString()};
}

base::Result<AuditRecorder> AuditRecorder::begin(store::AuditStore& store, const store::NewAudit& audit) {
    ASSAY_TRY(id, store.createAudit(audit));
    return AuditRecorder(store, id);
}

base::Result<std::optional<store::ResumableAudit>> AuditRecorder::findResumable(const store::AuditStore& store,
                                                                                const store::WorkKey& work) {
    return store.findResumable(work);
}

base::Result<AuditRecorder> AuditRecorder::resume(store::AuditStore& store, store::AuditId id) {
    ASSAY_CHECK(store.takeOver(id));
    ASSAY_CHECK(store.forgetUnverified(id));
    return AuditRecorder(store, id);
}

base::Result<EngineEvent> AuditRecorder::acceptLine(std::string_view line) {
    ASSAY_TRY(event, parseEvent(line));
    ASSAY_CHECK(accept(event));
    return std::move(event);
}

base::Result<void> AuditRecorder::accept(const EngineEvent& event) {
    if (const auto* step = std::get_if<StepEvent>(&event)) {
        auto found = m_pending.find(step->step);
        store::StepWrite write = found == m_pending.end() ? store::StepWrite{} : std::move(found->second);
        m_pending.clear(); // an engine goes step by step: what came for others was never finished
        write.step = toRow(*step);
        return m_store->putStep(m_id, write);
    }
    if (const auto* stats = std::get_if<SiteStatsEvent>(&event)) {
        auto& rows = m_pending[stats->step].sites;
        for (const auto& site : stats->sites) {
            rows.push_back({site.site, site.entries, site.corrections, site.offences});
        }
        return checkPending();
    }
    if (const auto* correction = std::get_if<CorrectionEvent>(&event)) {
        auto& rows = m_pending[correction->step].corrections;
        if (rows.size() < kCorrectionsPerStep) {
            rows.push_back({{correction->step, 0},
                            correction->site,
                            correction->name,
                            correction->element,
                            correction->ownBits,
                            correction->takenBits});
        }
        return checkPending();
    }
    if (const auto* finding = std::get_if<FindingEvent>(&event)) {
        const store::FindingRow row = audit::toRow(finding->finding);
        return m_store->addFindings(m_id, std::span(&row, 1));
    }
    if (const auto* check = std::get_if<CheckEvent>(&event)) {
        return m_store->putCheck(m_id, audit::toRow(check->result));
    }
    if (const auto* sites = std::get_if<SitesEvent>(&event)) {
        std::vector<store::SiteRow> rows;
        rows.reserve(sites->sites.size());
        for (const auto& site : sites->sites) {
            rows.push_back({site.index, site.name, site.direction, site.product, site.values});
        }
        return m_store->putSites(m_id, rows);
    }
    if (std::holds_alternative<HelloEvent>(event)) {
        return m_store->setFacts(m_id, {serialiseEvent(event), {}});
    }
    if (const auto* verdict = std::get_if<VerdictEvent>(&event)) {
        m_report = verdict->report;
        return m_store->setFacts(m_id, {{}, verdict->report.kernelTrainer});
    }
    if (const auto* error = std::get_if<ErrorEvent>(&event)) {
        m_error = error->error;
    }
    return {};
}

base::Result<void> AuditRecorder::checkPending() const {
    constexpr std::size_t kMaxPendingSteps = 1024;
    if (m_pending.size() > kMaxPendingSteps) {
        return base::fail(base::ErrorCode::malformed,
                          "the engine reports on more than a thousand steps without finishing one");
    }
    return {};
}

base::Result<void> AuditRecorder::end(std::string_view why) {
    if (m_report && m_report->verdict != Verdict::notChecked) {
        return m_store->finishAudit(m_id, verdictName(m_report->verdict), m_report->reason, toJson(*m_report));
    }
    return m_store->interruptAudit(m_id, why.empty() && m_error ? std::string_view(m_error->message) : why);
}

base::Result<void> AuditRecorder::setPaused(bool paused) {
    return m_store->setState(m_id, paused ? store::AuditState::paused : store::AuditState::running);
}

store::FindingRow toRow(const Finding& finding) {
    store::FindingRow row;
    const auto& where = finding.where;
    row.severity = severityName(finding.severity);
    row.source = nameOf<Source>(where.source, sourceName);
    row.step = where.step;
    row.part = nameOf<Part>(where.part, partName);
    row.tensor = where.tensor;
    row.operator_ = where.operator_;
    row.site = where.site;
    row.element = where.element;
    row.claimed = where.claimed;
    row.computed = where.computed;
    row.claimedBits = where.claimedBits;
    row.computedBits = where.computedBits;
    row.text = finding.text;
    return row;
}

Finding fromRow(const store::FindingRow& row) {
    Finding finding;
    finding.severity = severityFromName(row.severity).value_or(Severity::info);
    finding.where.source = valueOf<Source>(row.source, sourceFromName);
    finding.where.step = row.step;
    finding.where.part = valueOf<Part>(row.part, partFromName);
    finding.where.tensor = row.tensor;
    finding.where.operator_ = row.operator_;
    finding.where.site = row.site;
    finding.where.element = row.element;
    finding.where.claimed = row.claimed;
    finding.where.computed = row.computed;
    finding.where.claimedBits = row.claimedBits;
    finding.where.computedBits = row.computedBits;
    finding.text = row.text;
    return finding;
}

store::CheckRow toRow(const CheckResult& check) {
    return {std::string(checkName(check.check)), std::string(checkStateName(check.state)), check.detail,
            nameOf<Part>(check.part, partName), check.step};
}

} // namespace assay::audit
