// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/tree.h"

#include <gtest/gtest.h>

#include "core/merkle/proof.h"
#include "tests/support/textbook_merkle.h"

namespace assay::merkle {
namespace {

// The leaf inputs and roots that the Certificate Transparency project publishes for RFC 6962 trees (the hashing is that
// of RFC 9162): github.com/google/certificate-transparency, cpp/merkletree/merkle_tree_test.cc, and
// github.com/transparency-dev/merkle.
const char* const kLeaves[] = {
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
const char* const kRoots[] = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                              "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                              "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                              "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                              "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                              "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                              "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                              "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
constexpr const char* kEmptyRoot = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

Tree publishedTree() {
    Tree tree;
    for (const char* leaf : kLeaves) {
        tree.append(leafHash(base::fromHex(leaf).value()));
    }
    return tree;
}

TEST(Tree, PublishedRoots) {
    EXPECT_EQ(emptyRoot().toHex(), kEmptyRoot);
    EXPECT_EQ(Tree().root().toHex(), kEmptyRoot);
    const auto tree = publishedTree();
    for (std::uint64_t n = 1; n <= 8; ++n) {
        EXPECT_EQ(tree.root(TreeSize{n}).value().toHex(), kRoots[n - 1]) << n;
    }
}

using Hashes = std::vector<std::string>;

Hashes hexOf(const std::vector<Digest>& proof) {
    Hashes text;
    for (const auto& digest : proof) {
        text.push_back(digest.toHex());
    }
    return text;
}

// The audit paths and consistency proofs that the same two sources list for this tree.
const Hashes kUpperRightOfLeaf0 = {"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                                   "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                                   "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"};
struct PublishedPath {
    std::uint64_t leaf, size;
    Hashes path;
};
const PublishedPath kPaths[] = {{0, 1, {}},
                                {0, 8, kUpperRightOfLeaf0},
                                {5,
                                 8,
                                 {"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                                  "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                                  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}},
                                {2, 3, {"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"}},
                                {1,
                                 5,
                                 {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                                  "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"}}};
struct PublishedConsistency {
    std::uint64_t oldSize, newSize;
    Hashes proof;
};
const PublishedConsistency kConsistencies[] = {{1, 1, {}},
                                               {1, 8, kUpperRightOfLeaf0},
                                               {6,
                                                8,
                                                {"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                                                 "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                                                 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}},
                                               {2,
                                                5,
                                                {"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                                                 "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"}}};

TEST(Tree, PublishedPaths) {
    const auto tree = publishedTree();
    for (const auto& [leaf, size, path] : kPaths) {
        const auto proof = tree.inclusionProof(LeafIndex{leaf}, TreeSize{size}).value();
        EXPECT_EQ(hexOf(proof), path) << leaf << " of " << size;
        const auto root = Digest::fromHex(kRoots[size - 1]).value();
        EXPECT_EQ(verifyInclusion(leafHash(base::fromHex(kLeaves[leaf]).value()), LeafIndex{leaf}, TreeSize{size},
                                  proof, root),
                  ProofCheck::valid);
    }
}

TEST(Tree, PublishedConsistencyProofs) {
    const auto tree = publishedTree();
    for (const auto& [oldSize, newSize, expected] : kConsistencies) {
        const auto proof = tree.consistencyProof(TreeSize{oldSize}, TreeSize{newSize}).value();
        EXPECT_EQ(hexOf(proof), expected) << oldSize << " to " << newSize;
        EXPECT_EQ(verifyConsistency(TreeSize{oldSize}, Digest::fromHex(kRoots[oldSize - 1]).value(), TreeSize{newSize},
                                    Digest::fromHex(kRoots[newSize - 1]).value(), proof),
                  ProofCheck::valid);
    }
}

constexpr std::size_t kLargest = 256;

std::vector<Digest> manyLeaves() {
    std::vector<Digest> leaves;
    for (std::size_t i = 0; i < kLargest; ++i) {
        leaves.push_back(textbook::leaf({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8), 7}));
    }
    return leaves;
}

TEST(Tree, AllSizesTo256EqualTheTextbook) {
    const auto leaves = manyLeaves();
    textbook::Tree reference(leaves);
    Tree tree;
    for (std::size_t n = 0; n <= kLargest; ++n) {
        ASSERT_EQ(tree.size().value, n);
        ASSERT_EQ(tree.root(), reference.root(0, n)) << n;
        ASSERT_EQ(rootOf(std::span(leaves).first(n)), reference.root(0, n)) << n;
        if (n < kLargest) {
            const std::vector<std::uint8_t> data{static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n >> 8), 7};
            ASSERT_EQ(leafHash(data), leaves[n]);
            tree.append(leafHash(data));
        }
    }
    for (std::size_t n = 0; n <= kLargest; ++n) { // a grown tree still knows its past
        ASSERT_EQ(tree.root(TreeSize{n}).value(), reference.root(0, n)) << n;
    }
}

TEST(Tree, AllProofsTo256EqualTheTextbook) {
    const auto leaves = manyLeaves();
    textbook::Tree reference(leaves);
    Tree tree;
    tree.append(leaves);
    for (std::size_t n = 1; n <= kLargest; ++n) {
        for (std::size_t m = 0; m < n; ++m) {
            ASSERT_EQ(tree.inclusionProof(LeafIndex{m}, TreeSize{n}).value(), reference.path(m, 0, n))
                << m << " of " << n;
            ASSERT_EQ(tree.consistencyProof(TreeSize{m + 1}, TreeSize{n}).value(),
                      reference.subproof(m + 1, 0, n, true))
                << m + 1 << " to " << n;
        }
    }
}

TEST(Tree, RefusesWhatIsNotThere) {
    const auto tree = publishedTree();
    EXPECT_FALSE(tree.root(TreeSize{9}));
    EXPECT_FALSE(tree.inclusionProof(LeafIndex{8}, TreeSize{8}));
    EXPECT_FALSE(tree.inclusionProof(LeafIndex{0}, TreeSize{0}));
    EXPECT_FALSE(tree.inclusionProof(LeafIndex{0}, TreeSize{9}));
    EXPECT_FALSE(tree.consistencyProof(TreeSize{0}, TreeSize{8}));
    EXPECT_FALSE(tree.consistencyProof(TreeSize{5}, TreeSize{4}));
    EXPECT_FALSE(tree.consistencyProof(TreeSize{4}, TreeSize{9}));
}

} // namespace
} // namespace assay::merkle
