// SPDX-License-Identifier: Apache-2.0
#include "core/format/dataset.h"

#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "core/format/cifar10.h"
#include "core/format/idx.h"
#include "core/format/text_data.h"
#include "core/merkle/tree.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

void putBigEndian(base::ByteWriter& writer, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        writer.put(static_cast<std::uint8_t>(value >> shift));
    }
}

base::ByteVector idxFile(const std::vector<std::uint32_t>& dims, std::size_t bytes, std::uint8_t first = 0) {
    base::ByteWriter writer;
    writer.put(std::uint16_t{0});
    writer.put(std::uint8_t{8});
    writer.put(static_cast<std::uint8_t>(dims.size()));
    for (const auto size : dims) {
        putBigEndian(writer, size);
    }
    for (std::size_t i = 0; i < bytes; ++i) {
        writer.put(static_cast<std::uint8_t>(first + i));
    }
    return writer.take();
}

base::fs::path dataFolder(const char* name) {
    const char* root = std::getenv("ASSAY_TEST_DATA");
    return (root != nullptr ? base::fs::path(root) : base::fs::path(ASSAY_SOURCE_FOLDER) / ".." / "shared" / "data") /
           name;
}

class DatasetTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(m_folder); }
    void write(const std::string& name, base::ByteView bytes) {
        ASSERT_TRUE(base::writeFileAtomic(folder() / name, bytes));
    }
    void write(const std::string& name, std::string_view text) { write(name, base::asBytes(text)); }
    [[nodiscard]] const base::fs::path& folder() const { return m_folder->path(); }

private:
    base::Result<base::TemporaryFolder> m_folder = base::TemporaryFolder::create();
};

TEST(Idx, ParsesAndRefuses) {
    const auto good = idxFile({2, 3, 4}, 24);
    const auto parsed = parseIdx(good);
    ASSERT_TRUE(parsed) << parsed.error().toString();
    EXPECT_EQ(parsed->items, 2U);
    EXPECT_EQ(parsed->itemShape, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(parsed->values.size(), 24U);
    const auto refused = [](base::ByteView bytes, std::uint64_t offset) {
        const auto result = parseIdx(bytes);
        return !result && result.error().code == base::ErrorCode::malformed &&
               result.error().offset.value_or(~0ULL) == offset;
    };
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(parseIdx(base::ByteView(good).first(size))) << size;
    }
    EXPECT_TRUE(refused(idxFile({2, 3, 4}, 25), 40)); // trailing
    EXPECT_TRUE(refused(idxFile({0, 3, 4}, 0), 4));
    EXPECT_TRUE(refused(idxFile({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, 100), 4)); // no huge allocation, no overflow
    EXPECT_TRUE(refused(idxFile({2, 0x80000000, 0x80000000}, 24), 8));
    EXPECT_TRUE(refused(idxFile({}, 24), 3));
    EXPECT_TRUE(refused(idxFile({1, 1, 1, 1, 1}, 1), 3));
    auto wrongType = good;
    wrongType[2] = 0x0D;
    EXPECT_TRUE(refused(wrongType, 2));
    const base::ByteVector gzip{0x1F, 0x8B, 8, 0};
    EXPECT_TRUE(refused(gzip, 0));
}

TEST(Cifar10, ParsesAndRefuses) {
    base::ByteVector file(3 * kCifar10Record);
    file[kCifar10Record] = 9;
    EXPECT_EQ(parseCifar10(file).value_or(0), 3U);
    file[kCifar10Record] = 10;
    const auto badLabel = parseCifar10(file);
    ASSERT_FALSE(badLabel);
    EXPECT_EQ(badLabel.error().offset.value_or(0), kCifar10Record);
    EXPECT_FALSE(parseCifar10({}));
    EXPECT_FALSE(parseCifar10(base::ByteView(file).first(kCifar10Record + 1)));
}

TEST(TextData, Windows) {
    const base::ByteVector file(10);
    EXPECT_EQ(countWindows(file, 3).value_or(0), 3U);
    EXPECT_EQ(countWindows(file, 10).value_or(0), 1U);
    EXPECT_FALSE(countWindows(file, 11));
    EXPECT_FALSE(countWindows({}, 2));
}

TEST(Sample, DigestIsTheLeafHashOfTaggedBytes) {
    base::ByteWriter data;
    data.putText("assay/sample/1\n");
    data.put(std::uint64_t{7});
    data.put(std::uint64_t{3});
    data.putText("abc");
    EXPECT_EQ(sampleDigestOf(base::asBytes("abc"), 7), merkle::leafHash(data.bytes()));
    EXPECT_NE(sampleDigestOf(base::asBytes("abc"), 7), sampleDigestOf(base::asBytes("abc"), kNoLabel));
}

TEST_F(DatasetTest, TextWindowsAndHeldOut) {
    write("corpus.txt", "abcdefghijklmnopqrstuvwxyz");
    DatasetRequest request;
    request.reader = "text";
    request.path = folder();
    request.context = 3;
    request.samples = 4;
    request.heldOut = 1;
    const auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->classes, 256U);
    EXPECT_EQ(spec->task, "next-token");
    EXPECT_EQ(spec->files[0].name, "corpus.txt");
    const auto data = Dataset::open(*spec, folder());
    ASSERT_TRUE(data) << data.error().toString();
    EXPECT_EQ(data->size(), 5U);
    EXPECT_EQ(data->valuesPerSample(), 3U);
    const std::vector<std::uint64_t> indices{1, 4}; // 26 bytes hold six windows of four; sample 4 is the last one
    std::vector<std::int64_t> tokens(6);
    std::vector<std::int64_t> targets(6);
    data->copyTokens(indices, tokens.data(), targets.data());
    EXPECT_EQ(tokens, (std::vector<std::int64_t>{'e', 'f', 'g', 'u', 'v', 'w'}));
    EXPECT_EQ(targets, (std::vector<std::int64_t>{'f', 'g', 'h', 'v', 'w', 'x'}));
    EXPECT_EQ(data->sampleDigest(4), sampleDigestOf(base::asBytes("uvwx"), kNoLabel));
    EXPECT_EQ(data->sampleDigests(indices)[1], data->sampleDigest(4));
    // A file's own path does as well as its folder.
    EXPECT_TRUE(Dataset::open(*spec, folder() / "corpus.txt"));
    request.path = folder() / "corpus.txt";
    EXPECT_EQ(*Dataset::build(request), *spec);
}

