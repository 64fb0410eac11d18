// SPDX-License-Identifier: Apache-2.0
// Input: one byte that chooses the kind of proof, two sizes of eight bytes, then 32-byte hashes (the first two are leaf
// and root, or the two roots). No input may crash or hang the verifiers, and hashes that were not made by hashing can
// never verify, except where nothing is hashed: a tree of one leaf, or two equal trees.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/merkle/proof.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (size < 17 + 64) {
        return 0;
    }
    const auto first = base::loadLe<std::uint64_t>(data + 1);
    const auto second = base::loadLe<std::uint64_t>(data + 9);
    std::vector<merkle::Digest> hashes;
    for (std::size_t at = 17; at + 32 <= size; at += 32) {
        hashes.push_back(base::Digest::fromBytes({data + at, 32}).value());
    }
    const auto proof = std::span<const merkle::Digest>(hashes).subspan(2);
    if ((data[0] & 1u) == 0) {
        const auto check =
            merkle::verifyInclusion(hashes[0], base::LeafIndex{first}, base::TreeSize{second}, proof, hashes[1]);
        const bool trivial = first == 0 && second == 1 && proof.empty() && hashes[0] == hashes[1];
        if ((check == merkle::ProofCheck::valid) != trivial) {
            std::abort();
        }
    } else {
        const auto check =
            merkle::verifyConsistency(base::TreeSize{first}, hashes[0], base::TreeSize{second}, hashes[1], proof);
        const bool trivial = first != 0 && first == second && proof.empty() && hashes[0] == hashes[1];
        if ((check == merkle::ProofCheck::valid) != trivial) {
            std::abort();
        }
    }
    return 0;
}
