// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/product.h"

#include <algorithm>
#include <utility>

#include <cblas.h>

#include "core/base/assert.h"
#include "core/tensor/detail/operand_norms.h"
#include "core/tensor/detail/tile_product.h"
#include "cuda/arith/philox.h"

namespace assay::tensor {

using base::Result;
using detail::Norms;
using detail::ProductScratch;
using detail::TileOperands;
using detail::TileTarget;

struct detail::ProductScratch {
    std::vector<TileMultiplier> multipliers;
    Buffer<double> y;
    Buffer<float> patches;
    Norms rows, columns, part;

    TileMultiplier& multiplier(std::size_t i) {
        if (multipliers.size() <= i) {
            multipliers.resize(i + 1);
        }
        return multipliers[i];
    }
};

namespace {

constexpr std::uint64_t kPanelValues = 4ULL << 20; ///< FP64 results held at once (32 MiB), unless 64 rows need more
constexpr std::uint64_t kMinPanelRows = 64;
constexpr std::uint64_t kGroupColumns = 1024;      ///< items that share `a` are joined up to this width
constexpr std::uint64_t kPatchValues = 8ULL << 20; ///< generated operands are held as FP32 up to this size (32 MiB)
constexpr std::uint64_t kSmallProduct = 1ULL
                                        << 22;    ///< multiplications below which one item is not worth several threads
constexpr std::uint64_t kNormValues = 1ULL << 20; ///< norms of batched operands held at once

/// The library uses one thread within this scope.
class OneThread {
public:
    OneThread() : m_before(openblas_get_num_threads()) { openblas_set_num_threads(1); }
    ~OneThread() { openblas_set_num_threads(m_before); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int m_before;
};

/// What one run of a site needs from step to step.
struct Run {
    numerics::BoundKind kind;
    detail::ProductOrder order;
    double noise;
    std::uint64_t noiseSeed;
    NoiseKey key;
    std::uint32_t site;
    SiteEmitter& emitter;
    std::span<float> out;
    ThreadPool& pool;
    std::uint64_t k; ///< of the bound

    [[nodiscard]] double coefficient() const { return numerics::boundCoefficient(kind, k, order.block); }

    /// y += noise * D * uniform(-1, 1), element by element.
    void addNoise(const numerics::ProductSite& panel, double* y) const {
        pool.parallelFor(panel.values(), 1U << 14, [&](std::uint64_t begin, std::uint64_t end) {
            arith::PhiloxBlock words{};
            std::uint64_t held = ~std::uint64_t{0};
            for (std::uint64_t e = begin; e < end; ++e) {
                const std::uint64_t index = panel.indexBase + e;
                if (index / 4 != held) {
                    held = index / 4;
                    words = arith::randomBlock(noiseSeed, key.step, key.site, held);
                }
                const double bound = numerics::elementBound(panel, e / panel.cols, e % panel.cols);
                y[e] += noise * bound * (2.0 * arith::uniform01(words[index % 4]) - 1.0);
            }
        });
    }

    /// Hands a panel to the emitter.
    [[nodiscard]] Result<void> emit(double* y, std::uint64_t rows, std::uint64_t cols, const Norms& rowNorms,
                                    std::uint64_t rowAt, const Norms& colNorms, std::uint64_t colAt,
                                    std::uint64_t indexBase) const {
        const numerics::ProductSite panel{y,
                                          rows,
                                          cols,
                                          rowNorms.norm.data() + rowAt,
                                          colNorms.norm.data() + colAt,
                                          rowNorms.granule.data() + rowAt,
                                          colNorms.granule.data() + colAt,
                                          coefficient(),
                                          indexBase};
        if (noise != 0.0) {
            addNoise(panel, y);
        }
        return emitter.product(site, panel, out.data() + indexBase);
    }
};

detail::ProductOrder orderOf(numerics::BoundKind bound, std::uint64_t block, const KernelProfile& profile) {
    return {bound == numerics::BoundKind::proven, block, profile.reversed, profile.splitK};
}

std::uint64_t panelRows(std::uint64_t m, std::uint64_t columns) {
    return std::min(m, std::max(kMinPanelRows, kPanelValues / std::max<std::uint64_t>(1, columns)));
}

/// One of the products of a result of parts; a plain product is one part without a map.
struct PartView {
    const ProductSpec* spec;
    const std::uint64_t* map;
};

/// Items that all share `a`: joined side by side, so that small images still make products of a useful width.
struct SharedProduct {
    std::uint64_t firstItem = 0, batch = 1; ///< items of the site and of the parts' `b`
    std::uint64_t m = 0, columns = 0;
    const float* rowOperand = nullptr;
    bool rowOperandTransposed = false;
    std::uint64_t k = 0;
    std::span<const PartView> parts;

