// SPDX-License-Identifier: Apache-2.0
// Opening: new files, every older version, newer versions, foreign and damaged files, places that cannot be written.
#include <csignal>
#include <fstream>

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/detail/database.h"
#include "core/store/detail/migrations.h"
#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using base::ErrorCode;
using store::AuditStore;
using OpenTest = StoreTest;

std::string bytesOf(const base::fs::path& path) {
    return base::readTextFile(path, 1 << 26).value_or("unreadable");
}

/// What is in the schema, as text.
std::string schemaOf(const base::fs::path& path) {
    auto database = store::detail::Database::open(path, store::detail::Database::Mode::readOnly);
    std::string text;
    auto query = (*database)->query("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name");
    while (query->next().value_or(false)) {
        text += query->text(0) + " " + query->text(1) + " " + query->text(2) + "\n";
    }
    return text;
}

void makeVersion(const base::fs::path& path, int version) {
    auto database = store::detail::Database::open(path, store::detail::Database::Mode::readWrite);
    ASSERT_TRUE(ok(database));
    ASSERT_TRUE(ok(store::detail::migrate(**database, version)));
}

TEST_F(OpenTest, newStoreHasTheCurrentVersionInNewFolders) {
    const auto place = folder() / "a" / "b" / "audits.sqlite";
    {
        auto store = AuditStore::open(place);
        ASSERT_TRUE(ok(store));
        EXPECT_EQ(store->path(), place);
        EXPECT_TRUE(ok(store->checkIntegrity()));
        EXPECT_TRUE(store->audits(std::nullopt, 10)->empty());
    }
    auto database = store::detail::Database::open(place, store::detail::Database::Mode::readOnly);
    auto query =
        (*database)->query("SELECT user_version, application_id FROM pragma_user_version, pragma_application_id");
    ASSERT_TRUE(query->next().value_or(false));
    EXPECT_EQ(query->integer(0), store::currentSchemaVersion());
    EXPECT_EQ(query->integer(1), 0x41534159);
}

TEST_F(OpenTest, emptyFileBecomesAStore) {
    std::ofstream(path()).close();
    EXPECT_TRUE(ok(AuditStore::open(path())));
}

TEST_F(OpenTest, migratesFromEveryOlderVersionAndKeepsRows) {
    open();
    const auto wanted = schemaOf(path());
    for (int version = 1; version < store::currentSchemaVersion(); ++version) {
        const auto old = folder() / ("v" + std::to_string(version) + ".sqlite");
        makeVersion(old, version);
        EXPECT_NE(schemaOf(old), wanted);
        {
            auto database = store::detail::Database::open(old, store::detail::Database::Mode::readWrite);
            ASSERT_TRUE(ok((*database)->execute(
                "INSERT INTO audits (created_ms, updated_ms, submission, root, order_digest, kernel, options, "
                "steps_total, state, owner) "
                "VALUES (1, 2, 's', 'r', 'o', 'k', 'p', 3, 'interrupted', 'x'); "
                "INSERT INTO steps VALUES (1, 1, 'matched', 5, NULL, NULL, 1, 2, 3, 4, 5, 0.5, 1, 'd')")));
        }
        auto migrated = AuditStore::open(old);
        ASSERT_TRUE(ok(migrated));
        EXPECT_EQ(schemaOf(old), wanted) << version;
        EXPECT_EQ(migrated->audit(1)->submission, "s");
        EXPECT_EQ(migrated->steps(1, std::nullopt, 10)->at(0).lossBits, 5U);
        EXPECT_TRUE(ok(migrated->appendJournal(1, "x", "y")));
        EXPECT_TRUE(ok(migrated->checkIntegrity()));
    }
}

TEST_F(OpenTest, openingAgainChangesNothing) {
    open();
    const auto before = schemaOf(path());
    open();
    EXPECT_EQ(schemaOf(path()), before);
}

TEST_F(OpenTest, failedMigrationLeavesTheOldVersion) {
    makeVersion(path(), 1);
    {
        // Something in the way of a later migration: it must fail as a whole.
        auto database = store::detail::Database::open(path(), store::detail::Database::Mode::readWrite);
        ASSERT_TRUE(ok((*database)->execute("CREATE TABLE settings (other TEXT)")));
    }
    const auto before = schemaOf(path());
    EXPECT_FALSE(AuditStore::open(path()).has_value());
    EXPECT_EQ(schemaOf(path()), before);
}

