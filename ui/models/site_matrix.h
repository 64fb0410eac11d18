// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <QByteArray>
#include <QObject>
#include <QString>

namespace assay::ui {

/// One row of the matrix: a product site of the program, in execution order.
struct SiteRow {
    std::uint32_t site = 0; ///< index in the site table of the engine
    QString name;           ///< "blocks.0.attn.qkv / dW"
    QString direction;
    std::uint64_t values = 0;
};

/// Counts of one site in one step. Only non-zero ones are stored.
struct SiteCount {
    std::uint32_t row = 0;
    std::uint32_t entries = 0;
    std::uint32_t corrections = 0;
    std::uint32_t offences = 0;
};

enum class SiteMetric : std::uint8_t { entries, corrections, offences };

[[nodiscard]] QString siteMetricText(SiteMetric metric);

/// What one screen cell of the heat map stands for. Nothing is averaged: a spike in one of many steps still shows.
struct HeatCell {
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    std::uint32_t known = 0;   ///< site-steps with a value
    std::uint32_t unknown = 0; ///< site-steps that were not replayed (shown hatched, never as zero)
};

struct HeatGrid {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::uint64_t stepsPerColumn = 1;
    std::size_t sitesPerRow = 1;
    std::vector<HeatCell> cells; ///< row-major
    std::uint32_t max = 0;       ///< largest value in view
    [[nodiscard]] bool isReduced() const { return stepsPerColumn > 1 || sitesPerRow > 1; }
    [[nodiscard]] const HeatCell& at(std::size_t row, std::size_t column) const { return cells[row * columns + column]; }
};

/// Site x step counts of one audit, sparse. GUI thread only.
class SiteMatrix : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    void reset(std::uint64_t steps, std::vector<SiteRow> rows);
    /// Grows the row list without touching counts (the engine reports sites once, before the first step).
    void setRows(std::vector<SiteRow> rows);
    void setSteps(std::uint64_t steps);
    /// Marks `step` (1-based) as known; counts that are not listed are zero.
    void setStep(std::uint64_t step, std::vector<SiteCount> counts);
    void clearSteps();
    /// Emits changed(); call once after a batch of setStep.
    void commit() { Q_EMIT changed(); }

    [[nodiscard]] std::uint64_t steps() const { return m_steps.size(); }
    [[nodiscard]] const std::vector<SiteRow>& rows() const { return m_rows; }
    [[nodiscard]] bool isKnown(std::uint64_t step) const { return m_steps.at(step - 1).known; }
    /// Stored (non-zero) counts of one step, increasing by row.
    [[nodiscard]] std::span<const SiteCount> countsOf(std::uint64_t step) const { return m_steps.at(step - 1).counts; }
    [[nodiscard]] SiteCount at(std::size_t row, std::uint64_t step) const;
    /// Row of an engine site index; -1 if it is not a product site.
    [[nodiscard]] int rowOfSite(std::uint32_t site) const;
    /// Totals per row over all known steps.
    [[nodiscard]] std::vector<SiteCount> totals() const;
    [[nodiscard]] std::uint64_t knownSteps() const { return m_known; }

    /// Reduces to at most `columns` x `rows` cells. Cost: stored counts + cells.
    [[nodiscard]] HeatGrid reduce(SiteMetric metric, std::size_t columns, std::size_t rows) const;
    [[nodiscard]] QByteArray toCsv() const;

Q_SIGNALS:
    void changed();

private:
    struct Column {
        bool known = false;
        std::vector<SiteCount> counts; ///< increasing by row
    };
    std::vector<SiteRow> m_rows;
    std::vector<int> m_rowOfSite;
    std::vector<Column> m_steps;
    std::uint64_t m_known = 0;
};

[[nodiscard]] std::uint32_t valueOf(const SiteCount& count, SiteMetric metric);

} // namespace assay::ui
