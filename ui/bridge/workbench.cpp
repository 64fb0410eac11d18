// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/workbench.h"

#include <algorithm>

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <QStandardPaths>

#include "core/audit/plan.h"
#include "ui/models/number_text.h"

namespace assay::ui {

namespace {

constexpr std::size_t kLogLines = 5000;

QString standardDataFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/assay");
}

QString orderKey(const QString& digest) { return QStringLiteral("clientOrders/") + digest; }

} // namespace

Workbench::Workbench(const Options& options, QObject* parent)
    : QObject(parent), m_logModel({tr("Time"), tr("From"), tr("Message")}),
      m_commandModel({tr("Time"), tr("Action"), tr("Command")}), m_journalModel({tr("Time"), tr("Where"), tr("What")}) {
    m_demoFolder = options.demoFolder.isEmpty() ? standardDataFolder() + QStringLiteral("/demo") : options.demoFolder;
    connectStore();
    connectEngine();
    connect(&m_loader, &SubmissionLoader::loaded, this, &Workbench::takeSubmission);
    connect(&m_loader, &SubmissionLoader::samplesLoaded, this, [this](const SubmissionPtr& submission) {
        m_submission = submission;
        --m_loading;
        Q_EMIT submissionChanged();
    });
    connect(&m_loader, &SubmissionLoader::logsLoaded, this, [this](const QString&, const LogSummary& logs) {
        --m_loading;
        m_logs = logs;
        m_logs.names = m_siteNames;
        Q_EMIT logsChanged();
    });
    connect(&m_loader, &SubmissionLoader::failed, this, [this](const QString& path, const QString& message, const QString& remedy) {
        m_loading = 0;
        m_startAfterOpen = false;
        m_wantedAudit.reset();
        Q_EMIT problem(tr("%1 cannot be opened").arg(QFileInfo(path).fileName()), message, remedy);
        Q_EMIT openFailed();
    });
    connect(&m_demo, &DemoRunner::progress, this, [this](const QString& words) {
        m_demoText = words;
        Q_EMIT demoChanged();
    });
    connect(&m_demo, &DemoRunner::command, this, &Workbench::addCommand);
    connect(&m_demo, &DemoRunner::message, this, [this](const QString& line) {
        addLog({{QDateTime::currentDateTime(), Tone::neutral, tr("demo"), line}});
    });
    connect(&m_demo, &DemoRunner::failed, this, [this](const QString& why) {
        m_demoText.clear();
        Q_EMIT demoChanged();
        Q_EMIT problem(tr("The demo did not finish"), why, tr("The console shows the commands and what they said."));
    });
    connect(&m_demo, &DemoRunner::ready, this, [this](DemoKind, const QString& submission, const QString& order) {
        m_demoText.clear();
        Q_EMIT demoChanged();
        m_startAfterOpen = true;
        load({submission, order, QFileInfo(order).absolutePath()});
    });
    // Absolute, because commands that name it are copied to other folders.
    const QString store = options.storePath.isEmpty() ? QString() : QFileInfo(options.storePath).absoluteFilePath();
    m_store.post([store](StoreWorker& worker) { worker.open(store); });
}

Workbench::~Workbench() {
    if (m_engine.isRunning()) { // stop like the engine does when its parent dies; the audit stays resumable
        m_engine.stop(3000);
        m_store.post([](StoreWorker& worker) { worker.end(QStringLiteral("the workbench was closed")); });
    }
}

