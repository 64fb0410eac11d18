// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <QAbstractTableModel>

#include "ui/models/audit_types.h"

namespace assay::ui {

/// Corrections in order of step. Rows arrive live from the engine or page by page from the store, by key; what is not looked at is
/// not in memory.
class CorrectionsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    struct Row {
        CorrectionRow correction;
        std::int64_t id = 0; ///< key in the store; 0 for live rows
    };
    static constexpr std::size_t kPage = 500;
    static constexpr std::size_t kLiveRows = 5000; ///< kept while an engine streams; the rest is paged in afterwards

    using QAbstractTableModel::QAbstractTableModel;
    void reset(bool moreInStore);
    void appendLive(std::vector<Row> rows);
    /// The answer to pageWanted; fewer than kPage rows mean that this was the last page.
    void appendPage(std::vector<Row> rows);
    [[nodiscard]] bool hasMore() const { return m_more; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] bool canFetchMore(const QModelIndex& parent) const override;
    void fetchMore(const QModelIndex& parent) override;

Q_SIGNALS:
    /// Rows after this key are wanted; (0, 0) is the start.
    void pageWanted(std::uint64_t step, std::int64_t id);

private:
    std::vector<Row> m_rows;
    bool m_more = false;
    bool m_waiting = false;
};

} // namespace assay::ui
