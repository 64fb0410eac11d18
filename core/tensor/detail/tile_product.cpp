// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/tile_product.h"

#include <algorithm>
#include <cstring>

#include <cblas.h>

#include "core/tensor/detail/product_loops.h"

namespace assay::tensor::detail {
namespace {

// Tiles of 256 x 512 results with their sums and corrections, and operands of 2048 terms at a time, stay in a few MiB.
// Persistent within a profile: the library may choose its order by the sizes it is called with.
constexpr std::uint64_t kTileRows = 256;
constexpr std::uint64_t kTileColumns = 512;
constexpr std::uint64_t kTerms = 2048; ///< most terms converted at once; longer blocks go on with beta = 1
constexpr std::uint64_t kConvertPerTask = 1U << 16;

void forEach(ThreadPool* pool, std::uint64_t lines, std::uint64_t perLine, const ThreadPool::Body& body) {
    const std::uint64_t grain = std::max<std::uint64_t>(1, kConvertPerTask / std::max<std::uint64_t>(1, perLine));
    if (pool == nullptr || pool->threads() == 1 || lines < 2 * grain) {
        body(0, lines);
    } else {
        pool->parallelFor(lines, grain, body);
    }
}

} // namespace

struct TileMultiplier::Tile {
    const TileOperands& operands;
    const ProductOrder& order;
    const ProductLoops& loops;
    ThreadPool* pool;
    std::uint64_t row0, row1; ///< rows of a
    std::uint64_t col0, col1; ///< columns over all items
    [[nodiscard]] std::uint64_t rows() const { return row1 - row0; }
    [[nodiscard]] std::uint64_t columns() const { return col1 - col0; }
};

void TileMultiplier::packA(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out) {
    const TileOperands& o = tile.operands;
    const std::uint64_t terms = k1 - k0;
    if (!o.aTransposed) {
        const auto convert = tile.order.reversed ? tile.loops.widenReversed : tile.loops.widen;
        forEach(tile.pool, tile.rows(), terms, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t r = begin; r < end; ++r) {
                convert(o.a + (tile.row0 + r) * o.k + k0, out + r * terms, terms);
            }
        });
        return;
    }
    forEach(tile.pool, terms, tile.rows(), [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t t = begin; t < end; ++t) {
            const std::uint64_t to = tile.order.reversed ? terms - 1 - t : t;
            tile.loops.widen(o.a + (k0 + t) * o.m + tile.row0, out + to * tile.rows(), tile.rows());
        }
    });
}

void TileMultiplier::packB(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out) {
    const TileOperands& o = tile.operands;
    const std::uint64_t terms = k1 - k0;
    const std::uint64_t columns = tile.columns();
    if (o.b == nullptr) { // the whole width of one item
        float* rows = m_rows.reserve(terms * o.n);
        forEach(tile.pool, terms, o.n * 2, [&](std::uint64_t begin, std::uint64_t end) {
            o.source->rows(o.sourceItem, k0 + begin, k0 + end, rows + begin * o.n);
            for (std::uint64_t t = begin; t < end; ++t) {
                const std::uint64_t to = tile.order.reversed ? terms - 1 - t : t;
                tile.loops.widen(rows + t * o.n + tile.col0, out + to * columns, columns);
            }
        });
        return;
    }
    if (o.bTransposed) {
        const auto convert = tile.order.reversed ? tile.loops.widenReversed : tile.loops.widen;
        forEach(tile.pool, columns, terms, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t c = begin; c < end; ++c) {
                const std::uint64_t item = (tile.col0 + c) / o.n;
                const std::uint64_t column = (tile.col0 + c) % o.n;
                convert(o.b + item * o.bStride + column * o.k + k0, out + c * terms, terms);
            }
        });
        return;
    }
    forEach(tile.pool, terms, columns, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t t = begin; t < end; ++t) {
            const std::uint64_t to = tile.order.reversed ? terms - 1 - t : t;
            for (std::uint64_t c = tile.col0; c < tile.col1;) {
                const std::uint64_t item = c / o.n;
                const std::uint64_t run = std::min(tile.col1, (item + 1) * o.n) - c;
                tile.loops.widen(o.b + item * o.bStride + (k0 + t) * o.n + c % o.n,
                                 out + to * columns + (c - tile.col0), run);
                c += run;
            }
        }
    });
}