void Workbench::connectStore() {
    auto* worker = m_store.worker();
    connect(worker, &StoreWorker::opened, this, [this](const QString& path) {
        m_storePath = path;
        Q_EMIT storeOpened();
    });
    connect(worker, &StoreWorker::failed, this, [this](const QString& what, const QString& why) {
        m_lookingUp = false;
        addLog({{QDateTime::currentDateTime(), Tone::bad, tr("store"), what + QStringLiteral(": ") + why}});
        Q_EMIT problem(what, why, {});
    });
    connect(worker, &StoreWorker::recentLoaded, this, [this](const std::vector<RecentAudit>& audits) {
        m_recent = audits;
        Q_EMIT recentChanged();
    });
    connect(worker, &StoreWorker::verifiedFound, this, &Workbench::resumeAfter);
    connect(worker, &StoreWorker::recordingBegan, this, [this](std::int64_t id) { m_auditId = id; });
    connect(worker, &StoreWorker::batch, this, [this](const EventBatchPtr& events) { applyBatch(*events); });
    connect(worker, &StoreWorker::recordingEnded, this, [this](std::int64_t) {
        countSteps();
        if (m_situation.report) {
            setRun(RunState::finished);
        } else {
            m_situation.problem = m_cancelled ? tr("It was cancelled") : m_lastError;
            const bool nothingDone = m_situation.stepsMatched == 0 && !m_cancelled && !m_lastError.isEmpty();
            m_lastVerified = m_situation.stepsMatched;
            setRun(nothingDone ? RunState::failed : RunState::interrupted); // the headline says why, on every page
        }
        Q_EMIT findingsChanged();
    });
    connect(worker, &StoreWorker::auditLoaded, this, [this](const AuditSnapshotPtr& snapshot) { applySnapshot(*snapshot); });
    connect(worker, &StoreWorker::noAuditFound, this, [this](const QString&) {
        m_lookingUp = false;
        Q_EMIT auditLoaded();
    });
    connect(worker, &StoreWorker::correctionsLoaded, this,
            [this](std::int64_t id, const std::vector<CorrectionsModel::Row>& rows) {
                if (id == m_auditId) {
                    m_corrections.appendPage(rows);
                }
            });
    connect(&m_corrections, &CorrectionsModel::pageWanted, this, [this](std::uint64_t step, std::int64_t key) {
        m_store.post([id = m_auditId, step, key](StoreWorker& w) { w.loadCorrections(id, step, key); });
    });
    connect(worker, &StoreWorker::journalLoaded, this, [this](const std::vector<LogLine>& lines) {
        std::vector<TableRow> rows;
        for (auto it = lines.rbegin(); it != lines.rend(); ++it) {
            rows.push_back({{{it->when.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), it->when, {}, {}, true, false}, textCell(it->source), textCell(it->text)}, {}});
        }
        m_journalModel.setRows(std::move(rows));
    });
}

void Workbench::addLog(std::vector<LogLine> lines) {
    std::vector<TableRow> rows;
    for (auto& line : lines) {
        rows.push_back({{{line.when.toString(QStringLiteral("HH:mm:ss")), line.when, {}, line.when.toString(Qt::ISODate), true, false},
                         textCell(line.source), toneCell(line.tone, line.text)},
                        {}});
    }
    m_logModel.append(std::move(rows), kLogLines);
}

void Workbench::addCommand(const QString& what, const QString& command) {
    m_commands.push_back({QDateTime::currentDateTime(), what, command, {}});
    std::vector<TableRow> rows;
    rows.push_back({{{m_commands.back().when.toString(QStringLiteral("HH:mm:ss")), m_commands.back().when, {}, {}, true, false},
                     textCell(what), monoCell(command)},
                    QVariant(command)});
    m_commandModel.append(std::move(rows), kLogLines);
    note(what, command);
}

void Workbench::note(const QString& what, const QString& detail) {
    std::optional<store::AuditId> id;
    if (m_auditId > 0) {
        id = m_auditId;
    }
    m_store.post([id, what, detail](StoreWorker& worker) { worker.journal(id, what, detail); });
}

void Workbench::refreshJournal() {
    m_store.post([](StoreWorker& worker) { worker.loadJournal(); });
}

void Workbench::open(const QString& path) {
    if (refusedWhileBusy()) {
        return;
    }
    OpenRequest request;
    request.path = path;
    const bool same = m_submission && m_submission->path == submissionPathOf(path);
    if (same) {
        request.clientOrder = m_submission->clientOrderPath;
        request.dataFolder = m_submission->dataFolder;
    }
    load(request);
}

bool Workbench::refusedWhileBusy() {
    if (isBusy()) {
        Q_EMIT problem(tr("A replay is running"), tr("What it checks cannot be exchanged now, also while it is paused."),
                       tr("Cancel the replay first; its steps are kept and can be resumed."));
        m_wantedAudit.reset();
    }
    return isBusy();
}

void Workbench::openWith(const OpenRequest& request) {
    if (refusedWhileBusy()) {
        return;
    }
    OpenRequest whole = request;
    if (!whole.clientOrder.isEmpty()) {
        whole.clientOrder = QFileInfo(whole.clientOrder).absoluteFilePath();
    }
    load(whole);
}

void Workbench::load(const OpenRequest& request) {
    m_loading = 3; // submission, samples, logs
    m_loader.load(request);
}

bool Workbench::isSettled() const { return m_loading <= 0 && !m_lookingUp && !m_siteProbe.isRunning(); }

