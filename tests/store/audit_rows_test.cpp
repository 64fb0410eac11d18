// SPDX-License-Identifier: Apache-2.0
// The life of an audit: states, owners, resuming, deleting; rows come back as they were written.
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using base::ErrorCode;
using store::AuditState;
using store::AuditStore;
using AuditRowsTest = StoreTest;

/// Creates an audit in a child that dies without ending it.
template <typename Work>
void inDyingChild(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(AuditRowsTest, newAuditComesBackAsWritten) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    const auto row = *store.audit(id);
    EXPECT_EQ(row.submission, "/data/run.assay");
    EXPECT_EQ(row.title, "tiny");
    EXPECT_EQ(row.work, newAudit().work);
    EXPECT_EQ(row.command, "assay verify run.assay");
    EXPECT_EQ(row.stepsTotal, 10U);
    EXPECT_EQ(row.state, AuditState::running);
    EXPECT_EQ(row.owner, store::currentOwner());
    EXPECT_EQ(row.verdict, "not_checked");
    EXPECT_GT(row.createdMs, 1'600'000'000'000);
    EXPECT_EQ(store.audit(id + 1).error().code, ErrorCode::usage);
}

TEST_F(AuditRowsTest, stepsComeBackAsWrittenAndAreReplacedWhole) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.putStep(id, stepWrite(1))));
    ASSERT_TRUE(ok(store.putStep(id, stepWrite(2))));
    EXPECT_EQ(store.steps(id, std::nullopt, 10)->at(1), stepWrite(2).step);
    EXPECT_EQ(*store.siteCounts(id, 2), stepWrite(2).sites);
    auto correction = store.corrections(id, {}, std::nullopt, 10)->at(1);
    EXPECT_GT(correction.key.id, 0);
    correction.key.id = 0;
    EXPECT_EQ(correction, stepWrite(2).corrections[0]);

    auto again = stepWrite(2, "mismatched");
    again.sites = {{9, 9, 9, 9}};
    again.corrections.clear();
    again.step.evaluationBits = 12;
    ASSERT_TRUE(ok(store.putStep(id, again)));
    EXPECT_EQ(store.steps(id, std::nullopt, 10)->size(), 2U);
    EXPECT_EQ(store.steps(id, std::nullopt, 10)->at(1), again.step);
    EXPECT_EQ(*store.siteCounts(id, 2), again.sites);
    EXPECT_EQ(*store.countCorrections(id, {}), 1U);
}

TEST_F(AuditRowsTest, checksKeepTheirOrderAndSitesAreReplaced) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    const store::CheckRow first{"signature", "not_checked", "unknown key", std::nullopt, std::nullopt};
    const store::CheckRow second{"files", "failed", "x differs", "log_root", 12};
    ASSERT_TRUE(ok(store.putCheck(id, first)));
    ASSERT_TRUE(ok(store.putCheck(id, second)));
    store::CheckRow changed = first;
    changed.state = "passed";
    ASSERT_TRUE(ok(store.putCheck(id, changed)));
    EXPECT_EQ(*store.checks(id), (std::vector{changed, second}));

    const std::vector<store::SiteRow> sites{{0, "a / y", "forward", true, 64}, {1, "b", "update", false, 3}};
    const std::vector<store::SiteRow> old{{7, "old", "", false, 1}};
    ASSERT_TRUE(ok(store.putSites(id, old)));
    ASSERT_TRUE(ok(store.putSites(id, sites)));
    EXPECT_EQ(*store.sites(id), sites);
}

TEST_F(AuditRowsTest, badValuesAreRefusedWhole) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    auto tooLarge = stepWrite(1);
    tooLarge.sites[1].entries = 1ULL << 63;
    const auto refused = store.putStep(id, tooLarge);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::malformed);
    EXPECT_TRUE(store.steps(id, std::nullopt, 10)->empty()); // rolled back, not half written
    EXPECT_TRUE(store.siteCounts(id, 1)->empty());
    EXPECT_FALSE(store.putStep(id, stepWrite(1, "perhaps")).has_value());
    EXPECT_TRUE(store.steps(id, std::nullopt, 10)->empty());
    EXPECT_TRUE(ok(store.putStep(id, stepWrite(1))));
    EXPECT_FALSE(store.putStep(99, stepWrite(1)).has_value()); // no such audit
}

TEST_F(AuditRowsTest, textsWithQuotesZeroBytesAndUnicode) {
    auto store = open();
    auto audit = newAudit();
    audit.title = std::string("a'; DROP TABLE audits; --\0 zero", 31) + " \xc3\xa4 \xf0\x9f\x94\x8d";
    const auto id = *store.createAudit(audit);
    EXPECT_EQ(store.audit(id)->title, audit.title);
}

