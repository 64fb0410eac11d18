// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QPointer>

#include "ui/models/site_matrix.h"
#include "ui/models/step_series.h"

namespace assay::ui {

/// The table twin of strip and loss chart: one row per step, read straight from the series.
class StepTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit StepTableModel(StepSeries* series, QObject* parent = nullptr);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void refresh();
    QPointer<StepSeries> m_series;
    int m_rows = 0;
};

/// The table twin of the heat map: one row per site and step with a count; sites and steps that are not listed have none.
class MatrixTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit MatrixTableModel(SiteMatrix* matrix, QObject* parent = nullptr);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Line {
        std::uint64_t step;
        SiteCount count;
    };
    void refresh();
    QPointer<SiteMatrix> m_matrix;
    std::vector<Line> m_lines;
};

} // namespace assay::ui