void Workbench::openAudit(std::int64_t id) {
    const auto it = std::find_if(m_recent.begin(), m_recent.end(), [id](const RecentAudit& audit) { return audit.id == id; });
    if (it == m_recent.end()) {
        return;
    }
    if (it->missing) {
        Q_EMIT problem(tr("The submission of this audit is gone"), tr("There is nothing at %1 any more.").arg(it->path),
                       tr("Put it back there, or open it at its new place; the audit itself is kept in the store."));
        Q_EMIT openFailed();
        return;
    }
    m_wantedAudit = id;
    openWith({it->path, it->clientOrder, it->dataFolder});
}

void Workbench::setClientOrder(const QString& chosen) {
    if (refusedWhileBusy()) {
        return;
    }
    if (!m_submission || m_submission->orderOnly) {
        open(chosen);
        return;
    }
    const QString path = QFileInfo(chosen).absoluteFilePath();
    OpenRequest request{m_submission->path, path, {}};
    if (auto order = readOrder(path, {}); order) {
        QSettings().setValue(orderKey(m_submission->orderDigest), path);
    } else {
        Q_EMIT problem(tr("This is not an order"), QString::fromStdString(order.error().message),
                       tr("Choose the order.json that the client wrote."));
        return;
    }
    note(tr("client order chosen"), path);
    load(request);
}

void Workbench::setDataFolder(const QString& path) {
    if (m_submission && !refusedWhileBusy()) {
        note(tr("data folder chosen"), path);
        load({m_submission->path, m_submission->clientOrderPath, path});
    }
}

QString Workbench::orderBeside() const {
    if (!hasSubmission() || !m_submission->clientOrderPath.isEmpty()) {
        return {};
    }
    const QString path = QFileInfo(m_submission->path).absolutePath() + QStringLiteral("/order.json");
    return QFileInfo::exists(path) ? path : QString();
}

void Workbench::takeSubmission(const SubmissionPtr& submission) {
    // An order that was chosen before for the same digest is the client's again.
    // An audit that was chosen from the list is shown as it was made.
    if (!submission->orderOnly && submission->clientOrderPath.isEmpty() && !m_wantedAudit) {
        const QString known = QSettings().value(orderKey(submission->orderDigest)).toString();
        if (!known.isEmpty() && QFileInfo::exists(known)) {
            load({submission->path, known, submission->dataFolder});
            return;
        }
    }
    m_loading = submission->orderOnly ? 1 : 2;
    // A verdict stands only for the order that it was made with.
    const bool sameFiles = m_submission && m_submission->path == submission->path && m_submission->root == submission->root;
    const bool otherOrder = sameFiles && m_auditId > 0 && submission->clientOrderDigest != m_auditOrder;
    const bool same = sameFiles && !otherOrder;
    m_submission = submission;
    m_situation.hasSubmission = true;
    m_situation.orderOnly = submission->orderOnly;
    m_situation.clientOrderKnown = !submission->clientOrderPath.isEmpty();
    m_situation.dataKnown = !submission->dataFolder.isEmpty();
    m_situation.stepsTotal = submission->steps;
    if (!same || m_wantedAudit || m_startAfterOpen) {
        resetAudit();
        m_logs = {};
        Q_EMIT logsChanged();
        askSites();
        if (submission->orderOnly) {
            Q_EMIT auditLoaded();
        } else if (m_startAfterOpen) {
            m_startAfterOpen = false;
            ReplayRequest request;
            request.kernel = defaultKernel();
            request.lastStep = submission->steps;
            Q_EMIT submissionChanged();
            startReplay(request);
            return;
        } else if (m_wantedAudit) {
            m_lookingUp = true;
            m_store.post([id = *std::exchange(m_wantedAudit, std::nullopt)](StoreWorker& worker) { worker.loadAudit(id); });
        } else if (!otherOrder) {
            m_lookingUp = true;
            m_store.post([path = submission->path, root = submission->root](StoreWorker& worker) { worker.findAuditOf(path, root); });
        }
    }
    Q_EMIT submissionChanged();
    Q_EMIT verdictChanged();
    Q_EMIT runChanged();
}

