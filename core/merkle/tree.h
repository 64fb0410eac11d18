// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/assert.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/ids.h"

/// Merkle trees of RFC 9162, section 2.1: SHA-256, leaf prefix 0x00, node prefix 0x01.
namespace assay::merkle {

using base::Digest;
using base::LeafIndex;
using base::TreeSize;

[[nodiscard]] Digest leafHash(base::ByteView data);
[[nodiscard]] Digest nodeHash(const Digest& left, const Digest& right);
/// Root of the tree without leaves: SHA-256 of nothing.
[[nodiscard]] Digest emptyRoot();
/// Root over leaf hashes, O(n) time, O(log n) memory.
[[nodiscard]] Digest rootOf(std::span<const Digest> leafHashes);

/// An append-only tree that keeps every complete subtree's hash: append is O(1) amortised; roots and proofs of any size
/// up to the present one take O(log n) hashes. About 64 bytes a leaf. Reading is thread-safe while nobody appends.
class Tree {
public:
    void append(const Digest& leafHash);
    void append(std::span<const Digest> leafHashes);
    [[nodiscard]] TreeSize size() const { return TreeSize{m_levels.empty() ? 0 : m_levels[0].size()}; }
    /// Precondition: index < size().
    [[nodiscard]] const Digest& leaf(LeafIndex index) const {
        ASSAY_ASSERT(index.value < size().value);
        return m_levels[0][index.value];
    }
    [[nodiscard]] Digest root() const { return *root(size()); }
    /// Root of the first `size` leaves; `usage` if there are fewer.
    [[nodiscard]] base::Result<Digest> root(TreeSize size) const;
    /// Audit path of a leaf in the tree of the first `size` leaves (RFC 9162, 2.1.3.1), from the leaf upwards. `usage`
    /// unless index < size <= size().
    [[nodiscard]] base::Result<std::vector<Digest>> inclusionProof(LeafIndex index, TreeSize size) const;
    /// Proof that the tree of `newSize` leaves extends that of `oldSize` (2.1.4.1). `usage` unless 0 < oldSize <=
    /// newSize <= size().
    [[nodiscard]] base::Result<std::vector<Digest>> consistencyProof(TreeSize oldSize, TreeSize newSize) const;

private:
    [[nodiscard]] Digest subtree(std::uint64_t begin, std::uint64_t end) const;
    void path(std::uint64_t index, std::uint64_t begin, std::uint64_t end, std::vector<Digest>& proof) const;
    void consistency(std::uint64_t oldSize, std::uint64_t begin, std::uint64_t end, bool whole,
                     std::vector<Digest>& proof) const;

    std::vector<std::vector<Digest>>
        m_levels; ///< m_levels[k][i]: hash over leaves i * 2^k .. (i + 1) * 2^k - 1, complete ones only
};

} // namespace assay::merkle
