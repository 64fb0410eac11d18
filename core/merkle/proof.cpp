// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/proof.h"

#include <bit>

namespace assay::merkle {

ProofCheck verifyInclusion(const Digest& leaf, LeafIndex index, TreeSize size, std::span<const Digest> proof,
                           const Digest& root) {
    if (index.value >= size.value) {
        return ProofCheck::invalid;
    }
    std::uint64_t node = index.value;
    std::uint64_t last = size.value - 1;
    Digest hash = leaf;
    for (const auto& sibling : proof) {
        if (last == 0) {
            return ProofCheck::invalid; // more hashes than levels
        }
        if ((node & 1) != 0 || node == last) {
            hash = nodeHash(sibling, hash);
            // A right-most node without a sibling passes up unchanged.
            while ((node & 1) == 0 && node != 0) {
                node >>= 1;
                last >>= 1;
            }
        } else {
            hash = nodeHash(hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    return last == 0 && hash == root ? ProofCheck::valid : ProofCheck::invalid;
}

ProofCheck verifyConsistency(TreeSize oldSize, const Digest& oldRoot, TreeSize newSize, const Digest& newRoot,
                             std::span<const Digest> proof) {
    if (oldSize.value == 0 || oldSize > newSize) {
        return ProofCheck::invalid;
    }
    if (oldSize == newSize) {
        return proof.empty() && oldRoot == newRoot ? ProofCheck::valid : ProofCheck::invalid;
    }
    std::size_t at = 0;
    std::uint64_t node = oldSize.value - 1;
    std::uint64_t last = newSize.value - 1;
    while ((node & 1) != 0) {
        node >>= 1;
        last >>= 1;
    }
    Digest first =
        oldRoot; // an old tree of a power of two is itself a node of the new one and is left out of the proof
    if (!std::has_single_bit(oldSize.value)) {
        if (proof.empty()) {
            return ProofCheck::invalid;
        }
        first = proof[at++];
    }
    Digest oldHash = first;
    Digest newHash = first;
    for (; at < proof.size(); ++at) {
        if (last == 0) {
            return ProofCheck::invalid;
        }
        if ((node & 1) != 0 || node == last) {
            oldHash = nodeHash(proof[at], oldHash);
            newHash = nodeHash(proof[at], newHash);
            while ((node & 1) == 0 && node != 0) {
                node >>= 1;
                last >>= 1;
            }
        } else {
            newHash = nodeHash(newHash, proof[at]);
        }
        node >>= 1;
        last >>= 1;
    }
    return last == 0 && oldHash == oldRoot && newHash == newRoot ? ProofCheck::valid : ProofCheck::invalid;
}

} // namespace assay::merkle