TEST_F(DatasetTest, BytesPredictTheNextByte) {
    write("corpus.txt", "abcdefghijklmnopqrstuvwxyz");
    DatasetRequest request;
    request.reader = "bytes";
    request.path = folder();
    request.imageShape = {1, 2, 2};
    const auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->samples, 5U); // five windows of 4 + 1; a tenth of five rounds down to no held-out sample
    EXPECT_EQ(spec->heldOut, 0U);
    const auto data = Dataset::open(*spec, folder());
    ASSERT_TRUE(data) << data.error().toString();
    const std::vector<std::uint64_t> indices{0, 2};
    std::vector<float> pixels(8);
    std::vector<std::int64_t> labels(2);
    data->copyImages(indices, pixels.data());
    data->copyLabels(indices, labels.data());
    EXPECT_EQ(labels, (std::vector<std::int64_t>{'e', 'o'}));
    EXPECT_EQ(pixels[0], static_cast<float>(97.0 / 255.0));
    EXPECT_EQ(pixels[7], static_cast<float>('n' / 255.0));
    EXPECT_EQ(base::asText(data->sampleBytes(2)), "klmn");
}

TEST_F(DatasetTest, IdxWithAndWithoutTrainingFiles) {
    write("t10k-images-idx3-ubyte", idxFile({10, 2, 2}, 40));
    write("t10k-labels-idx1-ubyte", idxFile({10}, 10));
    DatasetRequest request;
    request.reader = "idx";
    request.path = folder();
    auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->samples, 9U);
    EXPECT_EQ(spec->heldOut, 1U);
    EXPECT_EQ(spec->classes, 10U);
    EXPECT_EQ(spec->imageShape, (std::vector<std::int64_t>{1, 2, 2}));

    write("train-images.idx3-ubyte", idxFile({20, 2, 2}, 80, 100));
    write("train-labels.idx1-ubyte", idxFile({20}, 20, 20));
    spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->files.size(), 4U);
    EXPECT_EQ(spec->files[0].name, "train-images.idx3-ubyte");
    EXPECT_EQ(spec->samples, 20U);
    EXPECT_EQ(spec->heldOut, 10U);
    EXPECT_EQ(spec->classes, 40U);
    request.samples = 5;
    request.heldOut = 2;
    spec = Dataset::build(request);
    ASSERT_TRUE(spec);
    const auto data = Dataset::open(*spec, folder());
    ASSERT_TRUE(data) << data.error().toString();
    std::vector<std::int64_t> labels(7);
    std::vector<std::uint64_t> indices(7);
    std::iota(indices.begin(), indices.end(), 0U);
    data->copyLabels(indices, labels.data());
    EXPECT_EQ(labels, (std::vector<std::int64_t>{20, 21, 22, 23, 24, 8, 9}))
        << "held-out samples are the last ones of the files";
    EXPECT_EQ(data->sampleBytes(5)[0], 32);
}

