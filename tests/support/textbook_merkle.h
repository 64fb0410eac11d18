// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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
inline std::size_t split(std::size_t n) {
    std::size_t k = 1;
    while (2 * k < n) {
        k *= 2;
    }
    return k;
}
/// MTH over leaf hashes.
inline base::Digest root(std::span<const base::Digest> d) {
    if (d.empty()) {
        return crypto::sha256({});
    }
    if (d.size() == 1) {
        return d[0];
    }
    const auto k = split(d.size());
    return node(root(d.first(k)), root(d.subspan(k)));
}
/// PATH(m, D_n)
inline std::vector<base::Digest> path(std::size_t m, std::span<const base::Digest> d) {
    if (d.size() == 1) {
        return {};
    }
    const auto k = split(d.size());
    auto proof = m < k ? path(m, d.first(k)) : path(m - k, d.subspan(k));
    proof.push_back(m < k ? root(d.subspan(k)) : root(d.first(k)));
    return proof;
}
/// SUBPROOF(m, D_n, b)
inline std::vector<base::Digest> subproof(std::size_t m, std::span<const base::Digest> d, bool complete) {
    if (m == d.size()) {
        return complete ? std::vector<base::Digest>{} : std::vector<base::Digest>{root(d)};
    }
    const auto k = split(d.size());
    auto proof = m <= k ? subproof(m, d.first(k), complete) : subproof(m - k, d.subspan(k), false);
    proof.push_back(m <= k ? root(d.subspan(k)) : root(d.first(k)));
    return proof;
}

} // namespace assay::textbook