TEST_F(OpenTest, newerVersionIsRefusedAndLeftAlone) {
    open();
    {
        auto database = store::detail::Database::open(path(), store::detail::Database::Mode::readWrite);
        ASSERT_TRUE(ok((*database)->execute("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)")));
    }
    const auto before = bytesOf(path());
    const auto refused = AuditStore::open(path());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::environment);
    EXPECT_NE(refused.error().message.find("999"), std::string::npos);
    EXPECT_EQ(refused.error().file, path().string());
    EXPECT_FALSE(refused.error().remedy.empty());
    EXPECT_EQ(bytesOf(path()), before);
}

TEST_F(OpenTest, foreignFilesAreRefusedAndLeftAlone) {
    const std::string sqliteStart("SQLite format 3\0", 16);
    for (const auto& content :
         {std::string("hello"), std::string(5000, 'x'), sqliteStart, sqliteStart + std::string(4080, '\xff'),
          std::string("PK\x03\x04 a zip"), std::string(1, '\0')}) {
        ASSERT_TRUE(ok(base::writeFileAtomic(path(), std::string_view(content))));
        const auto refused = AuditStore::open(path());
        ASSERT_FALSE(refused.has_value()) << content.substr(0, 8);
        EXPECT_EQ(refused.error().code, ErrorCode::malformed);
        EXPECT_EQ(bytesOf(path()), content);
        EXPECT_FALSE(base::fs::exists(path().string() + "-wal"));
    }
}

TEST_F(OpenTest, databasesOfOtherProgramsAreRefusedAndLeftAlone) {
    for (const std::string extra : {"", "PRAGMA application_id = 1196444487;", "PRAGMA user_version = 1;"}) {
        base::fs::remove(path());
        sqlite3* other = nullptr;
        ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(other, ("CREATE TABLE photos (x); INSERT INTO photos VALUES (1);" + extra).c_str(),
                               nullptr, nullptr, nullptr),
                  SQLITE_OK);
        sqlite3_close(other);
        const auto before = bytesOf(path());
        const auto refused = AuditStore::open(path());
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, ErrorCode::malformed);
        EXPECT_NE(refused.error().message.find("another program"), std::string::npos);
        EXPECT_EQ(bytesOf(path()), before);
    }
}

TEST_F(OpenTest, damagedStoreIsReportedNotCrashed) {
    {
        auto store = open();
        const auto id = *store.createAudit(newAudit());
        for (std::uint64_t step = 1; step <= 300; ++step) {
            ASSERT_TRUE(ok(store.putStep(id, stepWrite(step))));
        }
    }
    const auto good = bytesOf(path());
    ASSERT_GT(good.size(), 20000U);
    int noticed = 0;
    for (std::size_t page = 1; page < good.size() / 4096; ++page) {
        auto bad = good;
        for (std::size_t i = 0; i < 64; ++i) {
            bad[page * 4096 + i] = static_cast<char>(0xa5);
        }
        ASSERT_TRUE(ok(base::writeFileAtomic(path(), std::string_view(bad))));
        auto store = AuditStore::open(path());
        if (!store) {
            EXPECT_TRUE(store.error().code == ErrorCode::malformed || store.error().code == ErrorCode::internal)
                << store.error().toString();
            ++noticed;
            continue;
        }
        // Every query answers or fails; none may crash.
        static_cast<void>(store->audits(std::nullopt, 10));
        static_cast<void>(store->steps(1, std::nullopt, 1000));
        static_cast<void>(store->corrections(1, {}, std::nullopt, 1000));
        static_cast<void>(store->heatMap(1, 1, 300, 10));
        const auto integrity = store->checkIntegrity();
        EXPECT_FALSE(integrity.has_value()) << "page " << page;
        noticed += integrity ? 0 : 1;
    }
    EXPECT_GT(noticed, 5);
}

TEST_F(OpenTest, folderInsteadOfFile) {
    base::fs::create_directory(path());
    const auto refused = AuditStore::open(path());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::malformed);
}