void TileMultiplier::gemm(const Tile& tile, std::uint64_t k0, std::uint64_t k1, bool accumulate, double* out,
                          std::uint64_t stride) {
    const std::uint64_t terms = k1 - k0;
    double* a = m_a.reserve(tile.rows() * terms);
    double* b = m_b.reserve(tile.columns() * terms);
    packA(tile, k0, k1, a);
    packB(tile, k0, k1, b);
    const bool at = tile.operands.aTransposed;
    const bool bt = tile.operands.bTransposed && tile.operands.b != nullptr;
    const auto number = [](std::uint64_t x) { return static_cast<blasint>(x); };
    cblas_dgemm(CblasRowMajor, at ? CblasTrans : CblasNoTrans, bt ? CblasTrans : CblasNoTrans, number(tile.rows()),
                number(tile.columns()), number(terms), 1.0, a, number(at ? tile.rows() : terms), b,
                number(bt ? terms : tile.columns()), accumulate ? 1.0 : 0.0, out, number(stride));
}

/// One block: terms k0 .. k1-1 in whatever order, starting from zero. Reversed means the last term first.
void TileMultiplier::segment(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out, std::uint64_t stride) {
    const auto half = [&](std::uint64_t from, std::uint64_t to, double* into, std::uint64_t intoStride) {
        for (std::uint64_t done = 0; done < to - from; done += kTerms) {
            const std::uint64_t count = std::min(kTerms, to - from - done);
            const std::uint64_t begin = tile.order.reversed ? to - done - count : from + done;
            gemm(tile, begin, begin + count, done != 0, into, intoStride);
        }
    };
    const std::uint64_t middle = k0 + (k1 - k0) / 2;
    if (!tile.order.splitK || middle == k0) {
        half(k0, k1, out, stride);
        return;
    }
    half(k0, middle, out, stride);
    double* second = m_half.reserve(tile.rows() * tile.columns());
    half(middle, k1, second, tile.columns());
    for (std::uint64_t r = 0; r < tile.rows(); ++r) {
        tile.loops.add(out + r * stride, second + r * tile.columns(), tile.columns());
    }
}

void TileMultiplier::multiply(const TileOperands& operands, const ProductOrder& order, std::uint64_t firstRow,
                              std::uint64_t lastRow, std::uint64_t items, const TileTarget& target, ThreadPool* pool) {
    const std::uint64_t k = operands.k;
    const std::uint64_t n = operands.n;
    const std::uint64_t block = order.blocked ? order.block : std::max<std::uint64_t>(k, 1);
    const std::uint64_t allColumns = items * n;
    // Rows that have to be generated are generated once per row tile, in their full width.
    const std::uint64_t tileColumns = operands.b == nullptr ? std::max<std::uint64_t>(n, 1) : kTileColumns;
    const ProductLoops& loops = productLoops();
    for (std::uint64_t col0 = 0; col0 < allColumns; col0 += tileColumns) {
        const std::uint64_t col1 = std::min(allColumns, col0 + tileColumns);
        for (std::uint64_t row0 = firstRow; row0 < lastRow; row0 += kTileRows) {
            const Tile tile{operands, order, loops, pool, row0, std::min(lastRow, row0 + kTileRows), col0, col1};
            const std::uint64_t columns = tile.columns();
            const std::uint64_t size = tile.rows() * columns;
            const auto place = [&](std::uint64_t r, std::uint64_t item) {
                return target.y + (item * target.rows + (row0 - firstRow) + r) * target.columns;
            };
            if (k <= block && target.map == nullptr && col0 / n == (col1 - 1) / n && k > 0) {
                segment(tile, 0, k, place(0, col0 / n) + col0 % n, target.columns);
                continue;
            }
            double* sum = m_sum.reserve(size);
            if (k == 0) {
                std::fill_n(sum, size, 0.0);
            } else {
                segment(tile, 0, std::min(k, block), sum, columns);
            }
            if (k > block) {
                double* correction = m_correction.reserve(size);
                double* next = m_block.reserve(size);
                std::fill_n(correction, size, 0.0);
                for (std::uint64_t k0 = block; k0 < k; k0 += block) {
                    segment(tile, k0, std::min(k, k0 + block), next, columns);
                    loops.addBlock(sum, correction, next, size);
                }
                loops.finishBlocks(sum, correction, sum, size);
            }
            for (std::uint64_t r = 0; r < tile.rows(); ++r) {
                const double* from = sum + r * columns;
                for (std::uint64_t c = col0; c < col1;) {
                    const std::uint64_t run = std::min(col1, (c / n + 1) * n) - c;
                    double* to = place(r, c / n);
                    if (target.map == nullptr) {
                        std::memcpy(to + c % n, from + (c - col0), run * sizeof(double));
                    } else {
                        for (std::uint64_t i = 0; i < run; ++i) {
                            to[target.map[c % n + i]] = from[c - col0 + i];
                        }
                    }
                    c += run;
                }
            }
        }
    }
}

} // namespace assay::tensor::detail
