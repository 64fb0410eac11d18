// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/site_matrix.h"

#include <algorithm>

#include <QCoreApplication>

namespace assay::ui {

QString siteMetricText(SiteMetric metric) {
    switch (metric) {
    case SiteMetric::corrections:
        return QCoreApplication::translate("SiteMetric", "Corrections");
    case SiteMetric::offences:
        return QCoreApplication::translate("SiteMetric", "Offences");
    case SiteMetric::entries:
        break;
    }
    return QCoreApplication::translate("SiteMetric", "Entries");
}

std::uint32_t valueOf(const SiteCount& count, SiteMetric metric) {
    switch (metric) {
    case SiteMetric::corrections:
        return count.corrections;
    case SiteMetric::offences:
        return count.offences;
    case SiteMetric::entries:
        break;
    }
    return count.entries;
}

void SiteMatrix::reset(std::uint64_t steps, std::vector<SiteRow> rows) {
    m_steps.assign(steps, {});
    m_known = 0;
    setRows(std::move(rows));
    Q_EMIT changed();
}

void SiteMatrix::setRows(std::vector<SiteRow> rows) {
    m_rows = std::move(rows);
    m_rowOfSite.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const std::size_t site = m_rows[i].site;
        if (site >= m_rowOfSite.size()) {
            m_rowOfSite.resize(site + 1, -1);
        }
        m_rowOfSite[site] = static_cast<int>(i);
    }
}

void SiteMatrix::setSteps(std::uint64_t steps) {
    m_steps.assign(steps, {});
    m_known = 0;
}

void SiteMatrix::setStep(std::uint64_t step, std::vector<SiteCount> counts) {
    if (step < 1 || step > m_steps.size()) {
        return;
    }
    std::sort(counts.begin(), counts.end(), [](const SiteCount& a, const SiteCount& b) { return a.row < b.row; });
    auto& column = m_steps[step - 1];
    m_known += column.known ? 0 : 1;
    column = {true, std::move(counts)};
}

void SiteMatrix::clearSteps() {
    for (auto& column : m_steps) {
        column = {};
    }
    m_known = 0;
    Q_EMIT changed();
}

SiteCount SiteMatrix::at(std::size_t row, std::uint64_t step) const {
    const auto& counts = m_steps.at(step - 1).counts;
    const auto it = std::lower_bound(counts.begin(), counts.end(), row,
                                     [](const SiteCount& c, std::size_t wanted) { return c.row < wanted; });
    if (it != counts.end() && it->row == row) {
        return *it;
    }
    SiteCount none;
    none.row = static_cast<std::uint32_t>(row);
    return none;
}

int SiteMatrix::rowOfSite(std::uint32_t site) const { return site < m_rowOfSite.size() ? m_rowOfSite[site] : -1; }

std::vector<SiteCount> SiteMatrix::totals() const {
    std::vector<SiteCount> out(m_rows.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].row = static_cast<std::uint32_t>(i);
    }
    for (const auto& column : m_steps) {
        for (const auto& count : column.counts) {
            if (count.row < out.size()) {
                out[count.row].entries += count.entries;
                out[count.row].corrections += count.corrections;
                out[count.row].offences += count.offences;
            }
        }
    }
    return out;
}

HeatGrid SiteMatrix::reduce(SiteMetric metric, std::size_t columns, std::size_t rows) const {
    HeatGrid grid;
    if (m_rows.empty() || m_steps.empty() || columns == 0 || rows == 0) {
        return grid;
    }
    grid.stepsPerColumn = (m_steps.size() + columns - 1) / columns;
    grid.sitesPerRow = (m_rows.size() + rows - 1) / rows;
    grid.columns = (m_steps.size() + grid.stepsPerColumn - 1) / grid.stepsPerColumn;
    grid.rows = (m_rows.size() + grid.sitesPerRow - 1) / grid.sitesPerRow;
    grid.cells.assign(grid.columns * grid.rows, {});
    // A cell's minimum is zero as soon as one known site-step of it stores no count; so non-zero counts are counted too.
    std::vector<std::uint32_t> stored(grid.cells.size(), 0);
    std::vector<std::uint32_t> known(grid.columns, 0);
    std::vector<std::uint32_t> unknown(grid.columns, 0);
    for (std::size_t s = 0; s < m_steps.size(); ++s) {
        const std::size_t column = s / grid.stepsPerColumn;
        const auto& step = m_steps[s];
        (step.known ? known : unknown)[column] += 1;
        for (const auto& count : step.counts) {
            const std::uint32_t value = valueOf(count, metric);
            if (value == 0 || count.row >= m_rows.size()) {
                continue;
            }
            const std::size_t at = count.row / grid.sitesPerRow * grid.columns + column;
            auto& cell = grid.cells[at];
            cell.min = stored[at] == 0 ? value : std::min(cell.min, value);
            cell.max = std::max(cell.max, value);
            ++stored[at];
            grid.max = std::max(grid.max, value);
        }
    }
    for (std::size_t i = 0; i < grid.cells.size(); ++i) {
        const std::size_t firstRow = i / grid.columns * grid.sitesPerRow;
        const auto sites = static_cast<std::uint32_t>(std::min(grid.sitesPerRow, m_rows.size() - firstRow));
        grid.cells[i].known = known[i % grid.columns] * sites;
        grid.cells[i].unknown = unknown[i % grid.columns] * sites;
        if (stored[i] < grid.cells[i].known) {
            grid.cells[i].min = 0;
        }
    }
    return grid;
}

QByteArray SiteMatrix::toCsv() const {
    QByteArray out = "site,name,step,entries,corrections,offences\n";
    for (std::size_t s = 0; s < m_steps.size(); ++s) {
        if (!m_steps[s].known) {
            continue;
        }
        for (const auto& count : m_steps[s].counts) {
            if (count.row >= m_rows.size()) {
                continue;
            }
            const auto& row = m_rows[count.row];
            out += QByteArray::number(row.site) + ",\"" + row.name.toUtf8().replace('"', "\"\"") + "\"," +
                   QByteArray::number(static_cast<qulonglong>(s + 1)) + ',' + QByteArray::number(count.entries) + ',' +
                   QByteArray::number(count.corrections) + ',' + QByteArray::number(count.offences) + '\n';
        }
    }
    return out;
}

} // namespace assay::ui
