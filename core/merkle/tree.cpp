// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/tree.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/crypto/sha256.h"

namespace assay::merkle {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

crypto::Sha256& hasher() {
    thread_local crypto::Sha256 instance;
    return instance;
}

/// The largest power of two below n. Precondition: n >= 2.
std::uint64_t splitOf(std::uint64_t n) {
    return std::bit_floor(n - 1);
}

} // namespace

Digest leafHash(base::ByteView data) {
    constexpr std::uint8_t kLeafPrefix = 0x00;
    auto& hash = hasher();
    hash.update({&kLeafPrefix, 1});
    hash.update(data);
    return hash.finish();
}

Digest nodeHash(const Digest& left, const Digest& right) {
    std::uint8_t bytes[65];
    bytes[0] = 0x01;
    std::copy(left.bytes.begin(), left.bytes.end(), bytes + 1);
    std::copy(right.bytes.begin(), right.bytes.end(), bytes + 33);
    return crypto::sha256(bytes);
}

Digest emptyRoot() {
    return crypto::sha256({});
}

Digest rootOf(std::span<const Digest> leafHashes) {
    // Subtrees waiting for a right neighbour, like the digits of a binary counter.
    std::vector<Digest> pending;
    std::uint64_t count = 0;
    for (auto hash : leafHashes) {
        for (std::uint64_t digits = count; (digits & 1) != 0; digits >>= 1) {
            hash = nodeHash(pending.back(), hash);
            pending.pop_back();
        }
        pending.push_back(hash);
        ++count;
    }
    if (pending.empty()) {
        return emptyRoot();
    }
    Digest root = pending.back();
    for (std::size_t i = pending.size() - 1; i-- > 0;) {
        root = nodeHash(pending[i], root);
    }
    return root;
}

void Tree::append(const Digest& hash) {
    Digest carry = hash;
    for (std::size_t level = 0;; ++level) {
        if (level == m_levels.size()) {
            m_levels.emplace_back();
        }
        auto& row = m_levels[level];
        row.push_back(carry);
        if (row.size() % 2 != 0) {
            return;
        }
        carry = nodeHash(row[row.size() - 2], row[row.size() - 1]);
    }
}

void Tree::append(std::span<const Digest> leafHashes) {
    for (const auto& hash : leafHashes) {
        append(hash);
    }
}

Digest Tree::subtree(std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t n = end - begin;
    if (std::has_single_bit(n)) {
        const auto level = static_cast<std::size_t>(std::countr_zero(n));
        return m_levels[level][begin >> level]; // splits keep begin a multiple of n
    }
    const std::uint64_t k = splitOf(n);
    return nodeHash(subtree(begin, begin + k), subtree(begin + k, end));
}

Result<Digest> Tree::root(TreeSize wanted) const {
    if (wanted > size()) {
        return fail(ErrorCode::usage,
                    fmt::format("the tree has {} leaves, a root over {} was asked for", size().value, wanted.value));
    }
    return wanted.value == 0 ? emptyRoot() : subtree(0, wanted.value);
}

void Tree::path(std::uint64_t index, std::uint64_t begin, std::uint64_t end, std::vector<Digest>& proof) const {
    if (end - begin == 1) {
        return;
    }
    const std::uint64_t middle = begin + splitOf(end - begin);
    if (index < middle) {
        path(index, begin, middle, proof);
        proof.push_back(subtree(middle, end));
    } else {
        path(index, middle, end, proof);
        proof.push_back(subtree(begin, middle));
    }
}

Result<std::vector<Digest>> Tree::inclusionProof(LeafIndex index, TreeSize wanted) const {
    if (wanted > size() || index.value >= wanted.value) {
        return fail(ErrorCode::usage,
                    fmt::format("no leaf {} in a tree of {} of {} leaves", index.value, wanted.value, size().value));
    }
    std::vector<Digest> proof;
    path(index.value, 0, wanted.value, proof);
    return proof;
}

void Tree::consistency(std::uint64_t oldSize, std::uint64_t begin, std::uint64_t end, bool whole,
                       std::vector<Digest>& proof) const {
    if (oldSize == end) {
        if (!whole) {
            proof.push_back(subtree(begin, end));
        }
        return;
    }
    const std::uint64_t middle = begin + splitOf(end - begin);
    if (oldSize <= middle) {
        consistency(oldSize, begin, middle, whole, proof);
        proof.push_back(subtree(middle, end));
    } else {
        consistency(oldSize, middle, end, false, proof);
        proof.push_back(subtree(begin, middle));
    }
}

Result<std::vector<Digest>> Tree::consistencyProof(TreeSize oldSize, TreeSize newSize) const {
    if (oldSize.value == 0 || oldSize > newSize || newSize > size()) {
        return fail(ErrorCode::usage, fmt::format("no consistency proof from {} to {} leaves in a tree of {}",
                                                  oldSize.value, newSize.value, size().value));
    }
    std::vector<Digest> proof;
    consistency(oldSize.value, 0, newSize.value, true, proof);
    return proof;
}

} // namespace assay::merkle