void Workbench::resetAudit() {
    m_auditId = 0;
    m_auditOrder.clear();
    m_lastVerified = 0;
    m_lastError.clear();
    m_checks.clear();
    m_findings.clear();
    m_progress = {};
    m_situation.report.reset();
    m_situation.problem.clear();
    m_situation.stepsMatched = m_situation.stepsMismatched = 0;
    m_situation.run = RunState::idle;
    m_corrections.reset(false);
    if (m_submission) {
        m_steps.reset(m_submission->steps);
        m_steps.setClaimedLosses(m_submission->claimedLosses);
        std::vector<std::uint64_t> checkpoints;
        for (const auto& checkpoint : m_submission->checkpoints) {
            checkpoints.push_back(checkpoint.step);
        }
        m_steps.setCheckpoints(checkpoints);
        m_sites.reset(m_submission->steps, {});
    } else {
        m_steps.reset(0);
        m_sites.reset(0, {});
    }
    Q_EMIT checksChanged();
    Q_EMIT findingsChanged();
    Q_EMIT progressChanged();
}

void Workbench::close() {
    if (m_engine.isRunning()) {
        return;
    }
    m_loader.cancel();
    m_submission.reset();
    m_logs = {};
    m_situation = {};
    resetAudit();
    Q_EMIT submissionChanged();
    Q_EMIT logsChanged();
    Q_EMIT verdictChanged();
    Q_EMIT runChanged();
}

std::optional<FindingRow> Workbench::firstDivergence() const {
    if (m_situation.report && m_situation.report->firstDivergence) {
        return findingRow(*m_situation.report->firstDivergence, QString::fromStdString(m_situation.report->reason));
    }
    return std::nullopt;
}

CheckRow Workbench::check(const QString& name) const {
    CheckRow known;
    known.name = name;
    const auto look = [&](const std::vector<CheckRow>& rows) {
        const auto it = std::find_if(rows.begin(), rows.end(), [&](const CheckRow& row) { return row.name == name; });
        if (it != rows.end() && known.state == CheckState::notChecked) {
            known = *it;
        }
    };
    look(m_checks);
    if (hasSubmission()) {
        look(m_submission->openingChecks);
    }
    return known;
}

std::uint64_t Workbench::totalEntries() const {
    std::uint64_t sum = 0;
    for (const auto& cell : m_steps.cells()) {
        sum += cell.entries;
    }
    return sum;
}

std::uint64_t Workbench::totalCorrections() const {
    std::uint64_t sum = 0;
    for (const auto& cell : m_steps.cells()) {
        sum += cell.corrections;
    }
    return sum;
}

std::vector<audit::StepRange> Workbench::segments() const {
    if (!hasSubmission()) {
        return {};
    }
    std::vector<std::uint64_t> checkpoints;
    for (const auto& checkpoint : m_submission->checkpoints) {
        checkpoints.push_back(checkpoint.step);
    }
    return audit::segmentsOf(m_submission->steps, checkpoints).value_or(std::vector<audit::StepRange>());
}

std::uint64_t Workbench::segmentsTotal() const { return segments().size(); }

SamplePlan Workbench::planFor(std::uint64_t segments, std::uint64_t bad) const {
    SamplePlan plan;
    const auto all = this->segments();
    plan.segmentsTotal = all.size();
    if (all.empty()) {
        return plan;
    }
    plan.segments = std::clamp<std::uint64_t>(segments, 1, all.size());
    plan.bad = std::clamp<std::uint64_t>(bad, 1, all.size());
    plan.steps = (m_submission->steps * plan.segments + all.size() - 1) / all.size();
    plan.detection = audit::hypergeometricDetection(all.size(), plan.bad, plan.segments);
    return plan;
}

void Workbench::removeAudit(std::int64_t id) {
    m_store.post([id](StoreWorker& worker) { worker.removeAudit(id); });
}

void Workbench::tryDemo(DemoKind kind) {
    if (const QString why = whyNoDemo(); !why.isEmpty()) {
        Q_EMIT problem(tr("The demo cannot start"), why, {});
        return;
    }
    QString trainer = QStringLiteral("default");
    for (const char* wanted : {"barcelona", "prescott", "haswell"}) { // the last one that this machine runs
        for (const auto& kernel : m_kernels) {
            if (kernel.available && kernel.profile == QLatin1String(wanted)) {
                trainer = kernel.profile;
            }
        }
    }
    m_demo.start(kind, m_demoFolder, trainer);
}

void Workbench::cancelDemo() { m_demo.cancel(); }

QString Workbench::whyNoDemo() const {
    if (m_demo.isRunning()) {
        return tr("the demo is already being prepared");
    }
    if (isBusy()) {
        return tr("a replay is running");
    }
    if (findProgram(QStringLiteral("assay")).isEmpty() || findProgram(QStringLiteral("assay-engine")).isEmpty()) {
        return tr("the programs assay and assay-engine were not found beside the workbench");
    }
    return {};
}

} // namespace assay::ui
