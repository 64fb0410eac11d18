// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "core/audit/audit_recorder.h"
#include "core/audit/plan.h"
#include "ui/bridge/workbench.h"
#include "ui/models/number_text.h"

namespace assay::ui {

namespace {

/// The profiles that are offered before the engine has said what this machine can run.
const char* const kCores[] = {"haswell", "skylakex", "prescott", "barcelona"};

QString coreWords(const QString& core) {
    return core == u"haswell"     ? Workbench::tr("AVX2 kernels (Haswell)")
           : core == u"skylakex"  ? Workbench::tr("AVX-512 kernels (Skylake X)")
           : core == u"prescott"  ? Workbench::tr("SSE3 kernels (Prescott)")
           : core == u"barcelona" ? Workbench::tr("SSE2 kernels (Barcelona)")
           : core == u"default"   ? Workbench::tr("What OpenBLAS chooses for this machine")
                                  : core;
}

QString sentence(QString words) {
    words[0] = words[0].toUpper();
    return words + u'.';
}

audit::ReplayOptions optionsOf(const ReplayInputs& inputs) {
    audit::ReplayOptions options;
    options.logIgnored = inputs.request.ignoreLog;
    if (inputs.request.scope == ReplayScope::range) {
        options.scope = audit::Scope::range;
        options.ranges = {{inputs.request.firstStep, inputs.request.lastStep}};
    } else if (inputs.request.scope == ReplayScope::sample) {
        options.scope = audit::Scope::sample;
        options.nonce = inputs.nonce.toStdString();
        options.ranges = inputs.drawn;
    }
    return options;
}

} // namespace

void Workbench::connectEngine() {
    connect(&m_engine, &ChildProcess::output, this, [this](const QByteArray& lines) {
        m_store.post([lines](StoreWorker& worker) { worker.acceptLines(lines); });
    });
    connect(&m_engine, &ChildProcess::message, this, [this](const QString& line) {
        addLog({{QDateTime::currentDateTime(), Tone::neutral, tr("engine"), line}});
    });
    connect(&m_engine, &ChildProcess::ended, this, &Workbench::engineEnded);
    connect(&m_siteProbe, &ChildProcess::output, this, [this](const QByteArray& lines) { m_sitesOutput += lines; });
    connect(&m_siteProbe, &ChildProcess::ended, this, [this] { takeSites(); });
    connect(&m_probe, &ChildProcess::output, this, [this](const QByteArray& lines) { m_probeOutput += lines; });
    connect(&m_probe, &ChildProcess::ended, this, [this](int, bool, const QString& why) {
        QJsonArray list;
        for (const auto& line : m_probeOutput.split('\n')) {
            const auto json = QJsonDocument::fromJson(line).object();
            if (json.value(QStringLiteral("event")).toString() == u"done") {
                list = json.value(QStringLiteral("kernels")).toArray();
            }
        }
        m_kernels.clear();
        for (const auto& value : list) {
            const auto json = value.toObject();
            KernelChoice choice;
            choice.profile = json.value(QStringLiteral("name")).toString();
            choice.label = coreWords(choice.profile);
            choice.available = json.value(QStringLiteral("available")).toBool();
            choice.why = json.value(QStringLiteral("reason")).toString();
            m_kernels.push_back(choice);
        }
        if (m_kernels.empty()) {
            for (const char* core : kCores) {
                m_kernels.push_back({QString::fromLatin1(core), coreWords(QString::fromLatin1(core)), false,
                                     why.isEmpty() ? tr("the engine did not say whether this machine can run it") : why});
            }
        }
        Q_EMIT kernelsChanged();
    });
}

void Workbench::askKernels() {
    const QString program = findProgram(QStringLiteral("assay-engine"));
    if (m_probe.isRunning()) {
        return;
    }
    if (program.isEmpty()) {
        m_kernels.clear();
        for (const char* core : kCores) {
            m_kernels.push_back({QString::fromLatin1(core), coreWords(QString::fromLatin1(core)), false,
                                 tr("the program assay-engine was not found")});
        }
        Q_EMIT kernelsChanged();
        return;
    }
    m_probeOutput.clear();
    m_probe.start(program, {QStringLiteral("run")}, QByteArrayLiteral("{\"verb\":\"kernels\"}"));
}

void Workbench::askSites() {
    const QString program = findProgram(QStringLiteral("assay-engine"));
    if (!hasSubmission() || program.isEmpty() || m_siteProbe.isRunning()) {
        return; // a running engine is asked again by takeSites; without one the table numbers its sites
    }
    if (m_sitesOf == m_submission->root && !m_siteNames.empty()) {
        m_logs.names = m_siteNames;
        return;
    }
    m_siteNames.clear();
    m_sitesOutput.clear();
    m_sitesOf = m_submission->root;
    const QJsonObject request{{QStringLiteral("verb"), QStringLiteral("sites")}, {QStringLiteral("submission"), m_submission->path}};
    m_siteProbe.start(program, {QStringLiteral("run")}, QJsonDocument(request).toJson(QJsonDocument::Compact));
}

void Workbench::takeSites() {
    if (!hasSubmission()) {
        return;
    }
    if (m_submission->root != m_sitesOf) {
        askSites(); // something else was opened meanwhile
        return;
    }
    EventBatch events;
    for (const auto& line : m_sitesOutput.split('\n')) {
        if (const auto event = audit::parseEvent(std::string_view(line.constData(), static_cast<std::size_t>(line.size())))) {
            addToBatch(*event, events);
        }
    }
    if (events.sites) {
        m_siteNames = *events.sites;
        m_logs.names = m_siteNames;
        Q_EMIT logsChanged();
    }
}

QString Workbench::defaultKernel() const {
    const QString trainer = m_submission && !m_submission->profiles.empty()
                                ? QString::fromStdString(m_submission->profiles.front().profile)
                                : QString();
    for (const char* wanted : {"skylakex", "prescott", "haswell", "barcelona"}) { // another one than the trainer's shows more
        const QString core = QString::fromLatin1(wanted);
        if (trainer.startsWith(core)) {
            continue;
        }
        for (const auto& kernel : m_kernels) {
            if (kernel.profile == core && kernel.available) {
                return core;
            }
        }
    }
    return QStringLiteral("default");
}

QString Workbench::whyNoReplay() const {
    if (!m_submission) {
        return tr("nothing is open");
    }
    if (m_submission->orderOnly) {
        return tr("this is an order; a submission is needed");
    }
    if (isBusy()) {
        return tr("a replay is running");
    }
    if (m_demo.isRunning()) {
        return tr("the demo is being prepared and starts its own replay");
    }
    if (m_submission->dataFolder.isEmpty()) {
        return tr("the folder with the data is not known; choose it or the client's order");
    }
    if (findProgram(QStringLiteral("assay-engine")).isEmpty()) {
        return tr("the program assay-engine was not found");
    }
    return {};
}

QString Workbench::commandFor(const ReplayRequest& request) const {
    ReplayInputs inputs = m_inputs;
    inputs.request = request;
    inputs.verified = {};
    inputs.storePath = m_storePath;
    if (m_submission) {
        inputs.submission = m_submission->path;
        inputs.clientOrder = m_submission->clientOrderPath;
        inputs.dataFolder = m_submission->dataFolder;
    }
    return verifyCommand(inputs);
}

void Workbench::startReplay(const ReplayRequest& request) {
    if (const QString why = whyNoReplay(); !why.isEmpty()) {
        Q_EMIT problem(tr("The replay cannot start"), sentence(why), {});
        return;
    }
    ReplayInputs inputs;
    inputs.submission = m_submission->path;
    inputs.clientOrder = m_submission->clientOrderPath;
    inputs.dataFolder = m_submission->dataFolder;
    inputs.storePath = m_storePath;
    inputs.request = request;
    if (request.scope == ReplayScope::sample) {
        auto nonce = audit::drawNonce(); // after the submission was opened: the trainer could not foresee it
        if (!nonce) {
            Q_EMIT problem(tr("The replay cannot start"), QString::fromStdString(nonce.error().message), {});
            return;
        }
        inputs.nonce = QString::fromStdString(*nonce);
        const auto root = base::Digest::fromHex(m_submission->root.toStdString());
        auto plan = root ? audit::drawSegments(segments(), request.segments, *root, *nonce, audit::kNonceDrawn)
                         : base::Result<audit::SamplePlan>(base::fail(root.error()));
        if (!plan) {
            Q_EMIT problem(tr("The replay cannot start"), QString::fromStdString(plan.error().message), {});
            return;
        }
        inputs.drawn = plan->segments;
    }
    resetAudit();
    m_inputs = inputs;
    launch(false);
}

void Workbench::launch(bool resumed) {
    m_cancelled = false;
    m_lastError.clear();
    m_engineText.clear();
    RecordRequest record;
    if (resumed) {
        record.resume = m_auditId;
    } else {
        m_inputs.verified = {};
    }
    m_auditOrder = m_submission->clientOrderDigest;
    const std::string orderDigest = (m_auditOrder.isEmpty() ? m_submission->orderDigest : m_auditOrder).toStdString();
    record.audit.submission = m_submission->path.toStdString();
    record.audit.title = m_submission->title.toStdString();
    record.audit.work = audit::workKey(m_submission->root.toStdString(), orderDigest, m_inputs.request.kernel.toStdString(),
                                       optionsOf(m_inputs));
    record.audit.command = verifyCommand(m_inputs).toStdString();
    record.audit.stepsTotal = m_submission->steps;
    record.audit.firstStep = m_inputs.request.scope == ReplayScope::range ? m_inputs.request.firstStep
                             : m_inputs.drawn.empty()                          ? 1
                                                                               : m_inputs.drawn.front().first;
    m_store.post([record](StoreWorker& worker) { worker.begin(record); });
    setRun(RunState::starting);
    addCommand(resumed ? tr("Resume replay") : tr("Start replay"), verifyCommand(m_inputs));
    m_engine.start(findProgram(QStringLiteral("assay-engine")), {QStringLiteral("run")}, verifyRequest(m_inputs));
    Q_EMIT replayStarted();
}

void Workbench::pauseReplay() {
    if (m_situation.run == RunState::running || m_situation.run == RunState::starting) {
        m_engine.send("pause");
        m_store.post([](StoreWorker& worker) { worker.setPaused(true); });
        note(tr("Pause replay"), {});
        setRun(RunState::paused);
    }
}

void Workbench::resumeReplay() {
    if (m_situation.run == RunState::paused && isBusy()) {
        m_engine.send("resume");
        m_store.post([](StoreWorker& worker) { worker.setPaused(false); });
        note(tr("Continue replay"), {});
        setRun(RunState::running);
    } else if (m_situation.run == RunState::interrupted && m_auditId > 0 && whyNoReplay().isEmpty()) {
        m_situation.problem.clear();
        setRun(RunState::starting);
        m_store.post([id = m_auditId, through = m_lastVerified, path = m_submission->path](StoreWorker& worker) {
            worker.findVerified(id, through, path);
        });
    }
}

void Workbench::resumeAfter(std::int64_t id, const audit::VerifiedSteps& verified) {
    if (id != m_auditId || m_situation.run != RunState::starting || m_engine.isRunning() || !m_submission) {
        return; // something else was opened or started meanwhile
    }
    if (verified.through < m_lastVerified) {
        const QString text = tr("The submission has other steps than when the replay was interrupted: going on after step %1.").arg(verified.through);
        addLog({{QDateTime::currentDateTime(), Tone::doubt, tr("workbench"), text}});
        Q_EMIT notice(text);
    }
    m_inputs.verified = verified;
    launch(true);
}

void Workbench::cancelReplay() {
    if (m_engine.isRunning()) {
        m_cancelled = true;
        note(tr("Cancel replay"), {});
        m_engine.stop();
        setRun(RunState::stopping);
    }
}

void Workbench::engineEnded(int code, bool crashed, const QString& why) {
    if (crashed || (code != 0 && code != 1 && code != 5 && code != 130)) {
        m_lastError = m_lastError.isEmpty() ? why : m_lastError;
        addLog({{QDateTime::currentDateTime(), Tone::bad, tr("workbench"), why}});
    }
    const QString reason = m_cancelled ? QStringLiteral("cancelled") : m_lastError.isEmpty() ? why : m_lastError;
    m_store.post([reason](StoreWorker& worker) { worker.end(reason); });
}

void Workbench::setRun(RunState state) {
    m_situation.run = state;
    Q_EMIT runChanged();
    Q_EMIT verdictChanged();
}

void Workbench::countSteps() {
    m_situation.stepsMatched = m_steps.replayed() - m_steps.mismatched();
    m_situation.stepsMismatched = m_steps.mismatched();
}

void Workbench::applySites(const std::vector<SiteRow>& rows) {
    // Counts that are already there refer to the same rows: a resumed engine reports the same table.
    if (m_sites.rows().size() != rows.size()) {
        m_sites.setRows(rows);
    }
}

void Workbench::applyBatch(const EventBatch& batch) {
    if (batch.hello) {
        m_engineText = tr("%1, %2 threads, kernel %3")
                           .arg(QString::fromStdString(batch.hello->core))
                           .arg(batch.hello->threads)
                           .arg(QString::fromStdString(batch.hello->kernel));
    }
    if (batch.sites) {
        applySites(*batch.sites);
    }
    if (!batch.steps.empty()) {
        m_steps.apply(batch.steps);
        countSteps();
    }
    if (!batch.counts.empty()) {
        for (const auto& counts : batch.counts) {
            std::vector<SiteCount> rows;
            for (auto count : counts.counts) {
                if (const int row = m_sites.rowOfSite(count.row); row >= 0) {
                    count.row = static_cast<std::uint32_t>(row);
                    rows.push_back(count);
                }
            }
            m_sites.setStep(counts.step, std::move(rows));
        }
        m_sites.commit();
    } else if (batch.sites) {
        m_sites.commit();
    }
    for (const auto& check : batch.checks) {
        const auto it = std::find_if(m_checks.begin(), m_checks.end(), [&](const CheckRow& c) { return c.name == check.name; });
        if (it == m_checks.end()) {
            m_checks.push_back(check);
        } else {
            *it = check;
        }
    }
    m_corrections.appendLive(batch.corrections);
    if (batch.progress) {
        m_progress = *batch.progress;
        Q_EMIT progressChanged();
    }
    if (batch.error) {
        m_lastError = *batch.error;
    }
    if (batch.report) {
        m_situation.report = batch.report;
        m_checks.clear();
        for (const auto& check : batch.report->checks) {
            m_checks.push_back(checkRow(check));
        }
        m_findings.clear();
        for (const auto& finding : batch.report->findings) {
            m_findings.push_back(findingRow(finding));
        }
        Q_EMIT findingsChanged();
    } else if (!batch.findings.empty()) {
        m_findings.insert(m_findings.end(), batch.findings.begin(), batch.findings.end());
        Q_EMIT findingsChanged();
    }
    if (!batch.checks.empty() || batch.report) {
        Q_EMIT checksChanged();
    }
    addLog(batch.log);
    if (m_situation.run == RunState::starting) {
        setRun(RunState::running);
    } else {
        Q_EMIT verdictChanged();
    }
}

void Workbench::applySnapshot(const AuditSnapshot& snapshot) {
    m_lookingUp = false;
    if (!m_submission || QString::fromStdString(snapshot.audit.submission) != m_submission->path || isBusy()) {
        return;
    }
    const auto inputs = parseVerifyCommand(QString::fromStdString(snapshot.audit.command));
    const bool withOrder = inputs && !inputs->clientOrder.isEmpty();
    const QString order = withOrder ? QString::fromStdString(snapshot.audit.work.orderDigest) : QString();
    if (withOrder && m_submission->clientOrderPath.isEmpty() && QFileInfo::exists(inputs->clientOrder)) {
        // The auditor named this order in the audit; it is the client's now too.
        m_wantedAudit = snapshot.audit.id;
        load({m_submission->path, inputs->clientOrder, inputs->dataFolder});
        return;
    }
    const auto& opening = m_submission->openingChecks;
    const bool spoilt = std::any_of(opening.begin(), opening.end(), [](const CheckRow& c) { return c.state == CheckState::failed; }) &&
                        snapshot.events.report && snapshot.events.report->verdict == audit::Verdict::accepted;
    if (spoilt || (!m_submission->clientOrderDigest.isEmpty() && m_submission->clientOrderDigest != order)) {
        Q_EMIT notice(tr("There is an audit of other bytes or with another order; what is open now has not been checked"));
        Q_EMIT auditLoaded();
        return;
    }
    resetAudit();
    m_auditId = snapshot.audit.id;
    m_auditOrder = m_submission->clientOrderDigest;
    if (inputs) {
        m_inputs = *inputs;
    }
    m_corrections.reset(true);
    applyBatch(snapshot.events);
    countSteps();
    m_lastVerified = snapshot.lastVerified.value_or(0);
    m_situation.problem.clear();
    const bool finished = snapshot.audit.state == store::AuditState::finished && m_situation.report;
    if (!finished) {
        m_situation.report.reset();
    }
    setRun(finished ? RunState::finished : RunState::interrupted);
    Q_EMIT progressChanged();
    Q_EMIT auditLoaded();
}

} // namespace assay::ui
