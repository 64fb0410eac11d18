// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/twin_models.h"

#include "ui/models/number_text.h"
#include "ui/models/table_model.h"
#include "ui/theme/icons.h"

namespace assay::ui {

namespace {

QVariant headerOf(const QStringList& names, int firstNumber, int section, Qt::Orientation orientation, int role) {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::DisplayRole) {
        return names.value(section);
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((section >= firstNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

Tone toneOfState(StepState state) {
    return state == StepState::matched ? Tone::good : state == StepState::mismatched ? Tone::bad : Tone::neutral;
}

} // namespace

StepTableModel::StepTableModel(StepSeries* series, QObject* parent) : QAbstractTableModel(parent), m_series(series) {
    connect(series, &StepSeries::changed, this, &StepTableModel::refresh);
    refresh();
}

void StepTableModel::refresh() {
    const int rows = m_series ? static_cast<int>(m_series->total()) : 0;
    if (rows != m_rows) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
    } else if (rows > 0) {
        Q_EMIT dataChanged(index(0, 0), index(rows - 1, columnCount() - 1));
    }
}

int StepTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }
int StepTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 9; }

QVariant StepTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const QStringList names{tr("Step"),        tr("Replay"),   tr("Loss claimed"), tr("Loss replayed"), tr("Entries"),
                                   tr("Corrections"), tr("Offences"), tr("Log bytes"),    tr("Seconds")};
    return headerOf(names, 2, section, orientation, role);
}

QVariant StepTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_series) {
        return {};
    }
    const auto& cell = m_series->at(static_cast<std::uint64_t>(index.row()) + 1);
    if (role == TableModel::kIdRole) {
        return QVariant::fromValue(static_cast<qulonglong>(cell.step));
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((index.column() >= 2 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role == Qt::DecorationRole && index.column() == 1) {
        const Tone tone = toneOfState(cell.state);
        return iconPixmap(toneIconName(tone), Theme::instance().tone(tone).fill, 16, 2.0);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const bool replayed = cell.state != StepState::notReplayed;
    const auto number = [&](std::uint64_t value) { return replayed ? groupedNumber(value) : QStringLiteral("–"); };
    switch (index.column()) {
    case 0:
        return groupedNumber(cell.step) + (cell.checkpoint ? tr("  checkpoint") : QString());
    case 1:
        return stepStateText(cell.state);
    case 2:
        return cell.hasClaimed ? exactDecimal(cell.lossClaimed) : QStringLiteral("–");
    case 3:
        return cell.hasReplayed ? exactDecimal(cell.lossReplayed) : QStringLiteral("–");
    case 4:
        return number(cell.entries);
    case 5:
        return number(cell.corrections);
    case 6:
        return number(cell.offences);
    case 7:
        return number(cell.logBytes);
    default:
        return replayed ? QString::number(cell.seconds, 'f', 2) : QStringLiteral("–");
    }
}

MatrixTableModel::MatrixTableModel(SiteMatrix* matrix, QObject* parent) : QAbstractTableModel(parent), m_matrix(matrix) {
    connect(matrix, &SiteMatrix::changed, this, &MatrixTableModel::refresh);
    refresh();
}

void MatrixTableModel::refresh() {
    beginResetModel();
    m_lines.clear();
    if (m_matrix) {
        for (std::uint64_t step = 1; step <= m_matrix->steps(); ++step) {
            for (const auto& count : m_matrix->countsOf(step)) {
                m_lines.push_back({step, count});
            }
        }
    }
    endResetModel();
}

int MatrixTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_lines.size()); }
int MatrixTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 5; }

QVariant MatrixTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const QStringList names{tr("Site"), tr("Step"), tr("Entries"), tr("Corrections"), tr("Offences")};
    return headerOf(names, 1, section, orientation, role);
}

QVariant MatrixTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_matrix) {
        return {};
    }
    const auto& line = m_lines[static_cast<std::size_t>(index.row())];
    if (role == TableModel::kIdRole) {
        return QVariant::fromValue(static_cast<qulonglong>(line.step));
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((index.column() >= 1 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case 0:
        return line.count.row < m_matrix->rows().size() ? m_matrix->rows()[line.count.row].name : QString();
    case 1:
        return groupedNumber(line.step);
    case 2:
        return groupedNumber(line.count.entries);
    case 3:
        return groupedNumber(line.count.corrections);
    default:
        return groupedNumber(line.count.offences);
    }
}

} // namespace assay::ui
