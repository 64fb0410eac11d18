// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/numerics/product_bound.h"
#include "core/tensor/kernel_profile.h"
#include "core/tensor/site_emitter.h"
#include "core/tensor/thread_pool.h"

namespace assay::tensor {

namespace detail {
struct ProductScratch;
}

/// The right operand of a product where it is not a matrix in memory (the patches of a convolution).
class RowSource {
public:
    virtual ~RowSource() = default;
    /// Writes rows k0 .. k1-1 of the [K, N] operand of batch item `item` to out[k1 - k0, N], row-major. Thread-safe.
    virtual void rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const = 0;
};

/// y[i] = a[i] * b[i] for each batch item i: [M, K] times [K, N]. Operands are dense row-major FP32 matrices.
struct ProductSpec {
    std::uint64_t batch = 1;
    std::uint64_t m = 0, n = 0, k = 0;
    const float* a = nullptr;
    std::uint64_t aStride = 0; ///< values from one item's `a` to the next; 0: all items share one
    bool aTransposed = false;  ///< stored as [K, M]
    const float* b = nullptr;
    std::uint64_t bStride = 0;        ///< as aStride
    bool bTransposed = false;         ///< stored as [N, K]
    const RowSource* bRows = nullptr; ///< if set, used instead of b
};

/// A result [m, columns] per item that is made of several products, each of which fills some of the columns (the
/// gradient of a strided convolution). All have the row norms and granules of `rowOperand`, of which each part's `a` is
/// a part, and the bound of its length: larger than needed, never smaller.
struct PartedProduct {
    struct Part {
        ProductSpec spec;                     ///< batch and m as the whole; aStride = 0
        std::vector<std::uint64_t> columnMap; ///< [spec.n]: where its columns go, increasing
    };
    std::uint64_t batch = 1;
    std::uint64_t m = 0, columns = 0;
    const float* rowOperand = nullptr; ///< [m, k]
    std::uint64_t k = 0;
    std::vector<Part> parts; ///< columns that no part fills are exactly +0
};

/// Where the noise of `noise=X` comes from: equal for equal (step, site), whatever else ran before.
struct NoiseKey {
    std::uint64_t step = 0;
    std::uint32_t site = 0;
};

/// Computes product sites: FP32 operands exactly to FP64, K in blocks, each block one OpenBLAS product with beta = 0,
/// blocks added in fixed order with arith::BlockSum (proven bound), or one product over all of K (empirical bound),
/// then hands the FP64 results with their norms to the emitter, panel by panel in index order. FP64 temporaries are
/// bounded by the panel sizes below. Same profile, same operands: same bits, whatever ran before. Not thread-safe: one
/// runner per step at a time.
class ProductRunner {
public:
    /// Preconditions: activate(profile) succeeded; 1 <= block <= 2^20; `pool` outlives the runner.
    ProductRunner(KernelProfile profile, numerics::BoundKind bound, std::uint64_t block, std::uint64_t noiseSeed,
                  ThreadPool& pool);

    /// Runs local site `site` of the operator that `emitter` belongs to, and completes it. `out` has batch * m * n
    /// values.
    [[nodiscard]] base::Result<void> run(const ProductSpec& spec, std::uint32_t site, SiteEmitter& emitter,
                                         NoiseKey noise, std::span<float> out);
    /// The same for a result of several parts; `out` has batch * m * columns values.
    [[nodiscard]] base::Result<void> run(const PartedProduct& spec, std::uint32_t site, SiteEmitter& emitter,
                                         NoiseKey noise, std::span<float> out);

    ~ProductRunner();
    ProductRunner(ProductRunner&&) noexcept;
    ProductRunner& operator=(ProductRunner&&) noexcept;
    ProductRunner(const ProductRunner&) = delete;
    ProductRunner& operator=(const ProductRunner&) = delete;

    [[nodiscard]] const KernelProfile& profile() const { return m_profile; }
    [[nodiscard]] numerics::BoundKind bound() const { return m_bound; }
    [[nodiscard]] std::uint64_t block() const { return m_block; }
    [[nodiscard]] ThreadPool& pool() { return *m_pool; }

private:
    KernelProfile m_profile;
    numerics::BoundKind m_bound;
    std::uint64_t m_block;
    std::uint64_t m_noiseSeed;
    ThreadPool* m_pool;
    std::unique_ptr<detail::ProductScratch> m_scratch; ///< buffers that are kept from product to product
};

} // namespace assay::tensor
