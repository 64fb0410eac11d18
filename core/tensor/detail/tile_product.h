// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/numerics/product_bound.h"
#include "core/tensor/product.h"

namespace assay::tensor::detail {

/// Uninitialised 64-byte aligned memory that only grows.
template <typename T>
class Buffer {
public:
    /// At least `count` values, of which the old ones are lost.
    [[nodiscard]] T* reserve(std::uint64_t count) {
        if (count > m_capacity) {
            m_memory.reset();
            m_memory.reset(static_cast<T*>(::operator new[](count * sizeof(T), std::align_val_t{64})));
            m_capacity = count;
        }
        return m_memory.get();
    }

private:
    struct Free {
        void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };
    std::unique_ptr<T[], Free> m_memory;
    std::uint64_t m_capacity = 0;
};

/// What decides the order of additions.
struct ProductOrder {
    bool blocked = true; ///< proven bound: blocks of `block` terms
    std::uint64_t block = 1;
    bool reversed = false;
    bool splitK = false;
};

/// The operands of some batch items of one product. Column c of the tiles is column c % n of item c / n.
struct TileOperands {
    const float* a = nullptr; ///< [m, k], or [k, m] if transposed
    bool aTransposed = false;
    std::uint64_t m = 0, n = 0, k = 0;
    const float* b = nullptr; ///< of the first item; nullptr: `source` gives the rows of the one item `sourceItem`
    std::uint64_t bStride = 0;
    bool bTransposed = false;
    const RowSource* source = nullptr;
    std::uint64_t sourceItem = 0;
};

/// Where results go: row r, column c of item i at y[(i * rows + r - firstRow) * columns + (map ? map[c] : c)].
struct TileTarget {
    double* y = nullptr;
    std::uint64_t rows = 0, columns = 0;
    const std::uint64_t* map = nullptr;
};

/// Multiplies, tile by tile. One object per thread; keeps its buffers. The tiling depends on sizes alone.
class TileMultiplier {
public:
    /// Rows firstRow .. lastRow-1 of `items` items. `pool` (may be null) helps to convert operands.
    void multiply(const TileOperands& operands, const ProductOrder& order, std::uint64_t firstRow,
                  std::uint64_t lastRow, std::uint64_t items, const TileTarget& target, ThreadPool* pool);

private:
    struct Tile;
    void segment(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out, std::uint64_t stride);
    void gemm(const Tile& tile, std::uint64_t k0, std::uint64_t k1, bool accumulate, double* out, std::uint64_t stride);
    void packA(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out);
    void packB(const Tile& tile, std::uint64_t k0, std::uint64_t k1, double* out);

    Buffer<double> m_a, m_b, m_sum, m_correction, m_block, m_half;
    Buffer<float> m_rows;
};

} // namespace assay::tensor::detail
