// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <QByteArray>
#include <QMetaType>
#include <QObject>
#include <QString>

namespace assay::ui {

/// What the replay says about one step. Order is severity: a reduced cell shows the largest.
enum class StepState : std::uint8_t { notReplayed, matched, mismatched };

[[nodiscard]] QString stepStateText(StepState state);

/// One step of an audit. Losses are NaN where unknown.
struct StepCell {
    std::uint64_t step = 0; ///< 1-based
    StepState state = StepState::notReplayed;
    double lossClaimed = std::numeric_limits<double>::quiet_NaN();
    double lossReplayed = std::numeric_limits<double>::quiet_NaN();
    bool hasClaimed = false;  ///< a claimed loss is known (it may itself be NaN)
    bool hasReplayed = false; ///< this step was replayed and its loss is known
    bool checkpoint = false;
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;
    std::uint64_t offences = 0;
    std::uint64_t logBytes = 0;
    std::uint64_t freedom = 0; ///< values with a choice
    double seconds = 0.0;
};

/// All steps of one audit, index 0 = step 1. GUI thread only. Views listen to changed().
class StepSeries : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    /// Forgets everything and makes `total` steps that were not replayed.
    void reset(std::uint64_t total);
    void setClaimedLosses(std::span<const double> losses); ///< losses[i] belongs to step i + 1
    void setCheckpoints(std::span<const std::uint64_t> steps);
    /// Takes over state, replayed loss and counts of the given steps; claimed losses and checkpoints known before stay.
    void apply(std::span<const StepCell> cells);
    /// Forgets what was replayed, keeps what the submission claims.
    void clearReplay();

    [[nodiscard]] std::uint64_t total() const { return m_cells.size(); }
    [[nodiscard]] const StepCell& at(std::uint64_t step) const { return m_cells.at(step - 1); }
    [[nodiscard]] std::span<const StepCell> cells() const { return m_cells; }
    [[nodiscard]] std::uint64_t replayed() const { return m_replayed; }
    [[nodiscard]] std::uint64_t mismatched() const { return m_mismatched; }
    /// First mismatched step, 0 if none.
    [[nodiscard]] std::uint64_t firstMismatch() const { return m_firstMismatch; }
    [[nodiscard]] QByteArray toCsv() const;

Q_SIGNALS:
    void changed();

private:
    std::vector<StepCell> m_cells;
    std::uint64_t m_replayed = 0;
    std::uint64_t m_mismatched = 0;
    std::uint64_t m_firstMismatch = 0;
};

/// Several neighbouring steps drawn as one cell: the worst state wins, nothing is averaged away.
struct StripCell {
    std::uint64_t firstStep = 0;
    std::uint64_t lastStep = 0;
    StepState worst = StepState::notReplayed;
    bool mixed = false; ///< holds replayed and not replayed steps
    bool checkpoint = false;
    std::uint64_t offences = 0;
};

/// Reduces a series to at most `columns` cells of equal numbers of steps (the last may be smaller).
[[nodiscard]] std::vector<StripCell> reduceStrip(std::span<const StepCell> cells, std::size_t columns);

} // namespace assay::ui