TEST_F(AuditRowsTest, verdictOnlyWithItsReportAndNothingAfterIt) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    EXPECT_FALSE(store.finishAudit(id, "accepted", "", "").has_value());
    EXPECT_FALSE(store.finishAudit(id, "splendid", "x", "{}").has_value());
    EXPECT_EQ(store.audit(id)->state, AuditState::running);
    ASSERT_TRUE(ok(store.finishAudit(id, "rejected", "the loss differs", "{\"verdict\":\"rejected\"}")));
    const auto row = *store.audit(id);
    EXPECT_EQ(row.state, AuditState::finished);
    EXPECT_EQ(row.verdict, "rejected");
    EXPECT_EQ(row.reason, "the loss differs");
    EXPECT_EQ(row.reportJson, "{\"verdict\":\"rejected\"}");
    EXPECT_EQ(store.putStep(id, stepWrite(1)).error().code, ErrorCode::usage);
    EXPECT_EQ(store.finishAudit(id, "accepted", "y", "{}").error().code, ErrorCode::usage);
    EXPECT_EQ(store.takeOver(id).error().code, ErrorCode::usage);
    EXPECT_EQ(store.audit(id)->verdict, "rejected");
}

TEST_F(AuditRowsTest, pauseAndContinue) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.setState(id, AuditState::paused)));
    EXPECT_EQ(store.audit(id)->state, AuditState::paused);
    ASSERT_TRUE(ok(store.setState(id, AuditState::running)));
    EXPECT_FALSE(store.setState(id, AuditState::finished).has_value());
    EXPECT_FALSE(store.setState(id, AuditState::interrupted).has_value());
    EXPECT_EQ(store.audit(id)->state, AuditState::running);
}

TEST_F(AuditRowsTest, liveAuditCannotBeTakenResumedOrDeleted) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    EXPECT_EQ(store.takeOver(id).error().code, ErrorCode::usage);
    EXPECT_EQ(store.deleteAudit(id).error().code, ErrorCode::usage);
    EXPECT_FALSE(store.findResumable(newAudit().work)->has_value());
    EXPECT_TRUE(store.markInterrupted()->empty());
}

TEST_F(AuditRowsTest, deadOwnersAuditIsMarkedAndResumable) {
    const auto file = path();
    store::AuditStore::open(file).value();
    inDyingChild([&] {
        auto store = AuditStore::open(file).value();
        const auto id = *store.createAudit(newAudit());
        for (const std::uint64_t step : {1U, 2U, 3U, 5U}) {
            static_cast<void>(store.putStep(id, stepWrite(step)));
        }
        static_cast<void>(store.putStep(id, stepWrite(4, "mismatched")));
    });
    auto store = open();
    EXPECT_EQ(store.audit(1)->state, AuditState::running);
    const auto before = *store.findResumable(newAudit().work); // also without marking it first
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(*store.markInterrupted(), std::vector<store::AuditId>{1});
    EXPECT_TRUE(store.markInterrupted()->empty());
    EXPECT_EQ(store.audit(1)->state, AuditState::interrupted);
    const auto found = *store.findResumable(newAudit().work);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->id, 1);
    EXPECT_EQ(found->lastVerified, 3U);                                       // 4 did not match, so 5 does not count
    EXPECT_EQ(store.putStep(1, stepWrite(6)).error().code, ErrorCode::usage); // not ours yet
    ASSERT_TRUE(ok(store.takeOver(1)));
    ASSERT_TRUE(ok(store.forgetUnverified(1)));
    EXPECT_EQ(*store.matchedSpans(1), (std::vector<store::StepSpan>{{1, 3}, {5, 5}}));
    EXPECT_EQ(store.steps(1, std::nullopt, 100)->size(), 4U);
    EXPECT_TRUE(store.siteCounts(1, 4)->empty());
    EXPECT_EQ(store.siteCounts(1, 3)->size(), 2U);
    EXPECT_EQ(*store.countCorrections(1, {}), 4U);
    EXPECT_TRUE(ok(store.putStep(1, stepWrite(4))));
}

TEST_F(AuditRowsTest, forgetUnverifiedDropsFindingsAndChecks) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    store::FindingRow finding;
    finding.severity = "failure";
    finding.text = "x";
    ASSERT_TRUE(ok(store.addFindings(id, std::span(&finding, 1))));
    ASSERT_TRUE(ok(store.putCheck(id, {"files", "passed", "", std::nullopt, std::nullopt})));
    ASSERT_TRUE(ok(store.forgetUnverified(id)));
    EXPECT_EQ(*store.countFindings(id, {}), 0U);
    EXPECT_TRUE(store.checks(id)->empty());
}

TEST_F(AuditRowsTest, resumableOnlyForExactlyTheSameWork) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.putStep(id, stepWrite(1))));
    ASSERT_TRUE(ok(store.interruptAudit(id, "cancelled")));
    EXPECT_EQ(store.audit(id)->reason, "cancelled");
    auto work = newAudit().work;
    EXPECT_EQ(store.findResumable(work)->value().lastVerified, 1U);
    for (std::string store::WorkKey::*member :
         {&store::WorkKey::root, &store::WorkKey::orderDigest, &store::WorkKey::kernel, &store::WorkKey::options}) {
        auto other = work;
        other.*member += "x";
        EXPECT_FALSE(store.findResumable(other)->has_value());
    }
}

