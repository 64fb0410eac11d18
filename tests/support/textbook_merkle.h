// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/crypto/sha256.h"

/// RFC 9162 section 2.1 word for word: recursive, slow, and independent of core/merkle.
namespace assay::textbook {

inline base::Digest hashOf(std::uint8_t prefix, std::vector<std::uint8_t> bytes) {
    bytes.insert(bytes.begin(), prefix);
    return crypto::sha256(bytes);
}
inline base::Digest leaf(const std::vector<std::uint8_t>& data) {
    return hashOf(0, data);
}
inline base::Digest node(const base::Digest& a, const base::Digest& b) {
    std::vector<std::uint8_t> bytes(a.bytes.begin(), a.bytes.end());
    bytes.insert(bytes.end(), b.bytes.begin(), b.bytes.end());
    return hashOf(1, bytes);
}
/// The largest power of two smaller than n.
inline std::size_t split(std::size_t n) {
    std::size_t k = 1;
    while (2 * k < n) {
        k *= 2;
    }
    return k;
}

/// The definitions over one list of leaf hashes D; a range is D[begin:end]. Hashes of ranges are remembered, nothing
/// else is clever.
class Tree {
public:
    explicit Tree(std::vector<base::Digest> leaves) : m_leaves(std::move(leaves)) {}

    /// MTH(D[begin:end])
    base::Digest root(std::size_t begin, std::size_t end) {
        if (begin == end) {
            return crypto::sha256({});
        }
        if (end - begin == 1) {
            return m_leaves[begin];
        }
        const auto known = m_roots.find({begin, end});
        if (known != m_roots.end()) {
            return known->second;
        }
        const auto k = split(end - begin);
        const auto hash = node(root(begin, begin + k), root(begin + k, end));
        m_roots.emplace(std::pair(begin, end), hash);
        return hash;
    }
    /// PATH(m, D[begin:end]), m counted from begin
    std::vector<base::Digest> path(std::size_t m, std::size_t begin, std::size_t end) {
        if (end - begin == 1) {
            return {};
        }
        const auto k = split(end - begin);
        auto proof = m < k ? path(m, begin, begin + k) : path(m - k, begin + k, end);
        proof.push_back(m < k ? root(begin + k, end) : root(begin, begin + k));
        return proof;
    }
    /// SUBPROOF(m, D[begin:end], complete), m counted from begin
    std::vector<base::Digest> subproof(std::size_t m, std::size_t begin, std::size_t end, bool complete) {
        if (m == end - begin) {
            return complete ? std::vector<base::Digest>{} : std::vector<base::Digest>{root(begin, end)};
        }
        const auto k = split(end - begin);
        auto proof = m <= k ? subproof(m, begin, begin + k, complete) : subproof(m - k, begin + k, end, false);
        proof.push_back(m <= k ? root(begin + k, end) : root(begin, begin + k));
        return proof;
    }

private:
    std::vector<base::Digest> m_leaves;
    std::map<std::pair<std::size_t, std::size_t>, base::Digest> m_roots;
};

/// MTH(D_n) of leaf hashes.
inline base::Digest root(std::span<const base::Digest> leaves) {
    if (leaves.empty()) {
        return crypto::sha256({});
    }
    if (leaves.size() == 1) {
        return leaves[0];
    }
    const auto k = split(leaves.size());
    return node(root(leaves.first(k)), root(leaves.subspan(k)));
}

/// On which side each hash of PATH(m, D[n]) stands ('L' left, 'R' right), from the leaf upwards. Trees in which a leaf
/// has the same shape cannot be told apart by its path.
inline std::string pathShape(std::size_t m, std::size_t n) {
    if (n == 1) {
        return {};
    }
    const auto k = split(n);
    return m < k ? pathShape(m, k) + "R" : pathShape(m - k, n - k) + "L";
}
/// The same for SUBPROOF(m, D[n], complete); starts with 'o' where the old root itself is the first hash, else with
/// 'h'.
inline std::string subproofShape(std::size_t m, std::size_t n, bool complete) {
    if (m == n) {
        return complete ? "o" : "h";
    }
    const auto k = split(n);
    return m <= k ? subproofShape(m, k, complete) + "R" : subproofShape(m - k, n - k, false) + "L";
}

} // namespace assay::textbook
