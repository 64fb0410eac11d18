// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QElapsedTimer>
#include <QObject>

#include "ui/bridge/child_process.h"
#include "ui/bridge/command_text.h"
#include "ui/bridge/demo_runner.h"
#include "ui/bridge/store_worker.h"
#include "ui/bridge/submission_loader.h"
#include "ui/models/corrections_model.h"
#include "ui/models/site_matrix.h"
#include "ui/models/step_series.h"
#include "ui/models/table_model.h"
#include "ui/models/verdict_words.h"

namespace assay::ui {

/// The state of the application and everything it can do: one open submission, its audit, the running engine, the store. Pages show
/// it and call it; they own no process, thread or file. GUI thread only; nothing here blocks.
class Workbench : public QObject {
    Q_OBJECT

public:
    struct Options {
        QString storePath; ///< empty: the default place
        QString demoFolder; ///< empty: beside the default store
    };
    explicit Workbench(const Options& options, QObject* parent = nullptr);
    ~Workbench() override;

    // What is open
    [[nodiscard]] const SubmissionPtr& submission() const { return m_submission; }
    [[nodiscard]] const LogSummary& logs() const { return m_logs; }
    [[nodiscard]] bool hasSubmission() const { return m_submission && !m_submission->orderOnly; }
    [[nodiscard]] VerdictText verdict() const { return verdictText(m_situation); }
    [[nodiscard]] const std::optional<audit::VerifyReport>& report() const { return m_situation.report; }
    [[nodiscard]] std::optional<FindingRow> firstDivergence() const;
    [[nodiscard]] RunState runState() const { return m_situation.run; }
    /// An engine replays, also if it is paused or about to stop.
    [[nodiscard]] bool isBusy() const { return m_engine.isRunning(); }
    [[nodiscard]] const RunProgress& progress() const { return m_progress; }
    [[nodiscard]] QString engineText() const { return m_engineText; }
    [[nodiscard]] qint64 engineProcessId() const { return m_engine.processId(); }
    [[nodiscard]] const ReplayRequest& lastRequest() const { return m_inputs.request; }
    [[nodiscard]] std::int64_t auditId() const { return m_auditId; }
    [[nodiscard]] QString storePath() const { return m_storePath; }
    [[nodiscard]] const std::vector<RecentAudit>& recent() const { return m_recent; }
    /// Checks that the audit has reported.
    [[nodiscard]] const std::vector<CheckRow>& checks() const { return m_checks; }
    /// What is known of one check: from the audit, else from opening the submission, else "not checked".
    [[nodiscard]] CheckRow check(const QString& name) const;
    [[nodiscard]] const std::vector<FindingRow>& findings() const { return m_findings; }
    [[nodiscard]] const std::vector<KernelChoice>& kernels() const { return m_kernels; }
    [[nodiscard]] const std::vector<CommandLine>& commands() const { return m_commands; }
    [[nodiscard]] QString demoText() const { return m_demoText; }
    [[nodiscard]] std::uint64_t totalEntries() const;
    [[nodiscard]] std::uint64_t totalCorrections() const;
    [[nodiscard]] std::uint64_t segmentsTotal() const;
    /// What replaying `segments` segments costs and finds if `bad` of them are bad.
    [[nodiscard]] SamplePlan planFor(std::uint64_t segments, std::uint64_t bad) const;
    /// The command that does what `request` would do.
    [[nodiscard]] QString commandFor(const ReplayRequest& request) const;
    /// Why a replay cannot start now; empty if it can.
    [[nodiscard]] QString whyNoReplay() const;
    [[nodiscard]] QString whyNoDemo() const;
    /// The profile that is offered first: one that this machine runs and the trainer did not use.
    [[nodiscard]] QString defaultKernel() const;
    /// An order.json beside the open submission that nobody has confirmed as the client's.
    [[nodiscard]] QString orderBeside() const;

    // Models, alive as long as this object
    [[nodiscard]] StepSeries* steps() { return &m_steps; }
    [[nodiscard]] SiteMatrix* sites() { return &m_sites; }
    [[nodiscard]] CorrectionsModel* corrections() { return &m_corrections; }
    [[nodiscard]] TableModel* logModel() { return &m_logModel; }
    [[nodiscard]] TableModel* commandModel() { return &m_commandModel; }
    [[nodiscard]] TableModel* journalModel() { return &m_journalModel; }

