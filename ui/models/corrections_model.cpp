// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/corrections_model.h"

#include "ui/models/number_text.h"
#include "ui/models/table_model.h"

namespace assay::ui {

void CorrectionsModel::reset(bool moreInStore) {
    beginResetModel();
    m_rows.clear();
    m_more = moreInStore;
    m_waiting = false;
    endResetModel();
}

void CorrectionsModel::appendLive(std::vector<Row> rows) {
    if (m_more || rows.empty()) {
        return; // the store has them; paging brings them when they are looked at
    }
    if (m_rows.size() + rows.size() > kLiveRows) {
        m_more = true;
        return;
    }
    const int first = static_cast<int>(m_rows.size());
    beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
    std::move(rows.begin(), rows.end(), std::back_inserter(m_rows));
    endInsertRows();
}

void CorrectionsModel::appendPage(std::vector<Row> rows) {
    m_waiting = false;
    m_more = rows.size() >= kPage;
    if (rows.empty()) {
        return;
    }
    const int first = static_cast<int>(m_rows.size());
    beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
    std::move(rows.begin(), rows.end(), std::back_inserter(m_rows));
    endInsertRows();
}

int CorrectionsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
int CorrectionsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 6; }

bool CorrectionsModel::canFetchMore(const QModelIndex& parent) const { return !parent.isValid() && m_more && !m_waiting; }

void CorrectionsModel::fetchMore(const QModelIndex& parent) {
    // Live rows carry no key: start over from the store, which holds all of them.
    if (!canFetchMore(parent)) {
        return;
    }
    m_waiting = true;
    if (!m_rows.empty() && m_rows.back().id == 0) {
        beginResetModel();
        m_rows.clear();
        endResetModel();
    }
    Q_EMIT pageWanted(m_rows.empty() ? 0 : m_rows.back().correction.step, m_rows.empty() ? 0 : m_rows.back().id);
}

QVariant CorrectionsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const QStringList names{tr("Step"), tr("Site"), tr("Element"), tr("Own"), tr("Taken"), tr("Direction")};
    if (orientation == Qt::Horizontal && role == Qt::DisplayRole) {
        return names.value(section);
    }
    if (orientation == Qt::Horizontal && role == Qt::ToolTipRole) {
        return section == 3   ? tr("How the auditor's own product would have been rounded")
               : section == 4 ? tr("The rounding that the log gives, and that the replay took")
                              : names.value(section);
    }
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        const bool right = section != 1 && section != 5;
        return QVariant::fromValue((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

QVariant CorrectionsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const auto& row = m_rows[static_cast<std::size_t>(index.row())].correction;
    const auto distance = floatDistance(row.ownBits, row.takenBits);
    switch (role) {
    case TableModel::kIdRole:
        return QVariant::fromValue(static_cast<qulonglong>(row.step));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((index.column() != 1 && index.column() != 5 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return index.column() == 3   ? floatHex(row.ownBits)
               : index.column() == 4 ? floatHex(row.takenBits)
                                     : data(index, Qt::DisplayRole).toString();
    case Qt::DisplayRole:
        break;
    default:
        return {};
    }
    switch (index.column()) {
    case 0:
        return groupedNumber(row.step);
    case 1:
        return row.site;
    case 2:
        return groupedNumber(row.element);
    case 3:
        return floatDecimal(row.ownBits);
    case 4:
        return floatDecimal(row.takenBits);
    default:
        return (distance > 0 ? QStringLiteral("▲ ") + tr("up") : QStringLiteral("▼ ") + tr("down")) +
               (distance == 1 || distance == -1 ? QString() : tr(" by %1").arg(distance < 0 ? -distance : distance));
    }
}

} // namespace assay::ui
