// SPDX-License-Identifier: Apache-2.0
#include "core/format/safetensors.h"

#include <limits>

#include <gtest/gtest.h>

#include "core/crypto/sha256.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

base::ByteVector fileOf(std::string_view header, std::uint64_t dataBytes) {
    base::ByteWriter writer;
    writer.put(static_cast<std::uint64_t>(header.size()));
    writer.putText(header);
    for (std::uint64_t i = 0; i < dataBytes; ++i) {
        writer.put(static_cast<std::uint8_t>(i));
    }
    return writer.take();
}

void expectRefused(base::ByteView file, std::string_view words, std::string_view what) {
    const auto result = Safetensors::parse(file);
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code, base::ErrorCode::malformed) << what;
    EXPECT_TRUE(result.error().offset.has_value()) << what;
    EXPECT_NE(result.error().message.find(words), std::string::npos) << what << " -> " << result.error().message;
}

void expectRefused(std::string_view header, std::uint64_t dataBytes, std::string_view words) {
    expectRefused(fileOf(header, dataBytes), words, header);
}

TEST(Safetensors, RoundTrip) {
    const test::TinyState state(3);
    auto views = state.all();
    const std::vector<std::uint8_t> none;
    views.push_back({"empty", "F32", {0, 5}, none});
    const auto bytes = serialiseSafetensors(views);
    ASSERT_TRUE(bytes) << bytes.error().toString();
    EXPECT_EQ(base::loadLe<std::uint64_t>(bytes->data()) % 8, 0U);
    const auto file = Safetensors::parse(*bytes);
    ASSERT_TRUE(file) << file.error().toString();
    ASSERT_EQ(file->tensors().size(), 4U);
    EXPECT_EQ(file->tensors()[0].name, "empty");
    EXPECT_EQ(file->tensors()[1].name, "head.bias");
    EXPECT_EQ(file->tensors()[3].name, "optimizer.step");
    ASSERT_NE(file->find("head.weight"), nullptr);
    EXPECT_EQ(file->find("head.weight")->shape, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(floatsOf(*file->find("head.weight")).value_or(std::vector<float>{}), state.weight);
    EXPECT_EQ(base::loadLe<std::int64_t>(file->find("optimizer.step")->bytes.data()), 3);
    EXPECT_TRUE(file->find("optimizer.step")->shape.empty());
    EXPECT_TRUE(file->find("empty")->bytes.empty());
    EXPECT_EQ(file->find("head"), nullptr);
    EXPECT_FALSE(floatsOf(*file->find("optimizer.step")));
}

TEST(Safetensors, OrderOfViewsDoesNotMatter) {
    const test::TinyState state(1);
    auto views = state.all();
    const auto forward = *serialiseSafetensors(views);
    std::reverse(views.begin(), views.end());
    EXPECT_EQ(*serialiseSafetensors(views), forward);
}

TEST(Safetensors, FileEqualsBytes) {
    const auto folder = base::TemporaryFolder::create();
    ASSERT_TRUE(folder);
    const test::TinyState state(2);
    const auto path = folder->path() / "x.safetensors";
    const auto written = writeSafetensors(path, state.all());
    ASSERT_TRUE(written) << written.error().toString();
    const auto bytes = *serialiseSafetensors(state.all());
    EXPECT_EQ(*base::readFile(path, 1 << 20), bytes);
    EXPECT_EQ(written->size, bytes.size());
    EXPECT_EQ(written->sha256, crypto::sha256(bytes));
    auto opened = Safetensors::open(path);
    ASSERT_TRUE(opened);
    // The views survive a move of the object that maps the file.
    const Safetensors moved = std::move(*opened);
    EXPECT_EQ(floatsOf(*moved.find("head.weight")).value_or(std::vector<float>{}), state.weight);
    EXPECT_EQ(std::distance(base::fs::directory_iterator(folder->path()), base::fs::directory_iterator{}), 1)
        << "leftover temporary";
    const auto missing = Safetensors::open(folder->path() / "none");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, base::ErrorCode::unreadable);
    EXPECT_FALSE(writeSafetensors(folder->path() / "no" / "folder", state.all()));
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
    // White space, metadata, any field order, tensors not in name order, trailing spaces, odd header length.
    const auto file = fileOf(
        "{ \"__metadata__\":{\"format\":\"pt\"},\n \"b\":{\"shape\":[2],\"dtype\":\"U8\",\"data_offsets\":[0,2]},"
        "\"a\":{\"data_offsets\":[2,6],\"shape\":[],\"dtype\":\"F32\"}}   ",
        6);
    const auto parsed = Safetensors::parse(file);
    ASSERT_TRUE(parsed) << parsed.error().toString();
    ASSERT_EQ(parsed->tensors().size(), 2U);
    EXPECT_EQ(parsed->tensors()[0].name, "a");
    EXPECT_EQ(parsed->tensors()[0].bytes[0], 2);
    EXPECT_TRUE(Safetensors::parse(fileOf("{}", 0)));
}

