// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/step_series.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include "ui/models/number_text.h"

namespace assay::ui {

QString stepStateText(StepState state) {
    switch (state) {
    case StepState::matched:
        return QCoreApplication::translate("StepState", "matched");
    case StepState::mismatched:
        return QCoreApplication::translate("StepState", "mismatched");
    case StepState::notReplayed:
        break;
    }
    return QCoreApplication::translate("StepState", "not replayed");
}

void StepSeries::reset(std::uint64_t total) {
    m_cells.assign(total, {});
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        m_cells[i].step = i + 1;
    }
    m_replayed = m_mismatched = m_firstMismatch = 0;
    Q_EMIT changed();
}

void StepSeries::setClaimedLosses(std::span<const double> losses) {
    for (std::size_t i = 0; i < std::min(losses.size(), m_cells.size()); ++i) {
        m_cells[i].lossClaimed = losses[i];
        m_cells[i].hasClaimed = true;
    }
    Q_EMIT changed();
}

void StepSeries::setCheckpoints(std::span<const std::uint64_t> steps) {
    for (const auto step : steps) {
        if (step >= 1 && step <= m_cells.size()) {
            m_cells[step - 1].checkpoint = true;
        }
    }
    Q_EMIT changed();
}

void StepSeries::apply(std::span<const StepCell> cells) {
    for (const auto& cell : cells) {
        if (cell.step < 1 || cell.step > m_cells.size()) {
            continue;
        }
        auto& mine = m_cells[cell.step - 1];
        m_replayed -= mine.state != StepState::notReplayed ? 1 : 0;
        m_mismatched -= mine.state == StepState::mismatched ? 1 : 0;
        const StepCell before = mine;
        mine = cell;
        mine.checkpoint = before.checkpoint || cell.checkpoint;
        if (!cell.hasClaimed && before.hasClaimed) {
            mine.lossClaimed = before.lossClaimed;
            mine.hasClaimed = true;
        }
        m_replayed += mine.state != StepState::notReplayed ? 1 : 0;
        if (mine.state == StepState::mismatched) {
            ++m_mismatched;
            m_firstMismatch = m_firstMismatch == 0 ? mine.step : std::min(m_firstMismatch, mine.step);
        } else if (mine.step == m_firstMismatch) {
            const auto next = std::find_if(m_cells.begin(), m_cells.end(),
                                           [](const StepCell& c) { return c.state == StepState::mismatched; });
            m_firstMismatch = next == m_cells.end() ? 0 : next->step;
        }
    }
    Q_EMIT changed();
}

void StepSeries::clearReplay() {
    for (auto& cell : m_cells) {
        StepCell kept;
        kept.step = cell.step;
        kept.lossClaimed = cell.lossClaimed;
        kept.hasClaimed = cell.hasClaimed;
        kept.checkpoint = cell.checkpoint;
        cell = kept;
    }
    m_replayed = m_mismatched = m_firstMismatch = 0;
    Q_EMIT changed();
}

QByteArray StepSeries::toCsv() const {
    QByteArray out = "step,state,loss_claimed,loss_replayed,entries,corrections,offences,log_bytes,seconds,checkpoint\n";
    for (const auto& cell : m_cells) {
        out += QByteArray::number(static_cast<qulonglong>(cell.step)) + ',';
        out += cell.state == StepState::matched      ? "matched,"
               : cell.state == StepState::mismatched ? "mismatched,"
                                                     : "not_replayed,";
        out += (cell.hasClaimed ? exactDecimal(cell.lossClaimed).toLatin1() : QByteArray()) + ',';
        out += (cell.hasReplayed ? exactDecimal(cell.lossReplayed).toLatin1() : QByteArray()) + ',';
        for (const auto value : {cell.entries, cell.corrections, cell.offences, cell.logBytes}) {
            out += QByteArray::number(static_cast<qulonglong>(value)) + ',';
        }
        out += QByteArray::number(cell.seconds, 'f', 3) + ',' + (cell.checkpoint ? "1" : "0") + '\n';
    }
    return out;
}

std::vector<StripCell> reduceStrip(std::span<const StepCell> cells, std::size_t columns) {
    std::vector<StripCell> out;
    if (cells.empty() || columns == 0) {
        return out;
    }
    const std::size_t per = (cells.size() + columns - 1) / columns;
    out.reserve((cells.size() + per - 1) / per);
    for (std::size_t begin = 0; begin < cells.size(); begin += per) {
        const std::size_t end = std::min(begin + per, cells.size());
        StripCell cell{cells[begin].step, cells[end - 1].step, StepState::notReplayed, false, false, 0};
        std::size_t replayed = 0;
        for (std::size_t i = begin; i < end; ++i) {
            cell.worst = std::max(cell.worst, cells[i].state);
            cell.checkpoint = cell.checkpoint || cells[i].checkpoint;
            cell.offences += cells[i].offences;
            replayed += cells[i].state != StepState::notReplayed ? 1 : 0;
        }
        cell.mixed = replayed != 0 && replayed != end - begin;
        out.push_back(cell);
    }
    return out;
}

} // namespace assay::ui