    // What can be done
    void open(const QString& path);
    /// Opens with an order of the client and a data folder that are known already.
    void openWith(const OpenRequest& request);
    /// True when everything that was asked for has been read.
    [[nodiscard]] bool isSettled() const;
    void openAudit(std::int64_t id);
    void setClientOrder(const QString& path);
    void setDataFolder(const QString& path);
    void close();
    void startReplay(const ReplayRequest& request);
    void pauseReplay();
    void resumeReplay(); ///< continues a paused engine, or an interrupted audit
    void cancelReplay();
    void tryDemo(DemoKind kind);
    void cancelDemo();
    void removeAudit(std::int64_t id);
    void refreshJournal();
    void askKernels();
    /// Records an action of the person for journal and console.
    void note(const QString& what, const QString& detail);

Q_SIGNALS:
    void submissionChanged();
    void logsChanged();
    void verdictChanged();
    void runChanged();
    void progressChanged();
    void checksChanged();
    void findingsChanged();
    void recentChanged();
    void kernelsChanged();
    void demoChanged();
    void auditLoaded();
    void storeOpened();
    /// Something a person must read: what, why, what to try.
    void problem(const QString& title, const QString& text, const QString& remedy);
    void notice(const QString& text);
    void openFailed();
    void replayStarted();

private:
    void connectStore();
    void connectEngine();
    [[nodiscard]] std::vector<audit::StepRange> segments() const; ///< steps between checkpoints
    void load(const OpenRequest& request);
    [[nodiscard]] bool refusedWhileBusy();
    void takeSubmission(const SubmissionPtr& submission);
    void applyBatch(const EventBatch& batch);
    void applySnapshot(const AuditSnapshot& snapshot);
    void askSites();
    void takeSites();
    void applySites(const std::vector<SiteRow>& rows);
    void resetAudit();
    void setRun(RunState state);
    void launch(bool resumed);
    /// The store has said what of the interrupted audit still counts.
    void resumeAfter(std::int64_t id, const audit::VerifiedSteps& verified);
    void engineEnded(int code, bool crashed, const QString& why);
    void addLog(std::vector<LogLine> lines);
    void addCommand(const QString& what, const QString& command);
    void countSteps();

    StoreHost m_store;
    SubmissionLoader m_loader;
    ChildProcess m_engine;
    ChildProcess m_probe;
    ChildProcess m_siteProbe;
    DemoRunner m_demo;
    StepSeries m_steps;
    SiteMatrix m_sites;
    CorrectionsModel m_corrections;
    TableModel m_logModel;
    TableModel m_commandModel;
    TableModel m_journalModel;

    QString m_storePath;
    QString m_demoFolder;
    SubmissionPtr m_submission;
    LogSummary m_logs;
    VerdictSituation m_situation;
    RunProgress m_progress;
    ReplayInputs m_inputs;
    QString m_engineText;
    QString m_lastError;
    QString m_demoText;
    QString m_auditOrder; ///< digest of the client's order that the audit on screen was made with; empty: without one
    std::int64_t m_auditId = 0;
    std::optional<std::int64_t> m_wantedAudit; ///< chosen from the list; loads when its submission is open
    std::uint64_t m_lastVerified = 0;
    std::vector<RecentAudit> m_recent;
    std::vector<CheckRow> m_checks;
    std::vector<FindingRow> m_findings;
    std::vector<KernelChoice> m_kernels;
    std::vector<CommandLine> m_commands;
    QByteArray m_probeOutput;
    QByteArray m_sitesOutput;
    QString m_sitesOf; ///< root of the submission whose sites were asked for
    std::vector<SiteRow> m_siteNames;
    bool m_startAfterOpen = false;
    int m_loading = 0; ///< parts of what is open that are still being read
    bool m_lookingUp = false; ///< the store looks for an audit
    bool m_cancelled = false;
};

} // namespace assay::ui
