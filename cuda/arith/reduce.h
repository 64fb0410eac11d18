// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/arith/host_device.h"

/// The one summation order of everything that is not a matrix product. Persistent: changing it changes every
/// commitment.
///
/// For terms t[0] .. t[n-1]:
///  1. Cut into chunks of 1024 consecutive terms (the last may be shorter).
///  2. In a chunk, lane l of 16 adds the terms l, l + 16, l + 32, ... one after the other, starting with the first
///  itself.
///  3. The lanes are combined pairwise with strides 8, 4, 2, 1: lane i += lane i + stride. Lane 0 is the chunk's sum.
///  4. The chunk sums are combined in a balanced tree: neighbours (2i, 2i+1) are added, left operand first; an odd last
///  one
///     passes up unchanged; repeat until one value is left.
/// A lane without terms adds nothing. The empty sum is +0. Every addition is one FP64 addition.
///
/// The order depends on n alone: not on threads, vector width or device. With at most 2^40 terms no term passes through
/// more than 63 + 4 + 30 = 97 additions.
namespace assay::arith {

inline constexpr std::uint64_t kTreeChunk = 1024;
inline constexpr std::uint64_t kTreeLanes = 16;

namespace detail {

/// -0 is the neutral element of IEEE addition: -0 + x is x for every x, both zeros included. Lanes start with it, so
/// that "starts with the first term" and "a missing term adds nothing" need no branches.
inline constexpr double kNeutral = -0.0;

/// Combines values that arrive in order as step 4 says, for W independent sums at once. Like a binary counter: bit b of
/// the number of chunks seen so far tells whether slot b holds the sum of a complete group of 2^b chunks.
template <int W>
struct TreeStack {
    double slot[54][W];
    std::uint64_t seen = 0;

    ASSAY_HD ASSAY_INLINE void push(const double* chunk) {
        double carry[W];
        for (int w = 0; w < W; ++w) {
            carry[w] = chunk[w];
        }
        int level = 0;
        for (std::uint64_t rest = seen; (rest & 1U) != 0; rest >>= 1, ++level) {
            for (int w = 0; w < W; ++w) {
                carry[w] = slot[level][w] + carry[w];
            }
        }
        for (int w = 0; w < W; ++w) {
            slot[level][w] = carry[w];
        }
        ++seen;
    }

