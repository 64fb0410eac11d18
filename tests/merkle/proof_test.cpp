// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/proof.h"

#include <gtest/gtest.h>

namespace assay::merkle {
namespace {

Tree makeTree(std::uint64_t leaves) {
    Tree tree;
    for (std::uint64_t i = 0; i < leaves; ++i) {
        base::ByteWriter writer;
        writer.put(i);
        tree.append(leafHash(writer.bytes()));
    }
    return tree;
}

TEST(Proof, EveryInclusionUpTo256VerifiesAndNoneForANeighbour) {
    const auto tree = makeTree(256);
    for (std::uint64_t n = 1; n <= 256; ++n) {
        const auto root = tree.root(TreeSize{n}).value();
        for (std::uint64_t m = 0; m < n; ++m) {
            const auto proof = tree.inclusionProof(LeafIndex{m}, TreeSize{n}).value();
            ASSERT_EQ(verifyInclusion(tree.leaf(LeafIndex{m}), LeafIndex{m}, TreeSize{n}, proof, root), ProofCheck::valid);
            ASSERT_EQ(verifyInclusion(tree.leaf(LeafIndex{(m + 1) % 256}), LeafIndex{m}, TreeSize{n}, proof, root), ProofCheck::invalid);
            if (m + 1 < n) {
                ASSERT_EQ(verifyInclusion(tree.leaf(LeafIndex{m}), LeafIndex{m + 1}, TreeSize{n}, proof, root), ProofCheck::invalid);
            }
            ASSERT_EQ(verifyInclusion(tree.leaf(LeafIndex{m}), LeafIndex{n}, TreeSize{n}, proof, root), ProofCheck::invalid);
        }
    }
}

TEST(Proof, EveryConsistencyUpTo96Verifies) {
    const auto tree = makeTree(96);
    for (std::uint64_t n = 1; n <= 96; ++n) {
        const auto newRoot = tree.root(TreeSize{n}).value();
        for (std::uint64_t m = 1; m <= n; ++m) {
            const auto oldRoot = tree.root(TreeSize{m}).value();
            const auto proof = tree.consistencyProof(TreeSize{m}, TreeSize{n}).value();
            ASSERT_EQ(verifyConsistency(TreeSize{m}, oldRoot, TreeSize{n}, newRoot, proof), ProofCheck::valid) << m << " " << n;
            ASSERT_EQ(verifyConsistency(TreeSize{0}, oldRoot, TreeSize{n}, newRoot, proof), ProofCheck::invalid);
            ASSERT_EQ(verifyConsistency(TreeSize{n + 1}, oldRoot, TreeSize{n}, newRoot, proof), ProofCheck::invalid);
            auto longer = proof;
            longer.push_back(newRoot);
            ASSERT_EQ(verifyConsistency(TreeSize{m}, oldRoot, TreeSize{n}, newRoot, longer), ProofCheck::invalid);
            if (!proof.empty()) {
                ASSERT_EQ(verifyConsistency(TreeSize{m}, oldRoot, TreeSize{n}, newRoot, std::span(proof).first(proof.size() - 1)),
                          ProofCheck::invalid);
            }
        }
    }
}

void flipBit(Digest& digest, std::size_t bit) {
    digest.bytes[bit / 8] = static_cast<std::uint8_t>(digest.bytes[bit / 8] ^ (1u << (bit % 8)));
}

TEST(Proof, EveryFlippedBitFails) {
    const auto tree = makeTree(13);
    for (const std::uint64_t index : {0, 7, 12}) {
        auto proof = tree.inclusionProof(LeafIndex{index}, TreeSize{13}).value();
        auto root = tree.root();
        auto leaf = tree.leaf(LeafIndex{index});
        const auto check = [&] { return verifyInclusion(leaf, LeafIndex{index}, TreeSize{13}, proof, root); };
        ASSERT_EQ(check(), ProofCheck::valid);
        std::vector<Digest*> parts{&root, &leaf};
        for (auto& digest : proof) {
            parts.push_back(&digest);
        }
        for (auto* part : parts) {
            for (std::size_t bit = 0; bit < 256; ++bit) {
                flipBit(*part, bit);
                ASSERT_EQ(check(), ProofCheck::invalid);
                flipBit(*part, bit);
            }
        }
    }
    auto proof = tree.consistencyProof(TreeSize{7}, TreeSize{13}).value();
    auto oldRoot = tree.root(TreeSize{7}).value();
    auto newRoot = tree.root();
    const auto check = [&] { return verifyConsistency(TreeSize{7}, oldRoot, TreeSize{13}, newRoot, proof); };
    ASSERT_EQ(check(), ProofCheck::valid);
    std::vector<Digest*> parts{&oldRoot, &newRoot};
    for (auto& digest : proof) {
        parts.push_back(&digest);
    }
    for (auto* part : parts) {
        for (std::size_t bit = 0; bit < 256; ++bit) {
            flipBit(*part, bit);
            ASSERT_EQ(check(), ProofCheck::invalid);
            flipBit(*part, bit);
        }
    }
}

TEST(Proof, WrongSizesFail) {
    const auto tree = makeTree(13);
    const auto proof = tree.inclusionProof(LeafIndex{5}, TreeSize{13}).value();
    // A path alone does not tell sizes apart in which leaf 5 sits at the same depth (9 to 16). What binds the size is the root, which a
    // verifier always takes together with it.
    for (std::uint64_t size = 0; size <= 8; ++size) {
        EXPECT_EQ(verifyInclusion(tree.leaf(LeafIndex{5}), LeafIndex{5}, TreeSize{size}, proof, tree.root()), ProofCheck::invalid) << size;
    }
    EXPECT_EQ(verifyInclusion(tree.leaf(LeafIndex{5}), LeafIndex{5}, TreeSize{17}, proof, tree.root()), ProofCheck::invalid);
    EXPECT_EQ(verifyInclusion(tree.leaf(LeafIndex{5}), LeafIndex{5}, TreeSize{~0ull}, proof, tree.root()), ProofCheck::invalid);
}

TEST(Proof, ANodeIsNoLeaf) {
    // Second preimage between tree levels: the bytes of an inner node presented as leaf data.
    const auto tree = makeTree(2);
    base::ByteWriter node;
    node.putBytes(tree.leaf(LeafIndex{0}).view());
    node.putBytes(tree.leaf(LeafIndex{1}).view());
    EXPECT_NE(leafHash(node.bytes()), tree.root());
}

TEST(Proof, MillionLeavesStayLogarithmic) {
    Tree tree;
    const Digest leaf = leafHash({});
    for (std::uint64_t i = 0; i < (1u << 20); ++i) {
        tree.append(leaf);
    }
    const auto proof = tree.inclusionProof(LeafIndex{(1u << 20) - 1}, TreeSize{1u << 20}).value();
    EXPECT_EQ(proof.size(), 20u);
    EXPECT_EQ(verifyInclusion(leaf, LeafIndex{(1u << 20) - 1}, TreeSize{1u << 20}, proof, tree.root()), ProofCheck::valid);
}

} // namespace
} // namespace assay::merkle
