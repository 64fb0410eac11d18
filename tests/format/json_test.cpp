// SPDX-License-Identifier: Apache-2.0
#include "core/format/json.h"

#include <gtest/gtest.h>

namespace assay::format {
namespace {

base::Result<JsonValue> read(std::string_view text) {
    return readJson(base::asBytes(text), 1 << 20);
}

/// Expects a refusal whose message contains `words`, at byte `offset`.
void expectRefused(std::string_view text, std::string_view words, std::uint64_t offset) {
    const auto result = read(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, base::ErrorCode::malformed) << text;
    EXPECT_NE(result.error().message.find(words), std::string::npos) << text << " -> " << result.error().message;
    ASSERT_TRUE(result.error().offset.has_value()) << text;
    EXPECT_EQ(*result.error().offset, offset) << text << " -> " << result.error().message;
}

TEST(Json, RoundTrip) {
    const JsonValue value =
        JsonValue::Object{{"a", JsonValue::Array{std::int64_t{0}, std::int64_t{-1}, kMaxJsonInteger, -kMaxJsonInteger}},
                          {"b", true},
                          {"c", JsonValue::Object{}},
                          {"d", JsonValue::Array{}},
                          {"e", "quote \" backslash \\ line\n tab\t bell\x07 euro \xE2\x82\xAC"},
                          {"", false}};
    const auto text = writeJson(value);
    EXPECT_EQ(text, "{\"\":false,\"a\":[0,-1,9007199254740991,-9007199254740991],\"b\":true,\"c\":{},\"d\":[],"
                    "\"e\":\"quote \\\" backslash \\\\ line\\n tab\\t bell\\u0007 euro \xE2\x82\xAC\"}");
    const auto back = read(text + "\n");
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(*back, value);
}

TEST(Json, OnlyTheCanonicalForm) {
    ASSERT_TRUE(read("{\"a\":1,\"b\":2}\n"));
    expectRefused("{\"a\":1,\"b\":2}", "canonical", 13);     // no newline
    expectRefused("{\"a\":1,\"b\":2}\n\n", "canonical", 14); // two
    expectRefused("{\"a\":1, \"b\":2}\n", "canonical", 7);   // white space
    expectRefused(" {\"a\":1}\n", "canonical", 0);
    expectRefused("{\"b\":2,\"a\":1}\n", "canonical", 2);   // unsorted
    expectRefused("{\"a\":\"\\u0041\"}\n", "canonical", 6); // needless escape
    expectRefused("{\"a\":\"\\/\"}\n", "canonical", 6);
    expectRefused("{\"a\":\"\\u001F\"}\n", "canonical", 11); // upper-case escape
    expectRefused("{\"a\":1}\r\n", "canonical", 7);
}

TEST(Json, RefusesWhatTheProfileLeavesOut) {
    expectRefused("{\"a\":1.5}\n", "floating-point", 5);
    expectRefused("{\"a\":1e3}\n", "floating-point", 5);
    expectRefused("{\"a\":null}\n", "null", 5);
    expectRefused("{\"a\":01}\n", "leading zero", 5);
    expectRefused("{\"a\":-0}\n", "negative zero", 5);
    expectRefused("{\"a\":9007199254740992}\n", "2^53", 5);
    expectRefused("{\"a\":-9007199254740992}\n", "2^53", 5);
    expectRefused("{\"a\":99999999999999999999999999}\n", "2^53", 5);
    expectRefused("{\"a\":1,\"a\":1}\n", "duplicate", 7);
    expectRefused("{\"a\":NaN}\n", "integer", 5);
    expectRefused("{\"a\":tru}\n", "true or false", 5);
    expectRefused("{\"a\":+1}\n", "integer", 5);
}

TEST(Json, RefusesBrokenText) {
    expectRefused("", "integer", 0);
    expectRefused("{", "string", 1);
    expectRefused("{\"a\"", "':'", 4);
    expectRefused("{\"a\":", "integer", 5);
    expectRefused("{\"a\":1", "'}'", 6);
    expectRefused("{\"a\":1,}\n", "string", 7);
    expectRefused("[1,]\n", "integer", 3);
    expectRefused("[1 2]\n", "']'", 3);
    expectRefused("{\"a\":1}\n{}", "after the end", 8);
    expectRefused("\"abc", "ends inside", 4);
    expectRefused("\"a\nb\"\n", "control character", 2);
    expectRefused("\"\\x\"\n", "escape", 2);
    expectRefused("\"\\u12\"\n", "hex digits", 5);
    expectRefused("\"\\ud800\"\n", "surrogate", 7);
    expectRefused("\"\\udc00\"\n", "surrogate", 7);
    expectRefused("\"\\ud800\\u0041\"\n", "surrogate", 13);
    expectRefused(std::string_view("\"a\0b\"\n", 6), "control character", 2);
}

TEST(Json, RefusesBadUtf8) {
    for (const auto* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                            "\xF4\x90\x80\x80", "\xFF", "\xE2\x82", "\xC3"}) {
        EXPECT_FALSE(isUtf8(bad)) << bad;
        expectRefused("[\"" + std::string(bad) + "\"]\n", "UTF-8", 1);
    }
    for (const auto* good : {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80",
                             "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(isUtf8(good)) << good;
    }
}

TEST(Json, SurrogatePairsDecode) {
    // Decoding works; the escape itself is then not canonical, which is what the offset shows.
    expectRefused("\"\\ud83d\\ude00\"\n", "canonical", 1);
    const auto value = read("\"\xF0\x9F\x98\x80\"\n");
    ASSERT_TRUE(value);
    EXPECT_EQ(*value->text(), "\xF0\x9F\x98\x80");
}

TEST(Json, DepthLimit) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']') +
               "\n";
    };
    EXPECT_TRUE(read(nested(kMaxJsonDepth)));
    expectRefused(nested(kMaxJsonDepth + 1), "deeper", kMaxJsonDepth);
    expectRefused(std::string(500'000, '['), "deeper", kMaxJsonDepth);
    std::string objects;
    for (int i = 0; i < 100'000; ++i) {
        objects += "{\"a\":";
    }
    expectRefused(objects, "deeper", 5 * kMaxJsonDepth);
}

TEST(Json, SizeAndCountLimits) {
    EXPECT_FALSE(readJson(base::asBytes("[1,2,3]\n"), 7));
    EXPECT_TRUE(readJson(base::asBytes("[1,2,3]\n"), 8));
    std::string many = "[";
    for (int i = 0; i < (1 << 20) + 1; ++i) {
        many += "0,";
    }
    const auto result = readJson(base::asBytes(many), 16 << 20);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("more than 1048576 values"), std::string::npos) << result.error().message;
}

/// Every single-byte change of a canonical text is either refused or read as another value: no two texts are one value.
TEST(Json, NoTwoTextsForOneValue) {
    const std::string text = "{\"a\":[1,-2,true,\"x\\n\"],\"b\":{\"c\":\"00ff\"}}\n";
    const auto original = read(text);
    ASSERT_TRUE(original);
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (int byte = 0; byte < 256; ++byte) {
            auto changed = text;
            changed[i] = static_cast<char>(byte);
            const auto value = read(changed);
            if (value && changed != text) {
                EXPECT_FALSE(*value == *original) << changed;
            }
        }
    }
}

} // namespace
} // namespace assay::format