    /// Combines what is left, from the right (small groups) to the left. Leaves +0 where nothing was pushed.
    ASSAY_HD ASSAY_INLINE void finish(double* out) const {
        bool first = true;
        for (int w = 0; w < W; ++w) {
            out[w] = 0.0;
        }
        for (int level = 0; level < 54; ++level) {
            if (((seen >> level) & 1U) == 0) {
                continue;
            }
            for (int w = 0; w < W; ++w) {
                out[w] = first ? slot[level][w] : slot[level][w] + out[w];
            }
            first = false;
        }
    }
};

/// Steps 2 and 3 for the terms begin .. end-1 of one chunk.
template <typename F>
[[nodiscard]] ASSAY_HD ASSAY_INLINE double chunkSum(std::uint64_t begin, std::uint64_t end, F&& term) {
    double lane[kTreeLanes];
    for (std::uint64_t l = 0; l < kTreeLanes; ++l) {
        lane[l] = kNeutral;
    }
    std::uint64_t at = begin;
    for (; at + kTreeLanes <= end; at += kTreeLanes) {
        for (std::uint64_t l = 0; l < kTreeLanes; ++l) {
            lane[l] += term(at + l);
        }
    }
    for (std::uint64_t l = 0; at + l < end; ++l) {
        lane[l] += term(at + l);
    }
    for (std::uint64_t l = 0; l < 8; ++l) {
        lane[l] += lane[l + 8];
    }
    for (std::uint64_t l = 0; l < 4; ++l) {
        lane[l] += lane[l + 4];
    }
    lane[0] += lane[2];
    lane[1] += lane[3];
    return lane[0] + lane[1];
}

} // namespace detail

/// Sum of term(0) .. term(n-1), term(i) -> double, in the specified order. `term` is called once per index.
template <typename F>
[[nodiscard]] ASSAY_HD ASSAY_INLINE double treeSum(std::uint64_t n, F&& term) {
    if (n == 0) {
        return 0.0;
    }
    if (n <= kTreeChunk) {
        return detail::chunkSum(0, n, term);
    }
    detail::TreeStack<1> stack;
    for (std::uint64_t begin = 0; begin < n; begin += kTreeChunk) {
        const std::uint64_t end = n - begin < kTreeChunk ? n : begin + kTreeChunk;
        const double chunk = detail::chunkSum(begin, end, term);
        stack.push(&chunk);
    }
    double sum = 0.0;
    stack.finish(&sum);
    return sum;
}

[[nodiscard]] ASSAY_HD inline double treeSum(const float* x, std::uint64_t n) {
    return treeSum(n, [x](std::uint64_t i) { return static_cast<double>(x[i]); });
}
[[nodiscard]] ASSAY_HD inline double treeSum(const double* x, std::uint64_t n) {
    return treeSum(n, [x](std::uint64_t i) { return x[i]; });
}
/// The squares of FP32 values are exact in FP64.
[[nodiscard]] ASSAY_HD inline double treeSumSquares(const float* x, std::uint64_t n) {
    return treeSum(n, [x](std::uint64_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}
/// The products of FP32 values are exact in FP64.
[[nodiscard]] ASSAY_HD inline double treeDot(const float* a, const float* b, std::uint64_t n) {
    return treeSum(n, [a, b](std::uint64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

namespace detail {

/// Columns first .. first + width - 1 (width <= W) of treeSumColumns, W independent trees side by side.
template <int W, typename F>
ASSAY_HD ASSAY_INLINE void treeSumTile(std::uint64_t rows, std::uint64_t first, std::uint64_t width, F& term,
                                       double* out) {
    TreeStack<W> stack;
    for (std::uint64_t begin = 0; begin < rows; begin += kTreeChunk) {
        const std::uint64_t end = rows - begin < kTreeChunk ? rows : begin + kTreeChunk;
        double lane[kTreeLanes][W];
        for (auto& row : lane) {
            for (double& value : row) {
                value = kNeutral;
            }
        }
        for (std::uint64_t r = begin; r < end; ++r) {
            double* into = lane[(r - begin) % kTreeLanes];
            if (width == W) {
                for (int w = 0; w < W; ++w) {
                    into[w] += term(r, first + static_cast<std::uint64_t>(w));
                }
            } else {
                for (std::uint64_t w = 0; w < width; ++w) {
                    into[w] += term(r, first + w);
                }
            }
        }
        for (std::uint64_t stride = kTreeLanes / 2; stride > 0; stride /= 2) {
            for (std::uint64_t l = 0; l < stride; ++l) {
                for (int w = 0; w < W; ++w) {
                    lane[l][w] += lane[l + stride][w];
                }
            }
        }
        stack.push(lane[0]);
    }
    double sum[W];
    stack.finish(sum);
    for (std::uint64_t w = 0; w < width; ++w) {
        out[first + w] = sum[w];
    }
}

} // namespace detail

/// out[c] = treeSum(rows, [&](r) { return term(r, c); }) for c < cols, the same bits, with the rows as the outer loop
/// so that row-major data is read in order. term(r, c) -> double, called once per pair.
template <typename F>
ASSAY_HD ASSAY_INLINE void treeSumColumns(std::uint64_t rows, std::uint64_t cols, F&& term, double* out) {
    std::uint64_t first = 0;
    for (; first + 64 <= cols; first += 64) {
        detail::treeSumTile<64>(rows, first, 64, term, out);
    }
    for (; first < cols; first += 16) {
        detail::treeSumTile<16>(rows, first, cols - first < 16 ? cols - first : 16, term, out);
    }
}

/// Index of the largest of value(0) .. value(n-1); the lowest index wins among equals (both zeros are equal); the first
/// NaN, if there is one, wins over everything. Precondition: n > 0.
template <typename F>
[[nodiscard]] ASSAY_HD ASSAY_INLINE std::uint64_t argMax(std::uint64_t n, F&& value) {
    std::uint64_t best = 0;
    auto bestValue = value(std::uint64_t{0});
    for (std::uint64_t i = 1; i < n && bestValue == bestValue; ++i) {
        const auto candidate = value(i);
        if (candidate > bestValue || candidate != candidate) {
            best = i;
            bestValue = candidate;
        }
    }
    return best;
}

/// value(argMax(n, value)): the maximum, NaN if any value is NaN. Precondition: n > 0.
template <typename F>
[[nodiscard]] ASSAY_HD ASSAY_INLINE auto maxOf(std::uint64_t n, F&& value) {
    return value(argMax(n, value));
}

} // namespace assay::arith