TEST_F(OpenTest, placesThatCannotBeWritten) {
    ASSERT_TRUE(ok(base::writeFileAtomic(folder() / "file", std::string_view("x"))));
    for (const auto& place : {folder() / "file" / "audits.sqlite", base::fs::path("/proc/assay/audits.sqlite")}) {
        const auto refused = AuditStore::open(place);
        ASSERT_FALSE(refused.has_value()) << place;
        EXPECT_EQ(refused.error().code, ErrorCode::environment) << refused.error().toString();
        EXPECT_FALSE(refused.error().file.empty());
    }
}

TEST_F(OpenTest, readOnlyConnectionCannotWrite) {
    auto writer = open();
    const auto id = *writer.createAudit(newAudit());
    auto reader = open(AuditStore::Mode::readOnly);
    EXPECT_EQ(reader.audit(id)->title, "tiny");
    const auto refused = reader.appendJournal(id, "x", "y");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::environment);
    EXPECT_FALSE(refused.error().remedy.empty());
}

TEST_F(OpenTest, readOnlyOpenOfAnOldOrMissingStore) {
    const auto missing = AuditStore::open(path(), AuditStore::Mode::readOnly);
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, ErrorCode::environment);
    EXPECT_FALSE(base::fs::exists(path()));
    makeVersion(path(), 1);
    const auto old = AuditStore::open(path(), AuditStore::Mode::readOnly);
    ASSERT_FALSE(old.has_value());
    EXPECT_EQ(old.error().code, ErrorCode::environment);
}

TEST_F(OpenTest, unwritableFile) {
    if (::geteuid() == 0) {
        GTEST_SKIP() << "permissions do not stop root";
    }
    open();
    ::chmod(path().c_str(), 0400);
    auto store = AuditStore::open(path());
    ASSERT_TRUE(!store || !store->appendJournal(std::nullopt, "x", "y"));
}

/// Writes steps in a child whose files may not grow past a limit: what a full disk does to SQLite.
TEST_F(OpenTest, fullDiskIsAClearErrorAndKeepsWhatWasThere) {
    AuditStore::open(path()).value();
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{600000, 600000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto store = AuditStore::open(path());
        const auto id = store->createAudit(newAudit());
        std::uint64_t step = 0;
        base::Result<void> done;
        while (done) {
            done = store->putStep(*id, stepWrite(++step));
        }
        const bool clear = done.error().code == ErrorCode::environment && !done.error().remedy.empty() &&
                           done.error().file == path().string();
        const std::uint64_t last = clear ? step - 1 : 0;
        static_cast<void>(!::write(pipe[1], &last, sizeof last));
        ::_exit(0);
    }
    std::uint64_t last = 0;
    ::close(pipe[1]);
    ASSERT_EQ(::read(pipe[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_GT(last, 10U);
    auto store = open();
    EXPECT_TRUE(ok(store.checkIntegrity()));
    EXPECT_EQ(store.steps(1, std::nullopt, 1 << 20)->size(), last);
    EXPECT_EQ(store.markInterrupted()->size(), 1U);
}

TEST(DefaultStorePath, followsTheEnvironment) {
    ::setenv("HOME", "/home/x", 1);
    ::unsetenv("XDG_DATA_HOME");
    ::unsetenv("ASSAY_STORE");
    EXPECT_EQ(*store::defaultStorePath(), "/home/x/.local/share/assay/audits.sqlite");
    ::setenv("XDG_DATA_HOME", "relative", 1); // to be ignored, says the XDG specification
    EXPECT_EQ(*store::defaultStorePath(), "/home/x/.local/share/assay/audits.sqlite");
    ::setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(*store::defaultStorePath(), "/data/assay/audits.sqlite");
    ::setenv("ASSAY_STORE", "my.sqlite", 1);
    EXPECT_EQ(*store::defaultStorePath(), "my.sqlite");
    ::unsetenv("ASSAY_STORE");
    ::unsetenv("XDG_DATA_HOME");
    ::unsetenv("HOME");
    EXPECT_EQ(store::defaultStorePath().error().code, ErrorCode::environment);
}

} // namespace
} // namespace assay::test
