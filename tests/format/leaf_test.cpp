// SPDX-License-Identifier: Apache-2.0
#include "core/format/leaf.h"

#include <set>

#include <gtest/gtest.h>

#include "core/format/state_tree.h"
#include "tests/support/format_fixtures.h"
#include "tests/support/textbook_merkle.h"

namespace assay::format {
namespace {

base::Digest digestOf(std::string_view text) {
    return crypto::sha256(base::asBytes(text));
}

LeafData fullLeaf() {
    LeafData leaf;
    leaf.order = digestOf("order");
    leaf.step = 0x0102030405060708;
    leaf.batch = digestOf("batch");
    leaf.learningRateBits = 0x3dcccccd;
    leaf.lossBits = 0x40000000;
    leaf.logRoot = digestOf("log");
    leaf.stateRoot = digestOf("state");
    leaf.evaluationBits = 0x3f000000;
    leaf.previous = digestOf("previous");
    return leaf;
}

LeafData divergedLeaf() {
    LeafData leaf;
    leaf.order = digestOf("order");
    leaf.step = 9;
    leaf.batch = digestOf("batch");
    leaf.learningRateBits = 0x3dcccccd;
    leaf.previous = digestOf("previous");
    leaf.diverged = true;
    leaf.divergedSite = "blocks.0.attn.qkv / dW";
    return leaf;
}

std::vector<LeafData> samples() {
    auto bare = fullLeaf();
    bare.stateRoot.reset();
    bare.evaluationBits.reset();
    auto stateOnly = bare;
    stateOnly.stateRoot = digestOf("state");
    auto evaluationOnly = bare;
    evaluationOnly.evaluationBits = 1;
    return {fullLeaf(), bare, stateOnly, evaluationOnly, divergedLeaf()};
}

TEST(Leaf, RoundTrip) {
    std::set<base::Digest> hashes;
    for (const auto& leaf : samples()) {
        const auto bytes = serialiseLeaf(leaf);
        const auto back = parseLeaf(bytes);
        ASSERT_TRUE(back) << back.error().toString();
        EXPECT_EQ(*back, leaf);
        EXPECT_EQ(leafHash(leaf), textbook::leaf(bytes));
        EXPECT_TRUE(hashes.insert(leafHash(leaf)).second);
    }
    EXPECT_EQ(serialiseLeaf(fullLeaf()).size(), 194U);
}

TEST(Leaf, EveryFieldIsBound) {
    const auto original = leafHash(fullLeaf());
    const auto changed = [&](auto change, const char* part) {
        auto leaf = fullLeaf();
        change(leaf);
        EXPECT_NE(leafHash(leaf), original) << part;
        const auto parts = differingParts(fullLeaf(), leaf);
        ASSERT_EQ(parts.size(), 1U) << part;
        EXPECT_EQ(parts[0], part);
    };
    changed([](LeafData& l) { l.order.bytes[0] ^= 1; }, "chain");
    changed([](LeafData& l) { l.step ^= 1; }, "chain");
    changed([](LeafData& l) { l.batch.bytes[0] ^= 1; }, "batch");
    changed([](LeafData& l) { l.learningRateBits ^= 1; }, "learning_rate");
    changed([](LeafData& l) { l.lossBits ^= 1; }, "loss");
    changed([](LeafData& l) { l.logRoot.bytes[0] ^= 1; }, "log_root");
    changed([](LeafData& l) { l.stateRoot->bytes[0] ^= 1; }, "state_root");
    changed([](LeafData& l) { l.stateRoot.reset(); }, "state_root");
    changed([](LeafData& l) { *l.evaluationBits ^= 1; }, "evaluation");
    changed([](LeafData& l) { l.evaluationBits.reset(); }, "evaluation");
    changed([](LeafData& l) { l.previous.bytes[0] ^= 1; }, "chain");
    EXPECT_TRUE(differingParts(fullLeaf(), fullLeaf()).empty());
    auto several = fullLeaf();
    several.lossBits ^= 1;
    several.batch.bytes[1] ^= 1;
    several.stateRoot->bytes[1] ^= 1;
    EXPECT_EQ(differingParts(fullLeaf(), several), (std::vector<std::string>{"batch", "loss", "state_root"}));
}

TEST(Leaf, EveryBitFlipIsRefusedOrAnotherLeaf) {
    for (const auto& leaf : samples()) {
        const auto bytes = serialiseLeaf(leaf);
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            auto changed = bytes;
            changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << (bit % 8)));
            const auto back = parseLeaf(changed, 1000);
            if (back) {
                EXPECT_FALSE(*back == leaf) << bit;
                EXPECT_EQ(serialiseLeaf(*back), changed) << bit;
            } else {
                EXPECT_EQ(back.error().code, base::ErrorCode::malformed);
                EXPECT_GE(back.error().offset.value_or(0), 1000U) << bit;
            }
        }
    }
}

TEST(Leaf, TruncatedAndTrailing) {
    for (const auto& leaf : samples()) {
        auto bytes = serialiseLeaf(leaf);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_FALSE(parseLeaf(base::ByteView(bytes).first(size))) << size;
        }
        bytes.push_back(0);
        EXPECT_FALSE(parseLeaf(bytes));
    }
}