TEST_F(DatasetTest, Cifar10) {
    base::ByteVector batch(4 * kCifar10Record);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i] = i % kCifar10Record == 0 ? static_cast<std::uint8_t>(i / kCifar10Record)
                                           : static_cast<std::uint8_t>(i % 251);
    }
    write("data_batch_1.bin", batch);
    write("test_batch.bin", base::ByteView(batch).first(2 * kCifar10Record));
    DatasetRequest request;
    request.reader = "cifar10";
    request.path = folder();
    const auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->samples, 4U);
    EXPECT_EQ(spec->heldOut, 2U);
    const auto data = Dataset::open(*spec, folder());
    ASSERT_TRUE(data);
    std::vector<float> pixels(kCifar10Pixels);
    const std::vector<std::uint64_t> last{5};
    std::int64_t label = -1;
    data->copyImages(last, pixels.data());
    data->copyLabels(last, &label);
    EXPECT_EQ(label, 1);
    EXPECT_EQ(pixels[0], static_cast<float>(batch[kCifar10Record + 1] / 255.0));
}

TEST_F(DatasetTest, SaysWhichFileDiffers) {
    write("t10k-images-idx3-ubyte", idxFile({10, 2, 2}, 40));
    write("t10k-labels-idx1-ubyte", idxFile({10}, 10));
    DatasetRequest request;
    request.reader = "idx";
    request.path = folder();
    const auto spec = *Dataset::build(request);
    ASSERT_TRUE(Dataset::open(spec, folder()));
    const auto openError = [&](const DataSpec& wanted) {
        const auto data = Dataset::open(wanted, folder());
        EXPECT_FALSE(data);
        return data ? std::string() : data.error().toString();
    };
    const auto expect = [](const std::string& text, std::string_view a, std::string_view b) {
        EXPECT_NE(text.find(a), std::string::npos) << text;
        EXPECT_NE(text.find(b), std::string::npos) << text;
    };
    auto flipped = idxFile({10, 2, 2}, 40);
    flipped[30] ^= 1;
    write("t10k-images-idx3-ubyte", flipped);
    expect(openError(spec), "t10k-images-idx3-ubyte", "SHA-256");
    write("t10k-images-idx3-ubyte", idxFile({10, 2, 2}, 41));
    expect(openError(spec), "t10k-images-idx3-ubyte", "57 bytes, the order says 56");
    write("t10k-images-idx3-ubyte", idxFile({10, 2, 2}, 40));
    base::fs::remove(folder() / "t10k-labels-idx1-ubyte");
    expect(openError(spec), "t10k-labels-idx1-ubyte", "--data");
    write("t10k-labels-idx1-ubyte", idxFile({10}, 10));
    auto fewClasses = spec;
    fewClasses.classes = 7;
    expect(openError(fewClasses), "sample 7 (item 7 of this file) has the label 7", "t10k-images");
    auto otherRoot = spec;
    otherRoot.sampleRoot.bytes[0] ^= 1;
    expect(openError(otherRoot), "the samples have the root", "");
    auto fewer = spec;
    fewer.samples = 8;
    expect(openError(fewer), "the samples have the root", "");
    auto tooMany = spec;
    tooMany.samples = 100;
    expect(openError(tooMany), "100 + 1 samples", "hold 10");
    auto shape = spec;
    shape.imageShape = {1, 1, 4};
    expect(openError(shape), "images of 1 x 1 x 4", "1 x 2 x 2");
    EXPECT_TRUE(Dataset::open(spec, folder())) << "each change alone was what differed";
}

