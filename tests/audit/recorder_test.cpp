// SPDX-License-Identifier: Apache-2.0
// Events of an engine become an audit in the store, across interruptions.
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "core/audit/audit_recorder.h"
#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using namespace audit;
using store::AuditState;

class RecorderTest : public StoreTest {
protected:
    static store::NewAudit request() {
        auto audit = newAudit();
        audit.work = workKey(std::string(64, 'a'), std::string(64, 'b'), "prescott", {});
        return audit;
    }
    static EngineEvent step(std::uint64_t number, StepStatus status = StepStatus::matched) {
        StepEvent event;
        event.step = number;
        event.status = status;
        event.lossBits = 0x3f800000U;
        event.lossClaimedBits = 0x3f800000U;
        event.entries = 10;
        event.corrections = 2;
        event.digest = std::string(64, 'd');
        return event;
    }
    static EngineEvent verdict(Verdict value) {
        VerifyReport report;
        report.verdict = value;
        report.reason = "because";
        report.kernelTrainer = "haswell";
        return VerdictEvent{report};
    }
    /// Everything an engine says about one step, in its order.
    static void tell(AuditRecorder& recorder, std::uint64_t number, StepStatus status = StepStatus::matched) {
        ASSERT_TRUE(ok(recorder.acceptLine(serialiseEvent(SiteStatsEvent{number, {{0, 10, 2, 0}}}))));
        ASSERT_TRUE(ok(recorder.acceptLine(serialiseEvent(CorrectionEvent{number, 0, "a / y", 5, 1, 2}))));
        ASSERT_TRUE(ok(recorder.acceptLine(serialiseEvent(step(number, status)))));
    }
};

TEST_F(RecorderTest, wholeAudit) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    const auto id = recorder.id();
    ASSERT_TRUE(ok(recorder.accept(HelloEvent{"0.1.0", "OpenBLAS", "Prescott", 2, "prescott", "avx2"})));
    ASSERT_TRUE(ok(recorder.accept(ProgressEvent{"files", 1, 2, "bytes", {}, {}})));
    ASSERT_TRUE(ok(recorder.accept(CheckEvent{{Check::files, CheckState::passed, "fine", {}, {}}})));
    ASSERT_TRUE(ok(recorder.accept(SitesEvent{{{0, "a / y", "forward", true, 64}}})));
    tell(recorder, 1);
    tell(recorder, 2, StepStatus::mismatched);
    Finding finding;
    finding.severity = Severity::failure;
    finding.where.step = 2;
    finding.where.part = Part::loss;
    finding.where.setClaimed(1.5F);
    finding.text = "the loss differs";
    ASSERT_TRUE(ok(recorder.accept(FindingEvent{finding})));
    ASSERT_TRUE(ok(recorder.accept(verdict(Verdict::rejected))));
    EXPECT_EQ(store.audit(id)->state, AuditState::running); // until the engine has ended
    ASSERT_TRUE(ok(recorder.end("")));

    const auto row = *store.audit(id);
    EXPECT_EQ(row.state, AuditState::finished);
    EXPECT_EQ(row.verdict, "rejected");
    EXPECT_EQ(row.kernelTrainer, "haswell");
    EXPECT_EQ(*reportFromJson(row.reportJson), *recorder.report());
    EXPECT_NE(row.engineJson.find("\"core\":\"Prescott\""), std::string::npos);
    EXPECT_EQ(store.checks(id)->at(0).state, "passed");
    EXPECT_EQ(store.sites(id)->at(0).name, "a / y");
    const auto steps = *store.steps(id, std::nullopt, 10);
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[1].status, "mismatched");
    EXPECT_EQ(steps[0].lossClaimedBits, 0x3f800000U);
    EXPECT_EQ(store.siteCounts(id, 1)->at(0), (store::SiteCountRow{0, 10, 2, 0}));
    EXPECT_EQ(store.corrections(id, {}, std::nullopt, 10)->at(1).element, 5U);
    EXPECT_EQ(fromRow(store.findings(id, {}, std::nullopt, 10)->at(0)), finding);
}

TEST_F(RecorderTest, endWithoutVerdictLeavesAnInterruptedAudit) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    tell(recorder, 1);
    ASSERT_TRUE(ok(recorder.accept(ErrorEvent{{base::ErrorCode::environment, "no memory", {}, {}, {}}})));
    ASSERT_TRUE(ok(recorder.end("")));
    EXPECT_EQ(store.audit(recorder.id())->state, AuditState::interrupted);
    EXPECT_EQ(store.audit(recorder.id())->verdict, "not_checked");
    EXPECT_EQ(store.audit(recorder.id())->reason, "no memory");
    EXPECT_EQ(recorder.error()->message, "no memory");
}

TEST_F(RecorderTest, notCheckedIsNoEnd) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    ASSERT_TRUE(ok(recorder.accept(verdict(Verdict::notChecked))));
    ASSERT_TRUE(ok(recorder.end("cancelled")));
    EXPECT_EQ(store.audit(recorder.id())->state, AuditState::interrupted);
}

