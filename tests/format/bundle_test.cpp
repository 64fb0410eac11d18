// SPDX-License-Identifier: Apache-2.0
#include "core/format/bundle.h"

#include <functional>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include "core/format/submission.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

namespace fs = base::fs;

/// One hostile or honest entry of a hand-made archive.
struct Entry {
    std::string name;
    std::string data = "x";
    std::function<void(archive_entry*)> change = [](archive_entry*) {};
};

class BundleTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(m_folder); }
    [[nodiscard]] fs::path at(std::string_view name) const { return m_folder->path() / name; }

    fs::path makeArchive(
        const std::vector<Entry>& entries,
        const std::function<void(archive*)>& setUp = [](archive* a) { archive_write_set_format_pax_restricted(a); }) {
        const auto path = at("made.assay");
        archive* writer = archive_write_new();
        setUp(writer);
        EXPECT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
        for (const auto& entry : entries) {
            archive_entry* header = archive_entry_new();
            archive_entry_set_pathname(header, entry.name.c_str());
            archive_entry_set_filetype(header, AE_IFREG);
            archive_entry_set_perm(header, 0644);
            archive_entry_set_size(header, static_cast<la_int64_t>(entry.data.size()));
            entry.change(header);
            EXPECT_EQ(archive_write_header(writer, header), ARCHIVE_OK) << archive_error_string(writer);
            if (archive_entry_size(header) > 0) {
                archive_write_data(writer, entry.data.data(), entry.data.size());
            }
            archive_entry_free(header);
        }
        archive_write_close(writer);
        archive_write_free(writer);
        return path;
    }

    void expectRefused(const fs::path& path, std::string_view words, const BundleLimits& limits = {}) {
        const auto unpacked = unpackBundle(path, limits);
        ASSERT_FALSE(unpacked) << words;
        EXPECT_EQ(unpacked.error().code, base::ErrorCode::malformed) << unpacked.error().toString();
        EXPECT_NE(unpacked.error().toString().find(words), std::string::npos)
            << words << " -> " << unpacked.error().toString();
    }

private:
    base::Result<base::TemporaryFolder> m_folder = base::TemporaryFolder::create();
};

TEST_F(BundleTest, RoundTrip) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    const auto packed = packBundle(at("s"), at("s.assay"));
    ASSERT_TRUE(packed) << packed.error().toString();
    EXPECT_TRUE(isBundle(at("s.assay")));
    EXPECT_FALSE(isBundle(at("s")));
    const auto submission = Submission::open(at("s.assay"));
    ASSERT_TRUE(submission) << submission.error().toString();
    const auto direct = Submission::open(at("s"));
    EXPECT_EQ(submission->manifestDigest(), direct->manifestDigest());
    EXPECT_EQ(submission->commitment(), direct->commitment());
    EXPECT_TRUE(submission->verifyFiles()->empty());
    EXPECT_EQ(submission->path(), at("s.assay"));
    EXPECT_NE(submission->folder(), at("s.assay"));
    // Deterministic, and nothing is left beside it.
    ASSERT_TRUE(packBundle(at("s"), at("t.assay")));
    EXPECT_EQ(*base::readFile(at("s.assay"), 1 << 24), *base::readFile(at("t.assay"), 1 << 24));
    EXPECT_FALSE(fs::exists(at(".s.assay.partial")));
    EXPECT_EQ(packBundle(at("s.assay"), at("u.assay")).error().code, base::ErrorCode::usage);
    EXPECT_FALSE(packBundle(at("nowhere"), at("u.assay")));
    EXPECT_EQ(packBundle(at("s"), at("no") / "folder.assay").error().code, base::ErrorCode::environment);
}

TEST_F(BundleTest, TheUnpackedFolderGoesWithTheSubmission) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    ASSERT_TRUE(packBundle(at("s"), at("s.assay")));
    fs::path folder;
    {
        const auto submission = Submission::open(at("s.assay"));
        ASSERT_TRUE(submission);
        folder = submission->folder();
        EXPECT_TRUE(fs::exists(folder / "order.json"));
    }
    EXPECT_FALSE(fs::exists(folder));
}

TEST_F(BundleTest, RefusesHostileNames) {
    for (const std::string name : {"../order.json", "logs/../../order.json", "/etc/passwd", "logs//000001.rlog",
                                   "./order.json", "logs/.", "order.json/", "a\nb", "C:\\order.json"}) {
        expectRefused(makeArchive({{name}}), "relative path");
    }
    for (const std::string name : {"evil.sh", "logs/evil.rlog", "logs/000000.rlog", "logs/1.rlog", "order.json.txt",
                                   ".order.json", "training.journal"}) {
        expectRefused(makeArchive({{name}}), "a submission has no such file");
    }
    expectRefused(makeArchive({{"order.json"}, {"program.json"}, {"order.json"}}), "occurs twice");
    EXPECT_TRUE(unpackBundle(makeArchive({{"order.json"}, {"logs/000001.rlog"}})));
}

TEST_F(BundleTest, RefusesLinksFoldersAndDevices) {
    const auto kind = [](unsigned type) {
        return [type](archive_entry* entry) {
            archive_entry_set_filetype(entry, type);
            archive_entry_set_size(entry, 0);
        };
    };
    expectRefused(makeArchive({{"order.json", "", kind(AE_IFDIR)}}), "path");
    expectRefused(makeArchive({{"order.json", "", kind(AE_IFIFO)}}), "only regular files");
    expectRefused(makeArchive({{"order.json", "",
                                [](archive_entry* entry) {
                                    archive_entry_set_filetype(entry, AE_IFCHR);
                                    archive_entry_set_size(entry, 0);
                                    archive_entry_set_rdev(entry, 0x0101);
                                }}}),
                  "only regular files");
    expectRefused(makeArchive({{"order.json", "",
                                [](archive_entry* entry) {
                                    archive_entry_set_filetype(entry, AE_IFLNK);
                                    archive_entry_set_size(entry, 0);
                                    archive_entry_set_symlink(entry, "/etc/passwd");
                                }}}),
                  "only regular files");
    expectRefused(makeArchive({{"order.json"},
                               {"program.json", "",
                                [](archive_entry* entry) {
                                    archive_entry_set_size(entry, 0);
                                    archive_entry_set_hardlink(entry, "order.json");
                                }}}),
                  "only regular files");
}

