// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/rounding_log.h"

/// The pass over the FP64 result of a product: bound, interval test, rounding, and compaction of the few doubtful elements in index
/// order. One scalar reference and explicit SIMD versions with the same bits, chosen at run time.
namespace assay::numerics {

/// A panel of one product site: rows x cols FP64 values, contiguous. Element (i, j) has the index indexBase + i * cols + j.
struct ProductSite {
    const double* y = nullptr;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const double* rowNorm = nullptr;    ///< rows values
    const double* rowGranule = nullptr; ///< rows values
    const double* colNorm = nullptr;    ///< cols values
    const double* colGranule = nullptr; ///< cols values
    double coefficient = 0.0;           ///< productCoefficient of the site
    std::uint64_t indexBase = 0;
};

/// Bound of element (i, j) of a panel.
[[nodiscard]] double panelBound(const ProductSite& panel, std::uint64_t i, std::uint64_t j);

/// The trainer's side of one site: feed all panels in index order. Not thread-safe; one object per site.
class SiteRecorder {
public:
    /// Rounds the panel into `out` (rows * cols values) and logs what another machine could round differently.
    void pass(const ProductSite& panel, float* out);
    [[nodiscard]] const SiteLog& log() const { return m_log; }
    [[nodiscard]] SiteLog takeLog() { return std::move(m_log); }
    /// False once a value, bound or candidate was not finite; the run then ends as diverged.
    [[nodiscard]] bool isFinite() const { return m_finite; }

private:
    SiteLog m_log;
    std::vector<std::uint64_t> m_doubtful;
    bool m_finite = true;
};

/// The auditor's side of one site: own values y', entries enforced. Feed all panels in index order, then finish().
class SiteEnforcer {
public:
    static constexpr std::size_t kKept = 100; ///< offences and corrections kept in detail; all are counted

    /// `entries` strictly increasing; must outlive the object. `values` is the number of elements of the site.
    SiteEnforcer(std::span<const LogEntry> entries, std::uint64_t values) : m_entries(entries), m_values(values) {}
    void pass(const ProductSite& panel, float* out);
    /// Reports entries beyond the last element. Must be called once, after the last panel.
    void finish();

    [[nodiscard]] bool isFinite() const { return m_finite; }
    [[nodiscard]] std::uint64_t correctionCount() const { return m_correctionCount; }
    [[nodiscard]] std::uint64_t offenceCount() const { return m_offenceCount; }
    [[nodiscard]] std::uint64_t demandedCount() const { return m_demandedCount; } ///< elements that need an entry
    [[nodiscard]] const std::vector<Offence>& offences() const { return m_offences; }
    [[nodiscard]] const std::vector<Correction>& corrections() const { return m_corrections; }

private:
    void applyEntry(const ProductSite& panel, const LogEntry& entry, float* out);
    void offend(OffenceKind kind, std::uint64_t index, float own, const LogEntry* entry, arith::KeyInterval takes);

    std::span<const LogEntry> m_entries;
    std::uint64_t m_values = 0;
    std::size_t m_next = 0;
    std::uint64_t m_correctionCount = 0;
    std::uint64_t m_offenceCount = 0;
    std::uint64_t m_demandedCount = 0;
    std::vector<Offence> m_offences;
    std::vector<Correction> m_corrections;
    std::vector<std::uint64_t> m_doubtful;
    bool m_finite = true;
};

/// Only rounds: no log is made or enforced. False where a value is not finite.
[[nodiscard]] bool roundPanel(const ProductSite& panel, float* out);

/// The instruction sets that the pass is compiled for.
enum class Isa { scalar, avx2, avx512 };
[[nodiscard]] Isa bestIsa();                     ///< the best that this processor runs
[[nodiscard]] Isa activeIsa();                   ///< what passes use now
[[nodiscard]] bool forceIsa(Isa isa);            ///< for tests and benchmarks; false where the processor lacks it
[[nodiscard]] std::string_view toString(Isa isa);

} // namespace assay::numerics