TEST_F(RecorderTest, killedAndResumedAuditGoesOnWhereItWas) {
    store::AuditStore::open(path()).value();
    const pid_t child = ::fork();
    if (child == 0) {
        auto store = store::AuditStore::open(path()).value();
        auto recorder = AuditRecorder::begin(store, request()).value();
        static_cast<void>(recorder.accept(CheckEvent{{Check::files, CheckState::passed, "", {}, {}}}));
        for (std::uint64_t number = 1; number <= 5; ++number) {
            tell(recorder, number);
        }
        static_cast<void>(recorder.accept(SiteStatsEvent{6, {{0, 1, 1, 1}}})); // killed inside step 6
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    auto store = open();
    EXPECT_EQ(store.markInterrupted()->size(), 1U);
    const auto found = *AuditRecorder::findResumable(store, request().work);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->lastVerified, 5U);
    auto recorder = *AuditRecorder::resume(store, found->id);
    EXPECT_TRUE(store.checks(found->id)->empty()); // found anew
    EXPECT_TRUE(store.siteCounts(found->id, 6)->empty());
    tell(recorder, 5); // replayed again from a checkpoint: replaces, does not double
    tell(recorder, 6);
    ASSERT_TRUE(ok(recorder.accept(verdict(Verdict::accepted))));
    ASSERT_TRUE(ok(recorder.end("")));
    EXPECT_EQ(store.audit(found->id)->verdict, "accepted");
    EXPECT_EQ(store.totals(found->id)->entries, 60U);
    EXPECT_EQ(*store.countCorrections(found->id, {}), 6U);
    EXPECT_FALSE(AuditRecorder::findResumable(store, request().work)->has_value());
}

TEST_F(RecorderTest, liveAuditIsNotResumed) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    EXPECT_EQ(AuditRecorder::resume(store, recorder.id()).error().code, base::ErrorCode::usage);
    ASSERT_TRUE(ok(recorder.setPaused(true)));
    EXPECT_EQ(store.audit(recorder.id())->state, AuditState::paused);
    EXPECT_EQ(AuditRecorder::resume(store, recorder.id()).error().code, base::ErrorCode::usage);
    ASSERT_TRUE(ok(recorder.setPaused(false)));
}

TEST_F(RecorderTest, linesThatAreNoEventsStoreNothing) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    for (const auto* line : {"", "hello", "{\"event\":\"step\",\"step\":1}", "{\"event\":\"bogus\"}"}) {
        EXPECT_EQ(recorder.acceptLine(line).error().code, base::ErrorCode::malformed);
    }
    EXPECT_TRUE(store.steps(recorder.id(), std::nullopt, 10)->empty());
    tell(recorder, 1); // and the audit goes on
}

TEST_F(RecorderTest, correctionsAreCappedPerStep) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    for (std::uint64_t i = 0; i < kCorrectionsPerStep + 50; ++i) {
        ASSERT_TRUE(ok(recorder.accept(CorrectionEvent{1, 0, "a", i, 1, 2})));
    }
    ASSERT_TRUE(ok(recorder.accept(step(1))));
    EXPECT_EQ(*store.countCorrections(recorder.id(), {}), kCorrectionsPerStep);
}

TEST_F(RecorderTest, engineThatNeverFinishesAStepIsStopped) {
    auto store = open();
    auto recorder = *AuditRecorder::begin(store, request());
    base::Result<void> last;
    for (std::uint64_t i = 1; i <= 2000 && last; ++i) {
        last = recorder.accept(CorrectionEvent{i, 0, "a", i, 1, 2});
    }
    ASSERT_FALSE(last.has_value());
    EXPECT_EQ(last.error().code, base::ErrorCode::malformed);
}

TEST(ReplayOptionsText, differsWhereverTheReplayDiffers) {
    ReplayOptions base;
    std::vector<ReplayOptions> all{base};
    const auto with = [&](auto change) {
        auto options = base;
        change(options);
        all.push_back(options);
    };
    with([](ReplayOptions& options) { options.logIgnored = true; });
    with([](ReplayOptions& options) { options.secondKernel = "haswell"; });
    with([](ReplayOptions& options) { options.scope = Scope::range, options.ranges = {{1, 23}}; });
    with([](ReplayOptions& options) { options.scope = Scope::range, options.ranges = {{12, 3}}; });
    with([](ReplayOptions& options) { options.scope = Scope::range, options.ranges = {{1, 2}, {3, 4}}; });
    with([](ReplayOptions& options) {
        options.scope = Scope::sample, options.ranges = {{1, 23}}, options.nonce = "01";
    });
    with([](ReplayOptions& options) {
        options.scope = Scope::sample, options.ranges = {{1, 23}}, options.nonce = "02";
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j) {
            EXPECT_EQ(all[i].toString() == all[j].toString(), i == j) << i << " " << j;
        }
    }
}

TEST(FindingRows, unknownNamesBecomeEmpty) {
    store::FindingRow row;
    row.severity = "splendid";
    row.source = "rumour";
    row.part = "everything";
    row.text = "x";
    const auto finding = fromRow(row);
    EXPECT_EQ(finding.severity, Severity::info);
    EXPECT_FALSE(finding.where.source.has_value());
    EXPECT_FALSE(finding.where.part.has_value());
    EXPECT_EQ(finding.text, "x");
}

} // namespace
} // namespace assay::test