TEST_F(BundleTest, RefusesCompressionAndOtherFormats) {
    expectRefused(makeArchive({{"order.json", std::string(1 << 20, 'a')}},
                              [](archive* a) {
                                  archive_write_set_format_pax_restricted(a);
                                  archive_write_add_filter_gzip(a);
                              }),
                  "tar");
    expectRefused(makeArchive({{"order.json"}}, [](archive* a) { archive_write_set_format_zip(a); }), "tar");
    expectRefused(makeArchive({{"order.json"}}, [](archive* a) { archive_write_set_format_cpio(a); }), "tar");
    ASSERT_TRUE(base::writeFileAtomic(at("empty.assay"), ""));
    expectRefused(at("empty.assay"), "not a submission");
    ASSERT_TRUE(base::writeFileAtomic(at("text.assay"), std::string(5000, 'x')));
    expectRefused(at("text.assay"), "tar");
    EXPECT_EQ(unpackBundle(at("missing.assay")).error().code, base::ErrorCode::unreadable);
}

TEST_F(BundleTest, RefusesSparseAndOversizedClaims) {
    // A sparse file of a terabyte in an archive of some kilobytes.
    expectRefused(makeArchive({{"order.json", "x",
                                [](archive_entry* entry) {
                                    archive_entry_set_size(entry, la_int64_t{1} << 40);
                                    archive_entry_sparse_add_entry(entry, 0, 1);
                                }}},
                              [](archive* a) { archive_write_set_format_pax(a); }),
                  "sparse");
    // A header that claims 8 GiB - 1 (the largest octal size): the data are not there.
    const auto path = makeArchive({{"order.json"}});
    auto bytes = *base::readFile(path, 1 << 20);
    const std::string_view claim = "77777777777";
    std::copy(claim.begin(), claim.end(), bytes.begin() + 124);
    std::fill(bytes.begin() + 148, bytes.begin() + 156, std::uint8_t{' '});
    unsigned sum = 0;
    for (int i = 0; i < 512; ++i) {
        sum += bytes[static_cast<std::size_t>(i)];
    }
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    std::copy(digits, digits + 7, bytes.begin() + 148);
    ASSERT_TRUE(base::writeFileAtomic(path, bytes));
    expectRefused(path, "the entries claim 8589934591 bytes");
    BundleLimits limits;
    limits.files = 1;
    expectRefused(makeArchive({{"order.json"}, {"program.json"}}), "more than 1 files", limits);
    limits = {};
    limits.fileBytes = 3;
    expectRefused(makeArchive({{"order.json", "1234"}}), "above the limit of 3", limits);
    limits = {};
    limits.totalBytes = 7;
    expectRefused(makeArchive({{"order.json", "1234"}, {"program.json", "1234"}}), "limit 7", limits);
}

TEST_F(BundleTest, RefusesTruncatedAndTrailing) {
    const auto path = makeArchive({{"order.json", std::string(3000, 'o')}, {"program.json", "p"}});
    const auto bytes = *base::readFile(path, 1 << 20);
    ASSERT_TRUE(unpackBundle(path));
    const std::uint64_t end = 512 + 3072 + 512 + 512; // where the end marker begins
    for (std::uint64_t size = 0; size < end + 1024; size += 100) {
        ASSERT_TRUE(base::writeFileAtomic(at("cut.assay"), base::ByteView(bytes).first(size)));
        EXPECT_FALSE(unpackBundle(at("cut.assay"))) << size;
    }
    auto longer = bytes;
    longer.push_back('x');
    ASSERT_TRUE(base::writeFileAtomic(at("longer.assay"), longer));
    expectRefused(at("longer.assay"), "data after the end");
    // A second archive behind the first.
    longer = bytes;
    longer.insert(longer.end(), bytes.begin(), bytes.end());
    ASSERT_TRUE(base::writeFileAtomic(at("double.assay"), longer));
    expectRefused(at("double.assay"), "data after the end");
    longer = bytes;
    longer.resize(bytes.size() + 20480);
    ASSERT_TRUE(base::writeFileAtomic(at("padded.assay"), longer));
    expectRefused(at("padded.assay"), "padded");
    base::fs::resize_file(at("padded.assay"), std::uint64_t{1} << 39); // sparse: nothing to read through
    expectRefused(at("padded.assay"), "padded");
}

TEST_F(BundleTest, UnlistedAndMissingFilesAreFoundByOpen) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    std::vector<Entry> entries;
    for (const auto& file : fs::recursive_directory_iterator(at("s"))) {
        if (file.is_regular_file()) {
            entries.push_back({fs::relative(file.path(), at("s")).string(), *base::readTextFile(file.path(), 1 << 20)});
        }
    }
    ASSERT_TRUE(Submission::open(makeArchive(entries)));
    auto more = entries;
    more.push_back({"logs/000009.rlog"});
    const auto unlisted = Submission::open(makeArchive(more));
    ASSERT_FALSE(unlisted);
    EXPECT_NE(unlisted.error().message.find("does not list"), std::string::npos);
    auto fewer = entries;
    fewer.pop_back();
    EXPECT_FALSE(Submission::open(makeArchive(fewer)));
}

} // namespace
} // namespace assay::format
