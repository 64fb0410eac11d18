// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QByteArray>
#include <QObject>
#include <QThread>

#include "core/audit/audit_recorder.h"
#include "core/audit/verified_steps.h"
#include "core/store/audit_store.h"
#include "ui/bridge/event_batch.h"

namespace assay::ui {

/// How to begin recording.
struct RecordRequest {
    store::NewAudit audit;
    std::optional<store::AuditId> resume; ///< go on with this audit instead
};

/// Owns the store's connection and the recorder; lives on its own thread and is driven by queued calls. Every answer is a signal.
class StoreWorker : public QObject {
    Q_OBJECT

public:
    void open(const QString& path);
    void begin(const RecordRequest& request);
    /// What of an interrupted audit still counts for the submission at `path`; nothing where that cannot be told.
    void findVerified(store::AuditId id, std::uint64_t through, const QString& path);
    void acceptLines(const QByteArray& lines);
    void setPaused(bool paused);
    void end(const QString& why);
    void loadRecent();
    void loadAudit(store::AuditId id);
    /// The newest audit of this submission, if any (absolute path), preferring the one whose root is `root`.
    void findAuditOf(const QString& submission, const QString& root);
    void loadCorrections(store::AuditId id, std::uint64_t step, std::int64_t key);
    void loadJournal();
    void journal(std::optional<store::AuditId> id, const QString& action, const QString& detail);
    void removeAudit(store::AuditId id);

Q_SIGNALS:
    void opened(const QString& path);
    void recordingBegan(std::int64_t id);
    void recordingEnded(std::int64_t id);
    void verifiedFound(std::int64_t id, const assay::audit::VerifiedSteps& verified);
    void batch(const assay::ui::EventBatchPtr& events);
    void recentLoaded(const std::vector<assay::ui::RecentAudit>& audits);
    void auditLoaded(const assay::ui::AuditSnapshotPtr& snapshot);
    void noAuditFound(const QString& submission);
    void correctionsLoaded(std::int64_t id, const std::vector<assay::ui::CorrectionsModel::Row>& rows);
    void journalLoaded(const std::vector<assay::ui::LogLine>& lines);
    void failed(const QString& what, const QString& why);

private:
    void fail(const QString& what, const base::Error& error);
    [[nodiscard]] bool isOpen();

    std::unique_ptr<store::AuditStore> m_store;
    std::unique_ptr<audit::AuditRecorder> m_recorder;
    QString m_problem; ///< why the store is not open
};

/// The worker with its thread. Calls are queued; destroying the host ends the thread after the calls before it.
class StoreHost : public QObject {
    Q_OBJECT

public:
    explicit StoreHost(QObject* parent = nullptr);
    ~StoreHost() override;
    [[nodiscard]] StoreWorker* worker() const { return m_worker; }
    /// Runs `call` with the worker on its thread.
    void post(std::function<void(StoreWorker&)> call);

private:
    QThread m_thread;
    StoreWorker* m_worker = nullptr;
};

/// Puts one engine event into a batch. Shared by live recording and tests.
void addToBatch(const audit::EngineEvent& event, EventBatch& batch);

} // namespace assay::ui

Q_DECLARE_METATYPE(std::vector<assay::ui::RecentAudit>)
Q_DECLARE_METATYPE(assay::audit::VerifiedSteps)
Q_DECLARE_METATYPE(std::vector<assay::ui::CorrectionsModel::Row>)
Q_DECLARE_METATYPE(std::vector<assay::ui::LogLine>)