    [[nodiscard]] std::uint64_t itemsPerGroup() const {
        std::uint64_t items = std::max<std::uint64_t>(1, kGroupColumns / columns);
        items = std::min(items, std::max<std::uint64_t>(1, kPanelValues / (m * columns)));
        for (const PartView& part : parts) {
            if (part.spec->bRows != nullptr) {
                const std::uint64_t values = std::max<std::uint64_t>(1, part.spec->k * part.spec->n);
                items = std::min(items, std::max<std::uint64_t>(1, kPatchValues / values));
            }
        }
        return std::min(items, batch);
    }
};

/// The right operand of a part for some items: in memory, generated into memory, or (too large) row by row.
TileOperands rightOperand(const Run& run, ProductScratch& scratch, const ProductSpec& spec, std::uint64_t item,
                          std::uint64_t items, bool generate) {
    TileOperands o{spec.a, spec.aTransposed, spec.m, spec.n, spec.k, nullptr, 0, false, spec.bRows, item};
    if (spec.bRows == nullptr) {
        o.b = spec.b + item * spec.bStride;
        o.bStride = spec.bStride;
        o.bTransposed = spec.bTransposed;
        return o;
    }
    const std::uint64_t values = spec.k * spec.n;
    if (items * values > kPatchValues) {
        return o;
    }
    float* patches = scratch.patches.reserve(items * values);
    if (generate) {
        const std::uint64_t grain = std::max<std::uint64_t>(1, (1U << 16) / std::max<std::uint64_t>(1, spec.n));
        run.pool.parallelFor(items * spec.k, grain, [&](std::uint64_t begin, std::uint64_t end) {
            while (begin < end) { // a range may reach into the next item
                const std::uint64_t i = begin / spec.k;
                const std::uint64_t last = std::min(end, (i + 1) * spec.k);
                spec.bRows->rows(item + i, begin - i * spec.k, last - i * spec.k, patches + begin * spec.n);
                begin = last;
            }
        });
    }
    o.b = patches;
    o.bStride = values;
    return o;
}

void partNorms(const Run& run, const TileOperands& o, std::uint64_t item, double* norm, double* granule) {
    if (o.b == nullptr) {
        detail::streamedNorms(*o.source, o.sourceItem, o.k, o.n, norm, granule, run.pool);
    } else {
        detail::matrixNorms(o.b + item * o.bStride, o.n, o.k, !o.bTransposed, norm, granule, run.pool);
    }
}

/// Norms of the columns of `items` results, from one part.
void columnNormsOfPart(const Run& run, ProductScratch& scratch, const TileOperands& o, const PartView& part,
                       std::uint64_t items, std::uint64_t columns) {
    for (std::uint64_t i = 0; i < items; ++i) {
        double* norm = scratch.columns.norm.data() + i * columns;
        double* granule = scratch.columns.granule.data() + i * columns;
        if (part.map == nullptr) {
            partNorms(run, o, i, norm, granule);
            continue;
        }
        scratch.part.resize(o.n);
        partNorms(run, o, i, scratch.part.norm.data(), scratch.part.granule.data());
        for (std::uint64_t c = 0; c < o.n; ++c) {
            norm[part.map[c]] = scratch.part.norm[c];
            granule[part.map[c]] = scratch.part.granule[c];
        }
    }
}

Result<void> runShared(const Run& run, ProductScratch& scratch, const SharedProduct& p) {
    if (p.m == 0 || p.columns == 0) {
        return {};
    }
    scratch.rows.resize(p.m);
    detail::matrixNorms(p.rowOperand, p.m, p.k, p.rowOperandTransposed, scratch.rows.norm.data(),
                        scratch.rows.granule.data(), run.pool);
    const bool isParted = p.parts.size() != 1 || p.parts[0].map != nullptr;
    const std::uint64_t group = p.itemsPerGroup();
    const std::uint64_t rowsPerPanel = group > 1 ? p.m : panelRows(p.m, p.columns);
    for (std::uint64_t item = 0; item < p.batch; item += group) {
        const std::uint64_t items = std::min(group, p.batch - item);
        scratch.columns.resize(items * p.columns);
        if (isParted) {
            std::fill(scratch.columns.norm.begin(), scratch.columns.norm.end(), 0.0);
            std::fill(scratch.columns.granule.begin(), scratch.columns.granule.end(), 1.0);
        }
        for (std::uint64_t row0 = 0; row0 < p.m; row0 += rowsPerPanel) {
            const std::uint64_t rows = std::min(rowsPerPanel, p.m - row0);
            double* y = scratch.y.reserve(items * rows * p.columns);
            if (isParted) {
                std::fill_n(y, items * rows * p.columns, 0.0);
            }
            for (const PartView& part : p.parts) {
                const bool isFirst = row0 == 0;
                const TileOperands o =
                    rightOperand(run, scratch, *part.spec, p.firstItem + item, items, isFirst || p.parts.size() > 1);
                if (isFirst) {
                    columnNormsOfPart(run, scratch, o, part, items, p.columns);
                }
                scratch.multiplier(0).multiply(o, run.order, row0, row0 + rows, items,
                                               TileTarget{y, rows, p.columns, part.map}, &run.pool);
            }
            for (std::uint64_t i = 0; i < items; ++i) {
                ASSAY_CHECK(run.emit(y + i * rows * p.columns, rows, p.columns, scratch.rows, row0, scratch.columns,
                                     i * p.columns, ((p.firstItem + item + i) * p.m + row0) * p.columns));
            }
        }
    }
    return {};
}

/// Items with operands of their own, each small: one thread each, several at once.
Result<void> runSmallItems(const Run& run, ProductScratch& scratch, const ProductSpec& spec) {
    const std::uint64_t size = spec.m * spec.n;
    const std::uint64_t group = std::min(
        spec.batch, std::max<std::uint64_t>(1, std::min(kPanelValues / size, kNormValues / std::max(spec.m, spec.n))));
    const std::uint64_t tasks = 4ULL * static_cast<std::uint64_t>(run.pool.threads());
    const OneThread oneThread;
    for (std::uint64_t item = 0; item < spec.batch; item += group) {
        const std::uint64_t items = std::min(group, spec.batch - item);
        double* y = scratch.y.reserve(items * size);
        scratch.rows.resize(items * spec.m);
        scratch.columns.resize(items * spec.n);
        const std::uint64_t grain = (items + tasks - 1) / tasks;
        scratch.multiplier(tasks); // exists before the threads ask for theirs
        run.pool.parallelFor(items, grain, [&](std::uint64_t begin, std::uint64_t end) {
            detail::TileMultiplier& multiplier = scratch.multiplier(begin / grain);
            for (std::uint64_t i = begin; i < end; ++i) {
                const float* a = spec.a + (item + i) * spec.aStride;
                const float* b = spec.b + (item + i) * spec.bStride;
                double* rowNorm = scratch.rows.norm.data() + i * spec.m;
                double* rowGranule = scratch.rows.granule.data() + i * spec.m;
                double* colNorm = scratch.columns.norm.data() + i * spec.n;
                double* colGranule = scratch.columns.granule.data() + i * spec.n;
                spec.aTransposed ? numerics::columnNorms(a, spec.k, spec.m, spec.m, rowNorm, rowGranule)
                                 : numerics::rowNorms(a, spec.m, spec.k, spec.k, rowNorm, rowGranule);
                spec.bTransposed ? numerics::rowNorms(b, spec.n, spec.k, spec.k, colNorm, colGranule)
                                 : numerics::columnNorms(b, spec.k, spec.n, spec.n, colNorm, colGranule);
                const TileOperands o{a, spec.aTransposed, spec.m, spec.n, spec.k, b, 0, spec.bTransposed, nullptr, 0};
                multiplier.multiply(o, run.order, 0, spec.m, 1, TileTarget{y + i * size, spec.m, spec.n, nullptr},
                                    nullptr);
            }
        });
        for (std::uint64_t i = 0; i < items; ++i) {
            ASSAY_CHECK(run.emit(y + i * size, spec.m, spec.n, scratch.rows, i * spec.m, scratch.columns, i * spec.n,
                                 (item + i) * size));
        }
    }
    return {};
}

Result<void> runSpec(const Run& run, ProductScratch& scratch, const ProductSpec& spec) {
    if (spec.m == 0 || spec.n == 0) {
        return {};
    }
    const bool isShared = spec.aStride == 0 || spec.batch == 1;
    if (!isShared && spec.m * spec.n * spec.k <= kSmallProduct) {
        return runSmallItems(run, scratch, spec);
    }
    // Items of their own, each large: one after the other.
    const std::uint64_t step = isShared ? spec.batch : 1;
    for (std::uint64_t item = 0; item < spec.batch; item += step) {
        ProductSpec one = spec;
        one.a = spec.a + item * spec.aStride;
        const PartView part{&one, nullptr};
        const SharedProduct shared{item, step, spec.m, spec.n, one.a, spec.aTransposed, spec.k, {&part, 1}};
        ASSAY_CHECK(runShared(run, scratch, shared));
    }
    return {};
}

} // namespace

ProductRunner::ProductRunner(KernelProfile profile, numerics::BoundKind bound, std::uint64_t block,
                             std::uint64_t noiseSeed, ThreadPool& pool)
    : m_profile(std::move(profile)), m_bound(bound), m_block(block), m_noiseSeed(noiseSeed), m_pool(&pool),
      m_scratch(std::make_unique<ProductScratch>()) {
    ASSAY_ASSERT(block >= 1 && block <= (1U << 20));
}
ProductRunner::~ProductRunner() = default;
ProductRunner::ProductRunner(ProductRunner&&) noexcept = default;
ProductRunner& ProductRunner::operator=(ProductRunner&&) noexcept = default;

Result<void> ProductRunner::run(const ProductSpec& spec, std::uint32_t site, SiteEmitter& emitter, NoiseKey noise,
                                std::span<float> out) {
    ASSAY_ASSERT(out.size() == spec.batch * spec.m * spec.n);
    ASSAY_ASSERT(spec.bRows == nullptr || spec.aStride == 0);
    const Run run{
        m_bound, orderOf(m_bound, m_block, m_profile), m_profile.noise, m_noiseSeed, noise, site, emitter, out, *m_pool,
        spec.k};
    ASSAY_CHECK(runSpec(run, *m_scratch, spec));
    return emitter.completed(site, out);
}

Result<void> ProductRunner::run(const PartedProduct& spec, std::uint32_t site, SiteEmitter& emitter, NoiseKey noise,
                                std::span<float> out) {
    ASSAY_ASSERT(out.size() == spec.batch * spec.m * spec.columns);
    std::vector<PartView> parts;
    for (const PartedProduct::Part& part : spec.parts) {
        ASSAY_ASSERT(part.spec.m == spec.m && part.spec.batch == spec.batch && part.spec.aStride == 0 &&
                     part.columnMap.size() == part.spec.n && part.spec.k <= spec.k);
        if (part.spec.n > 0) {
            parts.push_back({&part.spec, part.columnMap.data()});
        }
    }
    const Run run{
        m_bound, orderOf(m_bound, m_block, m_profile), m_profile.noise, m_noiseSeed, noise, site, emitter, out, *m_pool,
        spec.k};
    const SharedProduct shared{0, spec.batch, spec.m, spec.columns, spec.rowOperand, false, spec.k, parts};
    ASSAY_CHECK(runShared(run, *m_scratch, shared));
    return emitter.completed(site, out);
}

} // namespace assay::tensor
