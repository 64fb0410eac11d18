// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/proof.h"

#include <gtest/gtest.h>

#include "tests/support/textbook_merkle.h"

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

/// One claim "leaf at index of size under root", and one "old tree to new tree"; the tests change one part at a time.
struct Inclusion {
    Digest leaf;
    std::uint64_t index, size;
    std::vector<Digest> proof;
    Digest root;
    [[nodiscard]] ProofCheck check() const {
        return verifyInclusion(leaf, LeafIndex{index}, TreeSize{size}, proof, root);
    }
    std::vector<Digest*> parts() {
        std::vector<Digest*> all{&leaf, &root};
        for (auto& digest : proof) {
            all.push_back(&digest);
        }
        return all;
    }
};
struct Consistency {
    std::uint64_t oldSize, newSize;
    Digest oldRoot, newRoot;
    std::vector<Digest> proof;
    [[nodiscard]] ProofCheck check() const {
        return verifyConsistency(TreeSize{oldSize}, oldRoot, TreeSize{newSize}, newRoot, proof);
    }
    std::vector<Digest*> parts() {
        std::vector<Digest*> all{&oldRoot, &newRoot};
        for (auto& digest : proof) {
            all.push_back(&digest);
        }
        return all;
    }
};

Inclusion inclusionIn(const Tree& tree, std::uint64_t index, std::uint64_t size) {
    return {tree.leaf(LeafIndex{index}), index, size, tree.inclusionProof(LeafIndex{index}, TreeSize{size}).value(),
            tree.root(TreeSize{size}).value()};
}
Consistency consistencyIn(const Tree& tree, std::uint64_t oldSize, std::uint64_t newSize) {
    return {oldSize, newSize, tree.root(TreeSize{oldSize}).value(), tree.root(TreeSize{newSize}).value(),
            tree.consistencyProof(TreeSize{oldSize}, TreeSize{newSize}).value()};
}

/// Each of the 256 bits of each digest changed alone.
template <typename Claim>
void expectEveryFlippedBitFails(Claim claim) {
    ASSERT_EQ(claim.check(), ProofCheck::valid);
    for (auto* part : claim.parts()) {
        for (std::size_t bit = 0; bit < 256; ++bit) {
            auto& byte = part->bytes[bit / 8];
            byte = static_cast<std::uint8_t>(byte ^ (1u << (bit % 8)));
            ASSERT_EQ(claim.check(), ProofCheck::invalid) << bit;
            byte = static_cast<std::uint8_t>(byte ^ (1u << (bit % 8)));
        }
    }
}

/// A proof that lacks a hash, has one too many at either end, or has two exchanged.
template <typename Claim>
void expectEditedProofsFail(const Claim& claim) {
    auto changed = claim;
    changed.proof.push_back(Digest{});
    ASSERT_EQ(changed.check(), ProofCheck::invalid);
    changed = claim;
    changed.proof.insert(changed.proof.begin(), Digest{});
    ASSERT_EQ(changed.check(), ProofCheck::invalid);
    for (std::size_t i = 0; i < claim.proof.size(); ++i) {
        changed = claim;
        changed.proof.erase(changed.proof.begin() + static_cast<std::ptrdiff_t>(i));
        ASSERT_EQ(changed.check(), ProofCheck::invalid);
        changed = claim;
        changed.proof.insert(changed.proof.begin() + static_cast<std::ptrdiff_t>(i), claim.proof[i]);
        ASSERT_EQ(changed.check(), ProofCheck::invalid);
        if (i > 0) {
            changed = claim;
            std::swap(changed.proof[i - 1], changed.proof[i]);
            ASSERT_EQ(changed.check(), ProofCheck::invalid);
        }
    }
}

TEST(Proof, NothingIsGoodByDefault) {
    EXPECT_EQ(ProofCheck{}, ProofCheck::notChecked);
}

TEST(Proof, EveryInclusionTo256VerifiesAndNoneForAnotherLeaf) {
    const auto tree = makeTree(256);
    for (std::uint64_t n = 1; n <= 256; ++n) {
        for (std::uint64_t m = 0; m < n; ++m) {
            auto claim = inclusionIn(tree, m, n);
            ASSERT_EQ(claim.check(), ProofCheck::valid) << m << " of " << n;
            claim.leaf = tree.leaf(LeafIndex{(m + 1) % 256});
            ASSERT_EQ(claim.check(), ProofCheck::invalid) << m << " of " << n;
        }
    }
}

