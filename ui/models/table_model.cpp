// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/table_model.h"

#include <algorithm>
#include <numeric>

#include "ui/models/number_text.h"
#include "ui/theme/icons.h"

namespace assay::ui {

TableCell textCell(const QString& text, const QString& tooltip) { return {text, {}, {}, tooltip, false, false}; }

TableCell numberCell(std::uint64_t value) {
    return {groupedNumber(value), QVariant(static_cast<qulonglong>(value)), {}, {}, false, true};
}

TableCell toneCell(Tone tone, const QString& text, const QString& tooltip) { return {text, {}, tone, tooltip, false, false}; }
TableCell monoCell(const QString& text, const QString& tooltip) { return {text, {}, {}, tooltip, true, false}; }

TableModel::TableModel(QStringList headers, QObject* parent)
    : QAbstractTableModel(parent), m_headers(std::move(headers)) {}

bool TableModel::shows(const TableRow& row) const {
    return m_filter.isEmpty() || std::any_of(row.cells.begin(), row.cells.end(), [this](const TableCell& cell) {
               return cell.text.contains(m_filter, Qt::CaseInsensitive);
           });
}

void TableModel::rebuild() {
    m_order.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (shows(m_rows[i])) {
            m_order.push_back(i);
        }
    }
    if (m_sortColumn < 0) {
        return;
    }
    const auto column = static_cast<std::size_t>(m_sortColumn);
    const auto less = [&](std::size_t a, std::size_t b) {
        if (column >= m_rows[a].cells.size() || column >= m_rows[b].cells.size()) {
            return m_rows[a].cells.size() < m_rows[b].cells.size();
        }
        const auto& x = m_rows[a].cells[column];
        const auto& y = m_rows[b].cells[column];
        if (x.sortBy.isValid() && y.sortBy.isValid()) {
            return QVariant::compare(x.sortBy, y.sortBy) == QPartialOrdering::Less;
        }
        return QString::localeAwareCompare(x.text, y.text) < 0;
    };
    if (m_sortOrder == Qt::AscendingOrder) {
        std::stable_sort(m_order.begin(), m_order.end(), less);
    } else {
        std::stable_sort(m_order.begin(), m_order.end(), [&](std::size_t a, std::size_t b) { return less(b, a); });
    }
}

void TableModel::setRows(std::vector<TableRow> rows) {
    beginResetModel();
    m_rows = std::move(rows);
    rebuild();
    endResetModel();
}

void TableModel::append(std::vector<TableRow> rows, std::size_t limit) {
    if (rows.empty()) {
        return;
    }
    const bool plain = m_filter.isEmpty() && m_sortColumn < 0 && m_rows.size() + rows.size() <= limit;
    if (plain) {
        const int first = static_cast<int>(m_rows.size());
        beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
        for (auto& row : rows) {
            m_order.push_back(m_rows.size());
            m_rows.push_back(std::move(row));
        }
        endInsertRows();
        return;
    }
    beginResetModel();
    std::move(rows.begin(), rows.end(), std::back_inserter(m_rows));
    if (m_rows.size() > limit) {
        m_rows.erase(m_rows.begin(), m_rows.begin() + static_cast<std::ptrdiff_t>(m_rows.size() - limit));
    }
    rebuild();
    endResetModel();
}

void TableModel::setFilter(const QString& text) {
    beginResetModel();
    m_filter = text;
    rebuild();
    endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_order.size()); }
int TableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_headers.size()); }

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const auto& row = m_rows[m_order[static_cast<std::size_t>(index.row())]];
    if (role == kIdRole) {
        return row.id;
    }
    const auto column = static_cast<std::size_t>(index.column());
    if (column >= row.cells.size()) {
        return {};
    }
    const auto& cell = row.cells[column];
    switch (role) {
    case Qt::DisplayRole:
        return cell.text;
    case Qt::ToolTipRole:
        return cell.tooltip.isEmpty() ? cell.text : cell.tooltip;
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((cell.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
        return cell.mono ? QVariant(Theme::instance().monoFont()) : QVariant();
    case Qt::DecorationRole:
        return cell.tone ? QVariant(iconPixmap(toneIconName(*cell.tone), Theme::instance().tone(*cell.tone).fill, 16, 2.0))
                         : QVariant();
    default:
        return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::DisplayRole) {
        return m_headers.value(section);
    }
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        const bool right = !m_rows.empty() && static_cast<std::size_t>(section) < m_rows[0].cells.size() &&
                           m_rows[0].cells[static_cast<std::size_t>(section)].right;
        return QVariant::fromValue((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

void TableModel::sort(int column, Qt::SortOrder order) {
    beginResetModel();
    m_sortColumn = column;
    m_sortOrder = order;
    rebuild();
    endResetModel();
}

QByteArray TableModel::toCsv() const {
    const auto quoted = [](const QString& text) {
        const QByteArray bytes = QString(text).remove(QChar(0x202F)).toUtf8();
        return bytes.contains(',') || bytes.contains('"') || bytes.contains('\n')
                   ? '"' + QByteArray(bytes).replace('"', "\"\"") + '"'
                   : bytes;
    };
    QByteArray out;
    for (qsizetype i = 0; i < m_headers.size(); ++i) {
        out += (i > 0 ? "," : "") + quoted(m_headers[i]);
    }
    out += '\n';
    for (const auto at : m_order) {
        const auto& cells = m_rows[at].cells;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            out += (i > 0 ? "," : "") + quoted(cells[i].text);
        }
        out += '\n';
    }
    return out;
}

} // namespace assay::ui
