// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/host_device.h"

/// The one specified order of every reduction that is not a matrix product. A sum of n terms:
/// 1. Terms are cut into chunks of 1024 consecutive terms (the last may be shorter).
/// 2. In a chunk, lane l of 16 starts at +0 and adds the terms l, l+16, l+32, ... in that order. Then lane i += lane i+8 for i < 8,
///    i+4 for i < 4, i+2 for i < 2, i+1 for i < 1; lane 0 is the chunk's sum.
/// 3. The chunk sums are combined by pairing neighbours (2i, 2i+1) level by level; an odd last one passes up unchanged.
/// The result depends on nothing else: no thread count, vector width or device. An empty sum is +0.
namespace assay::arith {

inline constexpr std::uint64_t kTreeChunk = 1024;
inline constexpr std::uint64_t kTreeLanes = 16;

/// Combines chunk sums as they come, in order: equivalent to step 3 with O(log n) memory. A level holds at most one pending sum;
/// the final fold joins pending sums from the lowest level up, which is what "odd one passes up unchanged" gives.
class TreeCombiner {
public:
    ASSAY_HD void add(double sum) {
        std::uint64_t count = m_count++;
        std::uint32_t level = 0;
        while ((count & 1u) != 0) {
            sum = m_pending[level] + sum;
            count >>= 1;
            ++level;
        }
        m_pending[level] = sum;
    }
    [[nodiscard]] ASSAY_HD double total() const {
        bool any = false;
        double sum = 0.0;
        std::uint64_t count = m_count;
        for (std::uint32_t level = 0; count != 0; ++level, count >>= 1) {
            if ((count & 1u) != 0) {
                sum = any ? m_pending[level] + sum : m_pending[level];
                any = true;
            }
        }
        return sum;
    }

private:
    double m_pending[54] = {};
    std::uint64_t m_count = 0;
};

ASSAY_HD inline double foldLanes(double* lane) {
    for (std::uint64_t stride = kTreeLanes / 2; stride > 0; stride /= 2) {
        for (std::uint64_t i = 0; i < stride; ++i) {
            lane[i] += lane[i + stride];
        }
    }
    return lane[0];
}

/// Sum of term(0) .. term(n-1) in the specified order. `term` is called once per index, in index order.
template <typename Term>
ASSAY_HD inline double treeSum(std::uint64_t n, Term term) {
    TreeCombiner combiner;
    for (std::uint64_t start = 0; start < n; start += kTreeChunk) {
        const std::uint64_t length = n - start < kTreeChunk ? n - start : kTreeChunk;
        double lane[kTreeLanes] = {};
        std::uint64_t i = 0;
        for (; i + kTreeLanes <= length; i += kTreeLanes) {
            for (std::uint64_t l = 0; l < kTreeLanes; ++l) {
                lane[l] += term(start + i + l);
            }
        }
        for (std::uint64_t l = 0; i + l < length; ++l) {
            lane[l] += term(start + i + l);
        }
        combiner.add(foldLanes(lane));
    }
    return combiner.total();
}

/// Sums of `columns` interleaved sequences in the specified order, each as treeSum would: out[c] = sum over r of term(r, c), c in
/// [0, columns). Reads rows in order, so row-major data is streamed once. `columns` <= kTreeColumnBlock.
inline constexpr std::uint64_t kTreeColumnBlock = 16;
template <typename Term>
ASSAY_HD inline void treeSumColumns(std::uint64_t rows, std::uint64_t columns, Term term, double* out) {
    TreeCombiner combiner[kTreeColumnBlock];
    for (std::uint64_t start = 0; start < rows; start += kTreeChunk) {
        const std::uint64_t length = rows - start < kTreeChunk ? rows - start : kTreeChunk;
        double lane[kTreeLanes][kTreeColumnBlock] = {};
        for (std::uint64_t i = 0; i < length; ++i) {
            double* sums = lane[i % kTreeLanes];
            for (std::uint64_t c = 0; c < columns; ++c) {
                sums[c] += term(start + i, c);
            }
        }
        for (std::uint64_t stride = kTreeLanes / 2; stride > 0; stride /= 2) {
            for (std::uint64_t i = 0; i < stride; ++i) {
                for (std::uint64_t c = 0; c < columns; ++c) {
                    lane[i][c] += lane[i + stride][c];
                }
            }
        }
        for (std::uint64_t c = 0; c < columns; ++c) {
            combiner[c].add(lane[0][c]);
        }
    }
    for (std::uint64_t c = 0; c < columns; ++c) {
        out[c] = combiner[c].total();
    }
}

} // namespace assay::arith
