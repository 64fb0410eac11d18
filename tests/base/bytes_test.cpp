// SPDX-License-Identifier: Apache-2.0
#include "core/base/bytes.h"
#include "core/base/digest.h"

#include <gtest/gtest.h>

namespace assay::base {
namespace {

TEST(Hex, RoundTripAndErrors) {
    const ByteVector bytes{0x00, 0x7f, 0xff, 0x10};
    EXPECT_EQ(toHex(bytes), "007fff10");
    EXPECT_EQ(fromHex("007FfF10").value(), bytes);
    EXPECT_EQ(fromHex("0").error().code, ErrorCode::malformed);
    EXPECT_EQ(fromHex("00zz").error().offset, 2u);
    EXPECT_FALSE(Digest::fromHex(std::string(63, 'a')));
    EXPECT_TRUE(Digest::fromHex(std::string(64, 'a')));
}

TEST(Base64, Rfc4648Vectors) {
    const std::pair<const char*, const char*> vectors[] = {{"", ""},         {"f", "Zg=="},         {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},  {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : vectors) {
        EXPECT_EQ(toBase64(asBytes(plain)), coded);
        EXPECT_EQ(asText(fromBase64(coded).value()), plain);
    }
    for (const char* bad : {"Zg=", "Zg", "Z===", "Zh==", "Zm9=", "Zg==Zg==", " Zg=", "Z=g=", "Zm9v\n"}) {
        EXPECT_FALSE(fromBase64(bad)) << bad;
    }
}

TEST(Varint, ShortestFormOnly) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{300}, ~std::uint64_t{0}}) {
        ByteWriter writer;
        writer.putVarint(value);
        ByteReader reader(writer.bytes());
        EXPECT_EQ(reader.getVarint("v").value(), value);
        EXPECT_TRUE(reader.expectEnd("v"));
    }
    const ByteVector padded{0x80, 0x00};
    EXPECT_FALSE(ByteReader(padded).getVarint("v"));
    const ByteVector endless(11, 0xff);
    EXPECT_FALSE(ByteReader(endless).getVarint("v"));
    const ByteVector tooBig{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    EXPECT_FALSE(ByteReader(tooBig).getVarint("v"));
    const ByteVector cut{0x80};
    EXPECT_FALSE(ByteReader(cut).getVarint("v"));
}

TEST(ByteReader, ReportsOffsets) {
    const ByteVector bytes{1, 2, 3};
    ByteReader reader(bytes, 100);
    EXPECT_EQ(reader.get<std::uint16_t>("x").value(), 0x0201);
    const auto error = reader.get<std::uint32_t>("the count").error();
    EXPECT_EQ(error.offset, 102u);
    EXPECT_NE(error.message.find("the count"), std::string::npos);
    EXPECT_FALSE(reader.expectEnd("file"));
    EXPECT_FALSE(reader.getBytes(~std::uint64_t{0}, "huge"));
}

} // namespace
} // namespace assay::base