TEST_F(DatasetTest, BuildRefusesWhatDoesNotFit) {
    const auto failsWith = [](const DatasetRequest& request, base::ErrorCode code) {
        const auto spec = Dataset::build(request);
        return !spec && spec.error().code == code;
    };
    DatasetRequest request;
    request.reader = "idx";
    request.path = folder() / "nowhere";
    EXPECT_TRUE(failsWith(request, base::ErrorCode::unreadable));
    request.path = folder();
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // no files
    request.reader = "text";
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // no context
    request.context = 4;
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // no file
    write("a.txt", "0123456789");
    EXPECT_TRUE(Dataset::build(request));
    request.samples = 3;
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // only two windows
    request.samples = 0;
    request.context = 100;
    EXPECT_TRUE(failsWith(request, base::ErrorCode::malformed)); // file shorter than a window
    request.context = 4;
    write("b.txt", "0123456789");
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // which file?
    request.files = {"b.txt"};
    EXPECT_TRUE(Dataset::build(request));
    request.files = {"../b.txt"};
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage));
    request.files = {"b.txt"};
    request.reader = "npy";
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage));
    request.reader = "bytes";
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage)); // no shape
    request.imageShape = {1, 3, -1};
    EXPECT_TRUE(failsWith(request, base::ErrorCode::usage));
    request.imageShape = {1, 3, 3};
    EXPECT_TRUE(Dataset::build(request));
}

TEST_F(DatasetTest, StopsOnRequest) {
    write("a.txt", std::string(1000, 'x'));
    DatasetRequest request;
    request.reader = "text";
    request.path = folder();
    request.context = 9;
    const auto spec = *Dataset::build(request);
    std::stop_source stop;
    stop.request_stop();
    const auto data = Dataset::open(spec, folder(), {}, stop.get_token());
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().code, base::ErrorCode::cancelled);
}

TEST(RealData, Mnist) {
    const auto folder = dataFolder("mnist");
    if (!base::fs::exists(folder)) {
        GTEST_SKIP() << "no MNIST files at " << folder << "; set ASSAY_TEST_DATA to a folder that holds mnist/";
    }
    DatasetRequest request;
    request.reader = "idx";
    request.path = folder;
    request.samples = 8000;
    request.heldOut = 2000;
    const auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->classes, 10U);
    EXPECT_EQ(spec->imageShape, (std::vector<std::int64_t>{1, 28, 28}));
    std::uint64_t lastDone = 0;
    const auto data = Dataset::open(*spec, folder, [&](const base::Progress& progress) { lastDone = progress.done; });
    ASSERT_TRUE(data) << data.error().toString();
    EXPECT_EQ(lastDone, spec->files[0].size + spec->files[1].size);
    std::vector<std::uint64_t> all(data->size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<std::int64_t> labels(all.size());
    data->copyLabels(all, labels.data());
    // Known head and class counts of the MNIST test set (yann.lecun.com distribution).
    EXPECT_EQ(std::vector<std::int64_t>(labels.begin(), labels.begin() + 8),
              (std::vector<std::int64_t>{7, 2, 1, 0, 4, 1, 4, 9}));
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), 1135);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 5), 892);
}

TEST(RealData, Shakespeare) {
    const auto path = dataFolder("shakespeare.txt");
    if (!base::fs::exists(path)) {
        GTEST_SKIP() << "no text at " << path << "; set ASSAY_TEST_DATA to a folder that holds shakespeare.txt";
    }
    DatasetRequest request;
    request.reader = "text";
    request.path = path;
    request.context = 64;
    const auto spec = Dataset::build(request);
    ASSERT_TRUE(spec) << spec.error().toString();
    EXPECT_EQ(spec->samples + spec->heldOut, spec->files[0].size / 65);
    const auto data = Dataset::open(*spec, path);
    ASSERT_TRUE(data) << data.error().toString();
    std::vector<std::int64_t> tokens(64);
    std::vector<std::int64_t> targets(64);
    const std::vector<std::uint64_t> first{0};
    data->copyTokens(first, tokens.data(), targets.data());
    EXPECT_TRUE(std::equal(tokens.begin() + 1, tokens.end(), targets.begin()));
}

} // namespace
} // namespace assay::format
