// SPDX-License-Identifier: GPL-3.0-or-later
// Engine lines through the store's thread into batches, and back after a restart. Needs no engine: the lines are what one writes.
#include <bit>

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "core/audit/engine_events.h"
#include "ui/bridge/command_text.h"
#include "ui/bridge/store_worker.h"
#include "ui/models/number_text.h"

using namespace assay;
using namespace assay::ui;

namespace {

QByteArray line(const audit::EngineEvent& event) { return QByteArray::fromStdString(audit::serialiseEvent(event)) + '\n'; }

QByteArray linesOfStep(std::uint64_t step, audit::StepStatus status, std::uint64_t entries) {
    QByteArray out;
    if (entries > 0) {
        out += line(audit::SiteStatsEvent{step, {{4, entries, 1, 0}}});
        out += line(audit::CorrectionEvent{step, 4, "fc / y", 17, 0x3F800000u, 0x3F800001u});
    }
    audit::StepEvent event;
    event.step = step;
    event.status = status;
    event.lossBits = std::bit_cast<std::uint32_t>(1.0f / static_cast<float>(step));
    event.lossClaimedBits = event.lossBits;
    event.entries = entries;
    event.corrections = entries > 0 ? 1 : 0;
    return out + line(event);
}

RecordRequest request(const QString& folder) {
    RecordRequest out;
    out.audit.submission = folder.toStdString();
    out.audit.title = "a run";
    out.audit.work = {std::string(64, 'a'), std::string(64, 'b'), "haswell", "all"};
    ReplayInputs inputs;
    inputs.submission = folder;
    inputs.request.kernel = QStringLiteral("haswell");
    out.audit.command = verifyCommand(inputs).toStdString();
    out.audit.stepsTotal = 6;
    return out;
}

} // namespace

class StoreTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void commandsSurviveTheShellAndTheStore() {
        ReplayInputs inputs;
        inputs.submission = QStringLiteral("/data/it's a run");
        inputs.clientOrder = QStringLiteral("/orders/o.json");
        inputs.dataFolder = QStringLiteral("/d d");
        inputs.request.kernel = QStringLiteral("haswell,noise=0.9");
        inputs.request.scope = ReplayScope::range;
        inputs.request.firstStep = 3;
        inputs.request.lastStep = 8;
        inputs.request.ignoreLog = true;
        const QString command = verifyCommand(inputs);
        QVERIFY(command.contains(QStringLiteral("'/data/it'\\''s a run'")));
        const auto back = parseVerifyCommand(command);
        QVERIFY(back);
        QCOMPARE(back->submission, inputs.submission);
        QCOMPARE(back->dataFolder, inputs.dataFolder);
        QVERIFY(back->request == inputs.request);
        QVERIFY(!parseVerifyCommand(QStringLiteral("assay train x")));
        QVERIFY(!parseVerifyCommand(QStringLiteral("assay verify 'x")));
        const QByteArray json = verifyRequest(inputs);
        QVERIFY(json.contains("\"steps\":\"3:8\"") && json.contains("\"ignore_log\":true") && !json.contains('\n'));
    }

    void interruptedAuditsComeBackAfterARestart() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("audits.sqlite"));
        std::int64_t id = 0;
        {
            StoreHost host;
            QSignalSpy began(host.worker(), &StoreWorker::recordingBegan);
            QSignalSpy batches(host.worker(), &StoreWorker::batch);
            QSignalSpy ended(host.worker(), &StoreWorker::recordingEnded);
            host.post([&](StoreWorker& w) { w.open(file); });
            host.post([&](StoreWorker& w) { w.begin(request(folder.path())); });
            QTRY_COMPARE(began.count(), 1);
            id = began[0][0].toLongLong();
            QVERIFY(id > 0);
            QByteArray lines = line(audit::SitesEvent{{{4, "fc / y", "forward", true, 100}, {5, "fc.act", "forward", false, 100}}});
            lines += linesOfStep(1, audit::StepStatus::matched, 3) + linesOfStep(2, audit::StepStatus::matched, 0) + "{\"event\":\"nonsense\"}\n";
            host.post([lines](StoreWorker& w) { w.acceptLines(lines); });
            QTRY_COMPARE(batches.count(), 1);
            const auto batch = batches[0][0].value<EventBatchPtr>();
            QCOMPARE(batch->steps.size(), std::size_t{2});
            QCOMPARE(batch->sites->size(), std::size_t{1}); // product sites only
            QCOMPARE(batch->counts.size(), std::size_t{2}); // step 2 is known to have none
            QCOMPARE(batch->corrections.size(), std::size_t{1});
            QCOMPARE(batch->log.size(), std::size_t{1}); // what is not an event is reported, not swallowed
            host.post([](StoreWorker& w) { w.end(QStringLiteral("the engine was ended by a signal")); });
            QTRY_COMPARE(ended.count(), 1);
        }
        StoreHost host;
        QSignalSpy recent(host.worker(), &StoreWorker::recentLoaded);
        QSignalSpy loaded(host.worker(), &StoreWorker::auditLoaded);
        host.post([&](StoreWorker& w) { w.open(file); });
        QTRY_COMPARE(recent.count(), 1);
        const auto audits = recent[0][0].value<std::vector<RecentAudit>>();
        QCOMPARE(audits.size(), std::size_t{1});
        QVERIFY(audits[0].interrupted);
        QCOMPARE(audits[0].tone, Tone::neutral);
        host.post([&](StoreWorker& w) { w.findAuditOf(folder.path(), QString(64, u'a')); });
        QTRY_COMPARE(loaded.count(), 1);
        const auto snapshot = loaded[0][0].value<AuditSnapshotPtr>();
        QCOMPARE(snapshot->audit.id, id);
        QCOMPARE(snapshot->events.steps.size(), std::size_t{2});
        QCOMPARE(snapshot->lastVerified.value(), 2u);
        QCOMPARE(snapshot->events.counts[0].counts[0].entries, 3u);
        QSignalSpy corrections(host.worker(), &StoreWorker::correctionsLoaded);
        host.post([&](StoreWorker& w) { w.loadCorrections(id, 0, 0); });
        QTRY_COMPARE(corrections.count(), 1);
        const auto rows = corrections[0][1].value<std::vector<CorrectionsModel::Row>>();
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].correction.element, 17u);
        QVERIFY(rows[0].id > 0);
    }

    void aStoreThatCannotBeOpenedIsSaidAndReplaysStillRun() {
        StoreHost host;
        QSignalSpy failed(host.worker(), &StoreWorker::failed);
        QSignalSpy began(host.worker(), &StoreWorker::recordingBegan);
        QSignalSpy batches(host.worker(), &StoreWorker::batch);
        host.post([](StoreWorker& w) { w.open(QStringLiteral("/proc/nowhere/audits.sqlite")); });
        QTRY_COMPARE(failed.count(), 1);
        host.post([](StoreWorker& w) { w.begin(request(QStringLiteral("/tmp"))); });
        host.post([](StoreWorker& w) { w.acceptLines(linesOfStep(1, audit::StepStatus::matched, 0)); });
        QTRY_COMPARE(batches.count(), 1);
        QCOMPARE(began[0][0].toLongLong(), 0);
    }

    void theEventLoopStaysFreeWhileTheStoreWorks() {
        // 2,000 steps with their counts go through the store's thread; meanwhile no gap of the event loop may exceed 100 ms.
        const QTemporaryDir folder;
        StoreHost host;
        host.post([&](StoreWorker& w) { w.open(folder.filePath(QStringLiteral("s.sqlite"))); });
        auto wanted = request(folder.path());
        wanted.audit.stepsTotal = 2'000;
        host.post([wanted](StoreWorker& w) { w.begin(wanted); });
        QByteArray lines;
        for (std::uint64_t step = 1; step <= 2'000; ++step) {
            lines += linesOfStep(step, audit::StepStatus::matched, step % 5);
        }
        QSignalSpy batches(host.worker(), &StoreWorker::batch);
        qint64 worst = 0;
        QElapsedTimer clock;
        clock.start();
        host.post([lines](StoreWorker& w) { w.acceptLines(lines); });
        while (batches.isEmpty() && clock.elapsed() < 60'000) {
            QElapsedTimer gap;
            gap.start();
            QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
            worst = std::max(worst, gap.elapsed());
            QThread::msleep(1);
        }
        QCOMPARE(batches.count(), 1);
        QVERIFY2(worst < 100, qPrintable(QString::number(worst)));
    }
};

QTEST_MAIN(StoreTest)
#include "store_test.moc"
