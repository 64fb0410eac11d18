// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::base {
namespace {

TEST(File, AtomicWriteReplacesWholeAndLeavesNoTemporary) {
    const auto folder = TemporaryFolder::create().value();
    const auto path = folder.path() / "a.bin";
    ASSERT_TRUE(writeFileAtomic(path, std::string_view("first")));
    ASSERT_TRUE(writeFileAtomic(path, std::string_view("second")));
    EXPECT_EQ(readTextFile(path, 100).value(), "second");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(File, LimitsAndKinds) {
    const auto folder = TemporaryFolder::create().value();
    const auto path = folder.path() / "a.bin";
    ASSERT_TRUE(writeFileAtomic(path, std::string_view("12345")));
    EXPECT_EQ(readFile(path, 4).error().code, ErrorCode::malformed);
    EXPECT_TRUE(readFile(path, 5));
    EXPECT_EQ(readFile(folder.path(), 5).error().code, ErrorCode::unreadable);
    EXPECT_EQ(readFile(folder.path() / "none", 5).error().code, ErrorCode::unreadable);
    ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(readFile(folder.path() / "pipe", 5).error().code, ErrorCode::unreadable); // must not block
    EXPECT_EQ(MappedFile::open(folder.path() / "pipe").error().code, ErrorCode::unreadable);
}

TEST(File, FullDiskIsAnEnvironmentErrorWithRemedy) {
    if (::access("/dev/full", W_OK) != 0) {
        GTEST_SKIP() << "/dev/full is not here";
    }
    EXPECT_EQ(systemError("x", "cannot write", ENOSPC).code, ErrorCode::environment);
    EXPECT_FALSE(systemError("x", "cannot write", ENOSPC).remedy.empty());
}

TEST(File, LockIsExclusiveAndFreed) {
    const auto folder = TemporaryFolder::create().value();
    const auto path = folder.path() / "lock";
    {
        const auto lock = FileLock::acquire(path);
        ASSERT_TRUE(lock);
        EXPECT_EQ(FileLock::acquire(path).error().code, ErrorCode::environment);
    }
    EXPECT_TRUE(FileLock::acquire(path));
}

TEST(File, AppendCutsTornTail) {
    const auto folder = TemporaryFolder::create().value();
    const auto path = folder.path() / "log";
    ASSERT_TRUE(writeFileAtomic(path, std::string_view("keepTORN")));
    auto file = AppendFile::open(path, 4).value();
    ASSERT_TRUE(file.append(asBytes("+more")));
    ASSERT_TRUE(file.sync());
    EXPECT_EQ(readTextFile(path, 100).value(), "keep+more");
    EXPECT_EQ(file.size(), 9u);
}

TEST(File, MappedEmptyAndFull) {
    const auto folder = TemporaryFolder::create().value();
    ASSERT_TRUE(writeFileAtomic(folder.path() / "e", std::string_view("")));
    EXPECT_TRUE(MappedFile::open(folder.path() / "e").value().bytes().empty());
    ASSERT_TRUE(writeFileAtomic(folder.path() / "f", std::string_view("xyz")));
    auto mapped = MappedFile::open(folder.path() / "f").value();
    const auto moved = std::move(mapped);
    EXPECT_EQ(asText(moved.bytes()), "xyz");
}

} // namespace
} // namespace assay::base
