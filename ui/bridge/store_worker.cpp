// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/store_worker.h"

#include <bit>

#include <QCoreApplication>
#include <QFileInfo>

#include "core/format/submission.h"
#include "ui/bridge/command_text.h"
#include "ui/models/number_text.h"
#include "ui/models/verdict_words.h"

namespace assay::ui {

namespace {

constexpr std::size_t kPageOfSteps = 2000;
constexpr std::size_t kRecent = 50;

QString text(const std::string& value) { return QString::fromStdString(value); }
QString text(const std::optional<std::string>& value) { return value ? text(*value) : QString(); }
QDateTime timeOf(std::int64_t ms) { return QDateTime::fromMSecsSinceEpoch(ms); }

CheckRow toCheck(const store::CheckRow& row) {
    CheckRow out;
    out.name = text(row.name);
    const auto state = audit::checkStateFromName(row.state).value_or(audit::CheckState::notChecked);
    out.state = state == audit::CheckState::passed   ? CheckState::passed
                : state == audit::CheckState::failed ? CheckState::failed
                                                     : CheckState::notChecked;
    out.detail = text(row.detail);
    out.part = text(row.part);
    out.step = row.step;
    return out;
}

RecentAudit toRecent(const store::AuditRow& row) {
    RecentAudit out;
    out.id = row.id;
    out.path = text(row.submission);
    out.title = text(row.title);
    out.when = timeOf(row.updatedMs);
    out.interrupted = row.state != store::AuditState::finished;
    out.missing = !QFileInfo::exists(out.path);
    if (const auto inputs = parseVerifyCommand(text(row.command))) {
        out.clientOrder = QFileInfo::exists(inputs->clientOrder) ? inputs->clientOrder : QString();
        out.dataFolder = inputs->dataFolder;
    }
    const auto verdict = audit::verdictFromName(row.verdict).value_or(audit::Verdict::notChecked);
    const auto words = verdictTextOf(out.interrupted ? audit::Verdict::notChecked : verdict, row.stepsMatched < row.stepsTotal);
    out.tone = words.tone;
    out.headline = out.interrupted ? StoreWorker::tr("Interrupted") : words.headline;
    out.detail = StoreWorker::tr("%1 of %2 steps match, %3")
                     .arg(groupedNumber(row.stepsMatched), groupedNumber(row.stepsTotal), text(row.work.kernel));
    return out;
}

StepCell toCell(const store::StepRow& row) {
    audit::StepEvent event;
    event.step = row.step;
    event.status = audit::stepStatusFromName(row.status).value_or(audit::StepStatus::mismatched);
    event.lossBits = row.lossBits;
    event.lossClaimedBits = row.lossClaimedBits;
    event.entries = row.entries;
    event.corrections = row.corrections;
    event.offences = row.offences;
    event.logBytes = row.logBytes;
    event.freedom = row.freedom;
    event.seconds = row.seconds;
    event.checkpoint = row.checkpoint;
    EventBatch one;
    addToBatch(event, one);
    return one.steps.front();
}

} // namespace

bool StoreWorker::isOpen() { return m_store != nullptr; }

void StoreWorker::fail(const QString& what, const base::Error& error) { Q_EMIT failed(what, text(error.toString())); }

void StoreWorker::open(const QString& path) {
    base::fs::path file(path.toStdString());
    if (path.isEmpty()) {
        auto standard = store::defaultStorePath();
        if (!standard) {
            fail(tr("The audit store has no place"), standard.error());
            return;
        }
        file = *standard;
    }
    auto opened_ = store::AuditStore::open(file);
    if (!opened_) {
        fail(tr("The audit store cannot be opened; audits are not kept"), opened_.error());
        return;
    }
    m_store = std::make_unique<store::AuditStore>(std::move(*opened_));
    if (auto marked = m_store->markInterrupted(); !marked) {
        fail(tr("Interrupted audits could not be marked"), marked.error());
    }
    Q_EMIT opened(QString::fromStdString(file.string()));
    loadRecent();
}

void StoreWorker::begin(const RecordRequest& request) {
    m_recorder.reset();
    if (!isOpen()) {
        Q_EMIT recordingBegan(0);
        return;
    }
    auto recorder = request.resume ? audit::AuditRecorder::resume(*m_store, *request.resume)
                                   : audit::AuditRecorder::begin(*m_store, request.audit);
    if (!recorder) {
        fail(tr("The audit cannot be recorded"), recorder.error());
        Q_EMIT recordingBegan(0);
        return;
    }
    m_recorder = std::make_unique<audit::AuditRecorder>(std::move(*recorder));
    Q_EMIT recordingBegan(m_recorder->id());
    loadRecent();
}

void StoreWorker::findVerified(store::AuditId id, std::uint64_t through, const QString& path) {
    audit::VerifiedSteps verified;
    if (isOpen()) {
        const auto submission = format::Submission::open(path.toStdString());
        auto found = submission ? audit::verifiedSteps(*m_store, id, through, *submission)
                                : base::Result<audit::VerifiedSteps>(base::fail(submission.error()));
        if (found) {
            verified = *found;
        } else {
            fail(tr("What was verified before cannot be found"), found.error());
        }
    }
    Q_EMIT verifiedFound(id, verified);
}

void StoreWorker::acceptLines(const QByteArray& lines) {
    auto events = std::make_shared<EventBatch>();
    for (qsizetype at = 0; at < lines.size();) {
        auto end = lines.indexOf('\n', at);
        end = end < 0 ? lines.size() : end;
        const std::string_view line(lines.constData() + at, static_cast<std::size_t>(end - at));
        at = end + 1;
        if (line.empty()) {
            continue;
        }
        const auto event = m_recorder ? m_recorder->acceptLine(line) : audit::parseEvent(line);
        if (event) {
            addToBatch(*event, *events);
        } else {
            events->log.push_back({QDateTime::currentDateTime(), Tone::doubt, tr("engine"), text(event.error().toString())});
        }
    }
    Q_EMIT batch(events);
}

void StoreWorker::setPaused(bool paused) {
    if (m_recorder) {
        if (auto done = m_recorder->setPaused(paused); !done) {
            fail(tr("The pause could not be recorded"), done.error());
        }
    }
}

void StoreWorker::end(const QString& why) {
    std::int64_t id = 0;
    if (m_recorder) {
        id = m_recorder->id();
        if (auto done = m_recorder->end(why.toStdString()); !done) {
            fail(tr("The end of the audit could not be recorded"), done.error());
        }
        m_recorder.reset();
    }
    Q_EMIT recordingEnded(id);
    loadRecent();
}

void StoreWorker::loadRecent() {
    if (!isOpen()) {
        return;
    }
    auto rows = m_store->audits(std::nullopt, kRecent);
    if (!rows) {
        fail(tr("Recent audits cannot be read"), rows.error());
        return;
    }
    std::vector<RecentAudit> out;
    for (const auto& row : *rows) {
        out.push_back(toRecent(row));
    }
    Q_EMIT recentLoaded(out);
}

void StoreWorker::findAuditOf(const QString& submission, const QString& root) {
    if (isOpen()) {
        std::optional<store::AuditId> before;
        for (int page = 0; page < 20; ++page) {
            auto rows = m_store->audits(before, 200);
            if (!rows || rows->empty()) {
                break;
            }
            for (const auto& row : *rows) {
                if (text(row.submission) == submission && (root.isEmpty() || row.work.root.empty() || text(row.work.root) == root)) {
                    loadAudit(row.id);
                    return;
                }
            }
            before = rows->back().id;
        }
    }
    Q_EMIT noAuditFound(submission);
}

void StoreWorker::loadAudit(store::AuditId id) {
    if (!isOpen()) {
        return;
    }
    const auto problem = [this](const base::Error& error) { fail(tr("The audit cannot be read"), error); };
    auto snapshot = std::make_shared<AuditSnapshot>();
    auto row = m_store->audit(id);
    if (!row) {
        return problem(row.error());
    }
    snapshot->audit = std::move(*row);
    auto& events = snapshot->events;
    if (!snapshot->audit.reportJson.empty()) {
        auto report = audit::reportFromJson(snapshot->audit.reportJson);
        if (!report) {
            return problem(report.error());
        }
        events.report = std::move(*report);
    }
    auto sites = m_store->sites(id);
    auto checks = m_store->checks(id);
    auto findings = m_store->findings(id, {}, std::nullopt, 1000);
    if (!sites || !checks || !findings) {
        return problem(!sites ? sites.error() : !checks ? checks.error() : findings.error());
    }
    std::vector<SiteRow> rows;
    for (const auto& site : *sites) {
        if (site.product) {
            rows.push_back({site.index, text(site.name), text(site.direction), site.values});
        }
    }
    if (!rows.empty()) {
        events.sites = std::move(rows);
    }
    for (const auto& check : *checks) {
        events.checks.push_back(toCheck(check));
    }
    for (const auto& finding : *findings) {
        events.findings.push_back(findingRow(audit::fromRow(finding)));
    }
    std::optional<std::uint64_t> after;
    for (;;) {
        auto steps = m_store->steps(id, after, kPageOfSteps);
        if (!steps) {
            return problem(steps.error());
        }
        for (const auto& step : *steps) {
            events.steps.push_back(toCell(step));
            StepCounts counts;
            counts.step = step.step;
            if (auto stored = m_store->siteCounts(id, step.step)) {
                for (const auto& count : *stored) {
                    counts.counts.push_back({count.site, static_cast<std::uint32_t>(count.entries),
                                             static_cast<std::uint32_t>(count.corrections), static_cast<std::uint32_t>(count.offences)});
                }
            }
            events.counts.push_back(std::move(counts));
        }
        if (steps->size() < kPageOfSteps) {
            break;
        }
        after = steps->back().step;
    }
    if (snapshot->audit.state != store::AuditState::finished) {
        if (auto spans = m_store->matchedSpans(id)) {
            std::uint64_t last = 0;
            for (const auto& span : *spans) {
                if (span.first == snapshot->audit.firstStep || (last > 0 && span.first == last + 1)) {
                    last = span.last;
                }
            }
            snapshot->lastVerified = last;
        }
    }
    Q_EMIT auditLoaded(snapshot);
}

void StoreWorker::loadCorrections(store::AuditId id, std::uint64_t step, std::int64_t key) {
    if (!isOpen()) {
        return;
    }
    std::optional<store::CorrectionKey> after;
    if (step > 0) {
        after = store::CorrectionKey{step, key};
    }
    auto rows = m_store->corrections(id, {}, after, CorrectionsModel::kPage);
    if (!rows) {
        fail(tr("Corrections cannot be read"), rows.error());
        return;
    }
    std::vector<CorrectionsModel::Row> out;
    for (const auto& row : *rows) {
        out.push_back({{row.key.step, text(row.siteName), row.element, row.ownBits, row.takenBits}, row.key.id});
    }
    Q_EMIT correctionsLoaded(id, out);
}

void StoreWorker::loadJournal() {
    if (!isOpen()) {
        return;
    }
    std::vector<LogLine> out;
    std::optional<std::int64_t> after;
    for (int page = 0; page < 50; ++page) {
        auto rows = m_store->journal(std::nullopt, after, 1000);
        if (!rows) {
            fail(tr("The journal cannot be read"), rows.error());
            return;
        }
        for (const auto& row : *rows) {
            out.push_back({timeOf(row.atMs), Tone::neutral,
                           row.audit ? tr("audit %1").arg(static_cast<qlonglong>(*row.audit)) : tr("workbench"),
                           text(row.action) + (row.detail.empty() ? QString() : QStringLiteral(": ") + text(row.detail))});
        }
        if (rows->size() < 1000) {
            break;
        }
        after = rows->back().id;
    }
    Q_EMIT journalLoaded(out);
}

void StoreWorker::journal(std::optional<store::AuditId> id, const QString& action, const QString& detail) {
    if (isOpen()) {
        if (auto done = m_store->appendJournal(id, action.toStdString(), detail.toStdString()); !done) {
            fail(tr("The journal cannot be written"), done.error());
        }
    }
}

void StoreWorker::removeAudit(store::AuditId id) {
    if (isOpen()) {
        if (auto done = m_store->deleteAudit(id); !done) {
            fail(tr("The audit cannot be removed"), done.error());
        }
        loadRecent();
    }
}

StoreHost::StoreHost(QObject* parent) : QObject(parent), m_worker(new StoreWorker) {
    qRegisterMetaType<EventBatchPtr>();
    qRegisterMetaType<AuditSnapshotPtr>();
    qRegisterMetaType<std::vector<RecentAudit>>();
    qRegisterMetaType<std::vector<CorrectionsModel::Row>>();
    qRegisterMetaType<std::vector<LogLine>>();
    qRegisterMetaType<audit::VerifiedSteps>();
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.setObjectName(QStringLiteral("store"));
    m_thread.start();
}

StoreHost::~StoreHost() {
    post([this](StoreWorker&) { m_thread.quit(); }); // after everything that was asked for before
    m_thread.wait();
}

void StoreHost::post(std::function<void(StoreWorker&)> call) {
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, call = std::move(call)] { call(*worker); }, Qt::QueuedConnection);
}

} // namespace assay::ui
