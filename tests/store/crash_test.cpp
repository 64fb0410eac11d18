// SPDX-License-Identifier: Apache-2.0
// Real processes: killed while they write, writing at the same time, opening a new store at the same time.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using store::AuditStore;
using CrashTest = StoreTest;

/// The parent holds no connection while it forks: SQLite connections must not cross a fork.
template <typename Work>
pid_t inChild(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(work() ? 0 : 1);
    }
    return child;
}

int exitOf(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CrashTest, killedWriterLosesAtMostTheStepInFlight) {
    AuditStore::open(path()).value();
    std::mt19937 random(20240501);
    std::uint64_t before = 0;
    for (int round = 0; round < 12; ++round) {
        int pipe[2];
        ASSERT_EQ(::pipe(pipe), 0);
        const pid_t child = inChild([&] {
            auto store = AuditStore::open(path()).value();
            const auto found = store.findResumable(newAudit().work).value();
            const auto id = found ? found->id : store.createAudit(newAudit()).value();
            if (found && (!store.takeOver(id) || !store.forgetUnverified(id))) {
                return false;
            }
            for (std::uint64_t step = found ? found->lastVerified + 1 : 1;; ++step) {
                if (!store.putStep(id, stepWrite(step))) {
                    return false;
                }
                if (::write(pipe[1], &step, sizeof step) != static_cast<ssize_t>(sizeof step)) {
                    return false;
                }
            }
        });
        ::close(pipe[1]);
        // Kill only after the first new step, so that every round gets further; then at a random moment.
        std::uint64_t said = 0;
        ASSERT_EQ(::read(pipe[0], &said, sizeof said), static_cast<ssize_t>(sizeof said));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
        ::kill(child, SIGKILL);
        EXPECT_EQ(exitOf(child), -1);
        for (std::uint64_t next = 0; ::read(pipe[0], &next, sizeof next) == static_cast<ssize_t>(sizeof next);) {
            said = next;
        }
        ::close(pipe[0]);

        auto store = open();
        ASSERT_TRUE(ok(store.checkIntegrity()));
        const auto audits = *store.audits(std::nullopt, 10);
        ASSERT_EQ(audits.size(), 1U);
        const auto spans = *store.matchedSpans(audits[0].id);
        ASSERT_EQ(spans.size(), 1U);
        EXPECT_EQ(spans[0].first, 1U);
        EXPECT_GE(spans[0].last, said); // what was reported as stored is there
        EXPECT_LE(spans[0].last, said + 1);
        EXPECT_GT(spans[0].last, before);
        before = spans[0].last;
        // Every stored step is whole.
        EXPECT_EQ(*store.countCorrections(audits[0].id, {}), before);
        for (const std::uint64_t step : {std::uint64_t{1}, before}) {
            EXPECT_EQ(*store.siteCounts(audits[0].id, step), stepWrite(step).sites);
        }
        EXPECT_EQ(store.findResumable(newAudit().work)->value().lastVerified, before);
    }
}

TEST_F(CrashTest, twoProcessesWriteTheirAuditsAtTheSameTime) {
    AuditStore::open(path()).value();
    constexpr std::uint64_t kSteps = 300;
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
        children.push_back(inChild([&, i] {
            auto store = AuditStore::open(path()).value();
            const auto id = store.createAudit(newAudit("kernel" + std::to_string(i))).value();
            for (std::uint64_t step = 1; step <= kSteps; ++step) {
                if (!store.putStep(id, stepWrite(step))) {
                    return false;
                }
            }
            return store.finishAudit(id, "accepted", "fine", "{}").has_value();
        }));
    }
    {
        auto reader = open(AuditStore::Mode::readOnly); // reading goes on meanwhile
        for (int i = 0; i < 50; ++i) {
            ASSERT_TRUE(ok(reader.audits(std::nullopt, 10)));
        }
    }
    for (const auto child : children) {
        EXPECT_EQ(exitOf(child), 0);
    }
    auto store = open();
    ASSERT_TRUE(ok(store.checkIntegrity()));
    const auto audits = *store.audits(std::nullopt, 10);
    ASSERT_EQ(audits.size(), 2U);
    for (const auto& audit : audits) {
        EXPECT_EQ(audit.verdict, "accepted");
        EXPECT_EQ(audit.stepsMatched, kSteps);
    }
}

TEST_F(CrashTest, manyProcessesCreateTheSameStore) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(inChild([&] {
            auto store = AuditStore::open(path());
            return store && store->createAudit(newAudit());
        }));
    }
    for (const auto child : children) {
        EXPECT_EQ(exitOf(child), 0);
    }
    auto store = open();
    EXPECT_TRUE(ok(store.checkIntegrity()));
    EXPECT_EQ(store.audits(std::nullopt, 100)->size(), 8U);
}

TEST_F(CrashTest, replacedOwnerCannotWriteAnyMore) {
    // A process that is stopped for long is taken for dead where it cannot be seen; when it wakes up it must not mix
    // its rows in.
    AuditStore::open(path()).value();
    int ready[2];
    int go[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(go), 0);
    const pid_t child = inChild([&] {
        auto store = AuditStore::open(path()).value();
        const auto id = store.createAudit(newAudit()).value();
        char byte = 0;
        if (!store.putStep(id, stepWrite(1)) || !store.interruptAudit(id, "sleeping") ||
            ::write(ready[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) {
            return false;
        }
        return !store.putStep(id, stepWrite(2)) && !store.finishAudit(id, "accepted", "", "{}") && !store.takeOver(id);
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    {
        auto store = open();
        ASSERT_TRUE(ok(store.takeOver(1)));
        ASSERT_EQ(::write(go[1], &byte, 1), 1);
        EXPECT_EQ(exitOf(child), 0);
        EXPECT_EQ(store.steps(1, std::nullopt, 10)->size(), 1U);
        EXPECT_EQ(store.audit(1)->verdict, "not_checked");
        EXPECT_TRUE(ok(store.putStep(1, stepWrite(2))));
    }
    for (const int end : {ready[0], ready[1], go[0], go[1]}) {
        ::close(end);
    }
}

} // namespace
} // namespace assay::test