TEST(Proof, EveryConsistencyTo256Verifies) {
    const auto tree = makeTree(256);
    for (std::uint64_t n = 1; n <= 256; ++n) {
        for (std::uint64_t m = 1; m <= n; ++m) {
            auto claim = consistencyIn(tree, m, n);
            ASSERT_EQ(claim.check(), ProofCheck::valid) << m << " to " << n;
            std::swap(claim.oldRoot, claim.newRoot);
            ASSERT_EQ(claim.check(), m == n ? ProofCheck::valid : ProofCheck::invalid) << m << " to " << n;
        }
    }
}

TEST(Proof, EveryFlippedBitOfEveryInclusionTo16Fails) {
    const auto tree = makeTree(16);
    for (std::uint64_t n = 1; n <= 16; ++n) {
        for (std::uint64_t m = 0; m < n; ++m) {
            expectEveryFlippedBitFails(inclusionIn(tree, m, n));
            expectEditedProofsFail(inclusionIn(tree, m, n));
        }
    }
}

TEST(Proof, EveryFlippedBitOfEveryConsistencyTo16Fails) {
    const auto tree = makeTree(16);
    for (std::uint64_t n = 1; n <= 16; ++n) {
        for (std::uint64_t m = 1; m <= n; ++m) {
            expectEveryFlippedBitFails(consistencyIn(tree, m, n));
            expectEditedProofsFail(consistencyIn(tree, m, n));
        }
    }
}

TEST(Proof, EveryFlippedBitOfTheIndexFails) {
    const auto tree = makeTree(64);
    for (std::uint64_t n = 1; n <= 64; ++n) {
        for (std::uint64_t m = 0; m < n; ++m) {
            auto claim = inclusionIn(tree, m, n);
            for (unsigned bit = 0; bit < 64; ++bit) {
                claim.index = m ^ (1ull << bit);
                ASSERT_EQ(claim.check(), ProofCheck::invalid) << m << " of " << n << ", bit " << bit;
            }
        }
    }
}