TEST(Safetensors, RefusesBadHeaders) {
    expectRefused(base::ByteVector{}, "header length", "empty file");
    expectRefused(base::ByteVector(7), "header length", "seven bytes");
    base::ByteWriter claimed;
    claimed.put(std::uint64_t{10'000'000'000});
    claimed.putText("{}");
    expectRefused(claimed.bytes(), "above the limit", "10 GB header");
    base::ByteWriter large;
    large.put(std::uint64_t{99'000'000});
    large.putText("{}");
    expectRefused(large.bytes(), "only 2 bytes follow", "header longer than the file");
    base::ByteWriter overflow;
    overflow.put(~std::uint64_t{0});
    expectRefused(overflow.bytes(), "above the limit", "2^64-1 header");
    expectRefused("", 0, "does not begin");
    expectRefused(" {}", 0, "does not begin");
    expectRefused("[]", 0, "does not begin");
    expectRefused("{}x", 0, "after the end");
    expectRefused("{", 0, "string");
    expectRefused(std::string(1 << 20, '{'), 0, "string");
    expectRefused("{\"a\":" + std::string(1 << 20, '['), 0, "'{'");
}

TEST(Safetensors, RefusesBadEntries) {
    const std::string good = "\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]";
    ASSERT_TRUE(Safetensors::parse(fileOf("{\"a\":{" + good + "}}", 2)));
    expectRefused("{\"a\":{" + good + ",\"x\":1}}", 2, "unknown field");
    expectRefused("{\"a\":{" + good + ",\"dtype\":\"U8\"}}", 2, "repeated field");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, "needs dtype, shape and data_offsets");
    expectRefused("{\"a\":{}}", 2, "string");
    expectRefused("{\"a\":{\"dtype\":\"U7\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "unknown dtype");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}", 2, "negative dimension");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2.0],\"data_offsets\":[0,2]}}", 2, "floating-point");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, "take 3 bytes");
    expectRefused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "take 8 bytes");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,3]}}", 2, "holds 2 bytes");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}", 2, "run backwards");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[-2,0]}}", 2, "negative");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2,2]}}", 2, "']'");
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,2]}}", 2,
                  "dimensions");
    // 2^32 * 2^32 would wrap to 0.
    expectRefused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "2^48");
    // 2^47 F64 elements wrap 64-bit byte counts only if multiplied carelessly.
    expectRefused("{\"a\":{\"dtype\":\"F64\",\"shape\":[140737488355328],\"data_offsets\":[0,0]}}", 0, "take");
    expectRefused("{\"\xFF\":{" + good + "}}", 2, "UTF-8");
    expectRefused("{\"" + std::string(2000, 'n') + "\":{" + good + "}}", 2, "longer than");
    expectRefused("{\"__metadata__\":{\"a\":1}}", 0, "string");
    expectRefused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "twice");
}

TEST(Safetensors, RangesMustTile) {
    const auto entry = [](std::string name, int begin, int end) {
        return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) + "],\"data_offsets\":[" +
               std::to_string(begin) + "," + std::to_string(end) + "]}";
    };
    EXPECT_TRUE(Safetensors::parse(fileOf("{" + entry("a", 0, 2) + "," + entry("b", 2, 4) + "}", 4)));
    expectRefused("{" + entry("a", 0, 3) + "," + entry("b", 2, 4) + "}", 4, "overlaps");
    expectRefused("{" + entry("a", 0, 2) + "," + entry("b", 0, 2) + "}", 2, "overlaps");
    expectRefused("{" + entry("a", 0, 2) + "," + entry("b", 3, 4) + "}", 4, "belong to no tensor");
    expectRefused("{" + entry("a", 1, 4) + "}", 4, "belong to no tensor");
    expectRefused("{" + entry("a", 0, 4) + "}", 5, "the file holds 5");
    expectRefused("{}", 1, "the file holds 1");
    expectRefused("{" + entry("a", 0, 2) + "," + entry("a", 2, 4) + "}", 4, "occurs twice");
}

TEST(Safetensors, EveryTruncationIsRefused) {
    const auto bytes = *serialiseSafetensors(test::TinyState(1).all());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(Safetensors::parse(base::ByteView(bytes).first(size))) << size;
    }
    auto longer = bytes;
    longer.push_back(0);
    EXPECT_FALSE(Safetensors::parse(longer));
}

TEST(Safetensors, WriterRefusesNonsense) {
    const std::vector<float> values{1, 2};
    const auto bytes = bytesOf(values);
    const auto refused = [&](std::vector<TensorView> views) { return !serialiseSafetensors(views).has_value(); };
    EXPECT_TRUE(refused({{"a", "F32", {3}, bytes}}));
    EXPECT_TRUE(refused({{"a", "F33", {2}, bytes}}));
    EXPECT_TRUE(refused({{"a", "F32", {-2}, bytes}}));
    EXPECT_TRUE(refused({{"a", "F32", {2}, bytes}, {"a", "F32", {2}, bytes}}));
    EXPECT_TRUE(refused({{"__metadata__", "F32", {2}, bytes}}));
    EXPECT_TRUE(refused({{"\xFF", "F32", {2}, bytes}}));
    EXPECT_FALSE(refused({{"a", "F32", {2}, bytes}}));
}

} // namespace
} // namespace assay::format
