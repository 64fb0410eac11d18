// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/self_test.h"
#include "core/crypto/sha256.h"

#include <gtest/gtest.h>

namespace assay::crypto {
namespace {

TEST(Sha256, SelfTestPasses) {
    const auto result = selfTest();
    EXPECT_TRUE(result) << result.error().toString();
}

TEST(Sha256, MillionAs) { // FIPS 180-4, third example
    Sha256 hash;
    const std::string chunk(1000, 'a');
    for (int i = 0; i < 1000; ++i) {
        hash.update(base::asBytes(chunk));
    }
    EXPECT_EQ(hash.finish().toHex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(hash.finish(), sha256({})); // starts anew
}

TEST(Sha256, ChunksDoNotDependOnThreads) {
    base::ByteVector data(1000 * 100 + 7);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint8_t>(i * 31);
    }
    const auto prefix = base::asBytes("tag");
    const auto one = hashChunks(data, 100, prefix, 1);
    ASSERT_EQ(one.size(), 1001u);
    EXPECT_EQ(one, hashChunks(data, 100, prefix, 4));
    base::ByteVector last{'t', 'a', 'g'};
    last.insert(last.end(), data.end() - 7, data.end());
    EXPECT_EQ(one.back(), sha256(last));
    EXPECT_TRUE(hashChunks({}, 100, prefix, 4).empty());
}

} // namespace
} // namespace assay::crypto