TEST_F(AuditRowsTest, newestInterruptedAuditWins) {
    auto store = open();
    for (int i = 0; i < 3; ++i) {
        const auto id = *store.createAudit(newAudit());
        ASSERT_TRUE(ok(store.interruptAudit(id, "cancelled")));
    }
    const auto finished = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.finishAudit(finished, "accepted", "", "{}")));
    EXPECT_EQ(store.findResumable(newAudit().work)->value().id, 3);
}

TEST_F(AuditRowsTest, firstPlannedStepCountsForResuming) {
    auto store = open();
    auto audit = newAudit();
    audit.firstStep = 5;
    const auto id = *store.createAudit(audit);
    for (const std::uint64_t step : {5U, 6U, 8U}) {
        ASSERT_TRUE(ok(store.putStep(id, stepWrite(step))));
    }
    ASSERT_TRUE(ok(store.interruptAudit(id, "x")));
    EXPECT_EQ(store.findResumable(audit.work)->value().lastVerified, 6U);
}

TEST_F(AuditRowsTest, deletedAuditTakesItsRowsButNotTheJournal) {
    auto store = open();
    const auto keep = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.putStep(keep, stepWrite(1))));
    const auto id = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.putStep(id, stepWrite(1))));
    ASSERT_TRUE(ok(store.addNote({id, "", "note"})));
    ASSERT_TRUE(ok(store.interruptAudit(id, "x")));
    ASSERT_TRUE(ok(store.deleteAudit(id)));
    EXPECT_FALSE(store.audit(id).has_value());
    EXPECT_TRUE(store.steps(id, std::nullopt, 10)->empty());
    EXPECT_EQ(*store.countCorrections(id, {}), 0U);
    EXPECT_TRUE(store.siteCounts(id, 1)->empty());
    EXPECT_TRUE(store.notes(id)->empty());
    EXPECT_EQ(store.steps(keep, std::nullopt, 10)->size(), 1U);
    const auto journal = *store.journal(id, std::nullopt, 100);
    ASSERT_EQ(journal.size(), 4U);
    EXPECT_EQ(journal.front().action, "audit started");
    EXPECT_EQ(journal.back().action, "audit deleted");
}

TEST_F(AuditRowsTest, factsAndTotals) {
    auto store = open();
    const auto id = *store.createAudit(newAudit());
    ASSERT_TRUE(ok(store.setFacts(id, {"{\"isa\":\"avx2\"}", ""})));
    ASSERT_TRUE(ok(store.setFacts(id, {"", "haswell"})));
    EXPECT_EQ(store.audit(id)->engineJson, "{\"isa\":\"avx2\"}");
    EXPECT_EQ(store.audit(id)->kernelTrainer, "haswell");
    for (std::uint64_t step = 1; step <= 4; ++step) {
        ASSERT_TRUE(ok(store.putStep(id, stepWrite(step, step == 4 ? "mismatched" : "matched"))));
    }
    const auto all = *store.totals(id);
    EXPECT_EQ(all.steps, 4U);
    EXPECT_EQ(all.matched, 3U);
    EXPECT_EQ(all.entries, 410U);
    EXPECT_EQ(all.corrections, 10U);
    EXPECT_EQ(all.logBytes, 4000U);
    EXPECT_EQ(all.freedom, 28U);
    EXPECT_DOUBLE_EQ(all.seconds, 1.0);
    EXPECT_EQ(store.totals(id, store::StepSpan{2, 3})->entries, 205U);
    EXPECT_EQ(store.totals(id, store::StepSpan{9, 12})->steps, 0U);
    EXPECT_EQ(store.audit(id)->stepsMatched, 3U);
}

TEST(Owner, thisProcessLivesAndOthersDoNot) {
    const auto own = store::currentOwner();
    EXPECT_TRUE(store::ownerMayBeAlive(own));
    const auto change = [&](int field, const std::string& value) {
        std::istringstream in(own);
        std::string word;
        std::string text;
        for (int i = 0; in >> word; ++i) {
            text += (i == 0 ? "" : " ") + (i == field ? value : word);
        }
        return text;
    };
    EXPECT_FALSE(store::ownerMayBeAlive(change(5, "1")));       // the id was reused by a later process
    EXPECT_FALSE(store::ownerMayBeAlive(change(4, "4194999"))); // no such process
    EXPECT_FALSE(store::ownerMayBeAlive(change(2, "other-boot")));
    EXPECT_FALSE(store::ownerMayBeAlive(change(3, "pid:[1]"))); // another container
    EXPECT_TRUE(store::ownerMayBeAlive(change(1, "other-machine")));
    EXPECT_FALSE(store::ownerMayBeAlive(""));
    EXPECT_FALSE(store::ownerMayBeAlive("nonsense"));
}

} // namespace
} // namespace assay::test