// A path does not hold the size: it is the same in every tree in which the leaf sits alike. RFC 9162 binds the size by
// signing it with the root. So another size must be refused exactly where the textbook says that the path would look
// different.
TEST(Proof, AnotherSizeIsRefusedWhereverThePathTellsItApart) {
    constexpr std::uint64_t kMost = 48;
    const auto tree = makeTree(kMost);
    std::uint64_t refused = 0;
    for (std::uint64_t n = 1; n <= kMost; ++n) {
        for (std::uint64_t m = 0; m < n; ++m) {
            auto claim = inclusionIn(tree, m, n);
            for (claim.size = 0; claim.size <= 2 * kMost; ++claim.size) {
                const bool alike = claim.size > m && textbook::pathShape(m, claim.size) == textbook::pathShape(m, n);
                ASSERT_EQ(claim.check(), alike ? ProofCheck::valid : ProofCheck::invalid)
                    << m << " of " << n << " as " << claim.size;
                refused += alike ? 0 : 1;
            }
            for (unsigned bit = 7; bit < 64; ++bit) { // far larger sizes need longer paths
                claim.size = n ^ (1ull << bit);
                ASSERT_EQ(claim.check(), ProofCheck::invalid);
            }
        }
    }
    EXPECT_GT(refused, 50'000u);
}

TEST(Proof, OtherSizesOfAConsistencyProofAreRefusedWhereverItTellsThemApart) {
    constexpr std::uint64_t kMost = 24;
    const auto tree = makeTree(kMost);
    std::uint64_t refused = 0;
    for (std::uint64_t n = 2; n <= kMost; ++n) {
        for (std::uint64_t m = 1; m < n; ++m) {
            auto claim = consistencyIn(tree, m, n);
            const auto shape = textbook::subproofShape(m, n, true);
            for (claim.newSize = 0; claim.newSize <= 2 * kMost; ++claim.newSize) {
                for (claim.oldSize = 0; claim.oldSize <= 2 * kMost; ++claim.oldSize) {
                    const bool alike = claim.oldSize >= 1 && claim.oldSize < claim.newSize &&
                                       textbook::subproofShape(claim.oldSize, claim.newSize, true) == shape;
                    ASSERT_EQ(claim.check(), alike ? ProofCheck::valid : ProofCheck::invalid)
                        << m << " to " << n << " as " << claim.oldSize << " to " << claim.newSize;
                    refused += alike ? 0 : 1;
                }
            }
            for (unsigned bit = 6; bit < 64; ++bit) {
                claim.oldSize = m;
                claim.newSize = n ^ (1ull << bit);
                ASSERT_EQ(claim.check(), ProofCheck::invalid);
                claim.oldSize = m ^ (1ull << bit);
                claim.newSize = n;
                ASSERT_EQ(claim.check(), ProofCheck::invalid);
            }
        }
    }
    EXPECT_GT(refused, 500'000u);
}

TEST(Proof, EmptyTreesAndExtremes) {
    const auto empty = emptyRoot();
    const auto leaf = leafHash({});
    EXPECT_EQ(verifyInclusion(leaf, LeafIndex{0}, TreeSize{0}, {}, empty), ProofCheck::invalid);
    EXPECT_EQ(verifyInclusion(empty, LeafIndex{0}, TreeSize{0}, {}, empty), ProofCheck::invalid);
    EXPECT_EQ(verifyInclusion(leaf, LeafIndex{0}, TreeSize{1}, {}, leaf),
              ProofCheck::valid); // one leaf is its own root
    EXPECT_EQ(verifyConsistency(TreeSize{0}, empty, TreeSize{0}, empty, {}), ProofCheck::invalid);
    EXPECT_EQ(verifyConsistency(TreeSize{0}, empty, TreeSize{1}, leaf, {}), ProofCheck::invalid);
    EXPECT_EQ(verifyConsistency(TreeSize{1}, leaf, TreeSize{0}, empty, {}), ProofCheck::invalid);
    const std::vector<Digest> many(100, leaf);
    for (const std::uint64_t size : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        EXPECT_EQ(verifyInclusion(leaf, LeafIndex{size - 1}, TreeSize{size}, many, leaf), ProofCheck::invalid);
        EXPECT_EQ(verifyInclusion(leaf, LeafIndex{size}, TreeSize{size}, many, leaf), ProofCheck::invalid);
        EXPECT_EQ(verifyConsistency(TreeSize{size - 1}, leaf, TreeSize{size}, leaf, many), ProofCheck::invalid);
        EXPECT_EQ(verifyConsistency(TreeSize{size}, leaf, TreeSize{size}, leaf, many), ProofCheck::invalid);
        EXPECT_EQ(verifyConsistency(TreeSize{1}, leaf, TreeSize{size}, leaf, {}), ProofCheck::invalid);
    }
}

TEST(Proof, ANodeIsNoLeaf) {
    // Second preimage between tree levels: the bytes of an inner node presented as leaf data, once with and once
    // without its prefix.
    const auto tree = makeTree(4);
    base::ByteWriter node;
    node.putBytes(tree.leaf(LeafIndex{0}).view());
    node.putBytes(tree.leaf(LeafIndex{1}).view());
    base::ByteWriter prefixed;
    prefixed.put(std::uint8_t{1});
    prefixed.putBytes(node.bytes());
    const std::vector<Digest> upper{nodeHash(tree.leaf(LeafIndex{2}), tree.leaf(LeafIndex{3}))};
    for (const auto& forged : {leafHash(node.bytes()), leafHash(prefixed.bytes())}) {
        EXPECT_EQ(verifyInclusion(forged, LeafIndex{0}, TreeSize{2}, upper, tree.root()), ProofCheck::invalid);
    }
    // What does verify is the node's hash itself, given as a leaf hash of a tree of half the size. Whoever takes leaf
    // hashes from a stranger must therefore bind the size too; leaf data cannot be found for it.
    EXPECT_EQ(verifyInclusion(nodeHash(tree.leaf(LeafIndex{0}), tree.leaf(LeafIndex{1})), LeafIndex{0}, TreeSize{2},
                              upper, tree.root()),
              ProofCheck::valid);
}

TEST(Proof, MillionLeavesStayLogarithmic) {
    constexpr std::uint64_t kLeaves = 1u << 20;
    Tree tree;
    for (std::uint64_t i = 0; i < kLeaves; ++i) {
        Digest leaf;
        base::storeLe(leaf.bytes.data(), i);
        tree.append(leaf);
    }
    for (const std::uint64_t index : {std::uint64_t{0}, kLeaves / 3, kLeaves - 1}) {
        const auto claim = inclusionIn(tree, index, kLeaves);
        EXPECT_EQ(claim.proof.size(), 20u);
        EXPECT_EQ(claim.check(), ProofCheck::valid);
    }
    EXPECT_EQ(inclusionIn(tree, kLeaves - 2, kLeaves - 1).check(),
              ProofCheck::valid); // the most ragged tree of its height
    EXPECT_EQ(consistencyIn(tree, kLeaves - 1, kLeaves).check(), ProofCheck::valid);
}

} // namespace
} // namespace assay::merkle
