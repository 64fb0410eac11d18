// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QWidget>

#include "ui/models/audit_types.h"

class QLabel;

namespace assay::ui {

class BitBoxes;
class EmptyState;
class FactGrid;

/// Where the replay and the claim part: place, both values as decimal, hex and bits, and how far apart they are.
class DivergencePanel : public QWidget {
    Q_OBJECT

public:
    explicit DivergencePanel(QWidget* parent = nullptr);
    /// `finding` empty: `emptyTitle` and `emptyText` say why there is nothing.
    void setFinding(const std::optional<FindingRow>& finding, const QString& emptyTitle = {}, const QString& emptyText = {});

private:
    void showFinding(const FindingRow& finding);

    QWidget* m_content = nullptr;
    QLabel* m_lead = nullptr;
    FactGrid* m_facts = nullptr;
    BitBoxes* m_bits = nullptr;
    QLabel* m_distance = nullptr;
    EmptyState* m_empty = nullptr;
};

} // namespace assay::ui
