// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/sha256.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/crypto/self_test.h"

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

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
    base::ByteVector data(200);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint8_t>(i * 7 + 1);
    }
    Sha256 hash;
    for (std::size_t size = 0; size <= data.size();
         ++size) { // around the block and padding limits 55, 56, 63, 64, 119, 120, 128
        const auto whole = base::ByteView(data).first(size);
        const auto expected = sha256(whole);
        for (std::size_t cut = 0; cut <= size; ++cut) {
            hash.update(whole.first(cut));
            hash.update(whole.subspan(cut));
            ASSERT_EQ(hash.finish(), expected) << cut << " of " << size;
        }
    }
    for (int i = 0; i < 3; ++i) {
        hash.update({data.data() + i, 1});
    }
    EXPECT_EQ(hash.finish(), sha256(base::ByteView(data).first(3)));
}

TEST(Sha256, ChunksOfEverySizeAroundTheLimit) {
    constexpr std::uint64_t kChunk = 64 << 10;
    const base::ByteVector data(3 * kChunk + 1, 0x5a);
    const auto prefix = base::asBytes("assay/chunk/1");
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk + 1}) {
        const auto digests = hashChunks(base::ByteView(data).first(size), kChunk, prefix, 2);
        ASSERT_EQ(digests.size(), (size + kChunk - 1) / kChunk) << size;
        for (std::size_t i = 0; i < digests.size(); ++i) {
            Sha256 hash;
            hash.update(prefix);
            hash.update(base::ByteView(data).subspan(i * kChunk, std::min(kChunk, size - i * kChunk)));
            EXPECT_EQ(digests[i], hash.finish()) << size;
        }
    }
    EXPECT_EQ(hashChunks(data, ~0ull, prefix, 3).size(), 1u); // a chunk larger than all there is
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
