// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QAbstractTableModel>
#include <QByteArray>
#include <QString>
#include <QVariant>

#include "ui/theme/theme.h"

namespace assay::ui {

/// One cell: what is read, what is sorted by, and optionally a tone whose glyph stands before the text.
struct TableCell {
    QString text;
    QVariant sortBy{};          ///< text is used where invalid
    std::optional<Tone> tone{}; ///< glyph and colour
    QString tooltip{};
    bool mono = false;
    bool right = false; ///< numbers align right
};

struct TableRow {
    std::vector<TableCell> cells;
    QVariant id{}; ///< what an activated row stands for, e.g. a step
};

[[nodiscard]] TableCell textCell(const QString& text, const QString& tooltip = {});
[[nodiscard]] TableCell numberCell(std::uint64_t value);
[[nodiscard]] TableCell toneCell(Tone tone, const QString& text, const QString& tooltip = {});
[[nodiscard]] TableCell monoCell(const QString& text, const QString& tooltip = {});

/// A table held in memory, sorted and filtered here. Meant for at most some 10,000 rows; larger ones are paged from the store.
class TableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int kIdRole = Qt::UserRole + 1;

    explicit TableModel(QStringList headers, QObject* parent = nullptr);
    void setRows(std::vector<TableRow> rows);
    /// Appends and drops the oldest rows beyond `limit`.
    void append(std::vector<TableRow> rows, std::size_t limit);
    void clear() { setRows({}); }
    /// Shows only rows that contain the text in any cell (case-insensitive).
    void setFilter(const QString& text);
    [[nodiscard]] std::size_t total() const { return m_rows.size(); }
    [[nodiscard]] QByteArray toCsv() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    [[nodiscard]] bool shows(const TableRow& row) const;
    void rebuild();

    QStringList m_headers;
    std::vector<TableRow> m_rows;
    std::vector<std::size_t> m_order; ///< visible rows in display order
    QString m_filter;
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace assay::ui