TEST(Leaf, RecordRoundTripAndLimits) {
    StepRecord record;
    record.leaf = fullLeaf();
    record.logBytes = 77;
    record.logSha256 = digestOf("file");
    record.tensorRoots = {digestOf("a"), digestOf("b")};
    const auto bytes = serialiseStepRecord(record);
    const auto back = parseStepRecord(bytes, 0);
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(*back, record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(parseStepRecord(base::ByteView(bytes).first(size), 0)) << size;
    }
    auto longer = bytes;
    longer.push_back(0);
    EXPECT_FALSE(parseStepRecord(longer, 0));
    // A count of 2^32 - 1 roots must not reserve memory for them.
    auto claimed = bytes;
    base::storeLe(claimed.data() + claimed.size() - 2 * 32 - 4, ~std::uint32_t{0});
    const auto refused = parseStepRecord(claimed, 500);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().offset.value_or(0), 500 + claimed.size() - 2 * 32 - 4);
    // Tensor roots without a state root, a log without a step, a step without a log.
    auto noState = record;
    noState.leaf.stateRoot.reset();
    EXPECT_FALSE(parseStepRecord(serialiseStepRecord(noState), 0));
    auto initial = record;
    initial.leaf.step = 0;
    EXPECT_FALSE(parseStepRecord(serialiseStepRecord(initial), 0));
    initial.logBytes = 0;
    EXPECT_FALSE(parseStepRecord(serialiseStepRecord(initial), 0));
    initial.logSha256 = {};
    EXPECT_TRUE(parseStepRecord(serialiseStepRecord(initial), 0));
    auto noLog = record;
    noLog.logBytes = 0;
    EXPECT_FALSE(parseStepRecord(serialiseStepRecord(noLog), 0));
}

/// The state tree as FORMAT.md describes it, written out with the textbook Merkle tree.
base::Digest textbookTensorRoot(base::ByteView bytes) {
    std::vector<base::Digest> leaves;
    for (std::size_t at = 0; at < bytes.size(); at += 65536) {
        const auto chunk = bytes.subspan(at, std::min<std::size_t>(65536, bytes.size() - at));
        const std::string_view tag = "assay/chunk/1\n";
        std::vector<std::uint8_t> data(tag.begin(), tag.end());
        data.insert(data.end(), chunk.begin(), chunk.end());
        leaves.push_back(textbook::leaf(data));
    }
    return textbook::root(leaves);
}

TEST(StateTree, TensorRootsAtChunkBorders) {
    for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 131072U, 200001U}) {
        base::ByteVector bytes(size);
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
        }
        EXPECT_EQ(tensorRoot(bytes), textbookTensorRoot(bytes)) << size;
    }
}

TEST(StateTree, ThreadsAndOrderDoNotMatter) {
    const test::TinyState state(2);
    std::vector<float> big(300'000, 0.5f);
    auto views = state.all();
    views.push_back({"big", "F32", {300'000}, bytesOf(big)});
    const auto one = commitState(views, 1);
    const auto four = commitState(views, 4);
    EXPECT_EQ(one.root, four.root);
    EXPECT_EQ(one.tensorRoots, four.tensorRoots);
    std::reverse(views.begin(), views.end());
    EXPECT_EQ(commitState(views).root, one.root);
    ASSERT_EQ(one.tensorRoots.size(), 4U);
    EXPECT_EQ(one.tensorRoots[0], textbookTensorRoot(bytesOf(big))) << "name order: big comes first";
    EXPECT_EQ(stateRootFrom(views, one.tensorRoots), one.root);
}

TEST(StateTree, NameDtypeShapeAndBytesAreBound) {
    const std::vector<float> values{1, 2, 3, 4};
    const auto rootOf = [&](std::string name, std::string dtype, std::vector<std::int64_t> shape,
                            base::ByteView bytes) {
        const std::vector<TensorView> views{{std::move(name), std::move(dtype), std::move(shape), bytes}};
        return commitState(views).root;
    };
    const auto bytes = bytesOf(values);
    const std::set<base::Digest> roots{rootOf("a", "F32", {4}, bytes),    rootOf("b", "F32", {4}, bytes),
                                       rootOf("a", "I32", {4}, bytes),    rootOf("a", "F32", {2, 2}, bytes),
                                       rootOf("a", "F32", {1, 4}, bytes), rootOf("a", "F32", {3}, bytes.first(12)),
                                       rootOf("a", "F32", {0}, {})};
    EXPECT_EQ(roots.size(), 7U);
    EXPECT_EQ(commitState({}).root, textbook::root({}));
}

TEST(StateTree, LogRootAndBatch) {
    const base::ByteVector a{1, 2, 3};
    const base::ByteVector b;
    const std::vector<base::ByteView> sections{a, b};
    const auto leaf = [](std::vector<std::uint8_t> section) {
        const std::string_view tag = "assay/log/1\n";
        section.insert(section.begin(), tag.begin(), tag.end());
        return textbook::leaf(section);
    };
    EXPECT_EQ(logRoot(sections), textbook::node(leaf(a), leaf(b)));
    EXPECT_EQ(logRoot({}), textbook::root({}));
    const std::vector<std::uint64_t> indices{1, 2};
    const std::vector<std::uint64_t> swapped{2, 1};
    const std::vector<base::Digest> digests{digestOf("1"), digestOf("2")};
    const std::vector<base::Digest> swappedDigests{digestOf("2"), digestOf("1")};
    const std::set<base::Digest> batches{batchDigest(indices, digests), batchDigest(swapped, swappedDigests),
                                         batchDigest(indices, swappedDigests), batchDigest({}, {})};
    EXPECT_EQ(batches.size(), 4U);
}

} // namespace
} // namespace assay::format
