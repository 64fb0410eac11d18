// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/merkle/tree.h"

/// Pure verification of RFC 9162 proofs (2.1.3.2 and 2.1.4.2): no files, no clock, no trust in the caller's sizes.
namespace assay::merkle {

/// A default-made value is never good.
enum class ProofCheck { notChecked, valid, invalid };

/// Whether `leaf` is the leaf hash at `index` in the tree of `size` leaves with this root. A path looks the same in all
/// trees in which the leaf sits alike (leaf 0 of 5 to 8 leaves, say), so it does not prove the size: that must come
/// signed together with the root.
[[nodiscard]] ProofCheck verifyInclusion(const Digest& leaf, LeafIndex index, TreeSize size,
                                         std::span<const Digest> proof, const Digest& root);
/// Whether the tree (newSize, newRoot) extends (oldSize, oldRoot). An old size of 0 proves nothing and is invalid.
[[nodiscard]] ProofCheck verifyConsistency(TreeSize oldSize, const Digest& oldRoot, TreeSize newSize,
                                           const Digest& newRoot, std::span<const Digest> proof);

} // namespace assay::merkle
