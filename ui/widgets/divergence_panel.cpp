// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/divergence_panel.h"

#include <bit>

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/models/audit_words.h"
#include "ui/models/number_text.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/bit_boxes.h"

namespace assay::ui {

DivergencePanel::DivergencePanel(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_empty = new EmptyState(QStringLiteral("divergence"), {}, {}, this);
    layout->addWidget(m_empty, 1);
    m_content = new QWidget(this);
    auto* inner = new QVBoxLayout(m_content);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(space::m);
    m_lead = makeLabel({}, "title", m_content, true);
    m_facts = new FactGrid(m_content);
    m_bits = new BitBoxes(m_content);
    m_distance = makeLabel({}, "caption", m_content, true);
    inner->addWidget(m_lead);
    inner->addWidget(m_facts);
    inner->addWidget(m_bits);
    inner->addWidget(m_distance);
    inner->addStretch(1);
    layout->addWidget(m_content, 1);
    setAccessibleName(tr("First divergence"));
    setFinding({}, tr("No divergence"), {});
}

void DivergencePanel::setFinding(const std::optional<FindingRow>& finding, const QString& emptyTitle, const QString& emptyText) {
    m_content->setVisible(finding.has_value());
    m_empty->setVisible(!finding.has_value());
    if (finding) {
        showFinding(*finding);
    } else {
        m_empty->setTexts(emptyTitle, emptyText);
        setAccessibleDescription(emptyTitle);
    }
}

void DivergencePanel::showFinding(const FindingRow& finding) {
    const QString lead = divergenceSentence(finding);
    m_lead->setText(lead);
    setAccessibleDescription(lead);
    m_facts->clear();
    const QString unknown = tr("not known from this evidence");
    m_facts->addText(tr("Step"), finding.step ? groupedNumber(*finding.step) : unknown);
    m_facts->addText(tr("Part"), finding.part.isEmpty() ? unknown : partText(finding.part));
    if (!finding.tensor.isEmpty()) {
        m_facts->addText(tr("Tensor"), finding.tensor);
    }
    if (!finding.operatorName.isEmpty()) {
        m_facts->addText(tr("Operator"), finding.operatorName);
    }
    if (!finding.site.isEmpty()) {
        m_facts->addText(tr("Site"), finding.site);
    }
    if (finding.element) {
        m_facts->addText(tr("Element"), groupedNumber(*finding.element));
    }
    m_facts->addText(tr("Known from"), finding.source.isEmpty() ? unknown : sourceText(finding.source));
    const auto value = [&](const QString& caption, const QString& text, const std::optional<std::uint32_t>& bits) {
        if (bits) {
            m_facts->addText(caption, QStringLiteral("%1   %2").arg(floatDecimal(*bits), floatHex(*bits)));
        } else if (text.size() == 64) {
            m_facts->addHash(caption, text);
        } else {
            m_facts->addText(caption, text.isEmpty() ? unknown : text);
        }
    };
    value(tr("Claimed"), finding.claimed, finding.claimedBits);
    value(tr("Computed"), finding.computed, finding.computedBits);
    m_bits->setBits(finding.claimedBits, finding.computedBits);
    QString distance;
    if (finding.claimedBits && finding.computedBits) {
        const auto steps = floatDistance(*finding.computedBits, *finding.claimedBits);
        distance = tr("%1 of 32 bits differ; the claimed value lies %2 FP32 values %3 the computed one.")
                       .arg(std::popcount(*finding.claimedBits ^ *finding.computedBits))
                       .arg(groupedNumber(static_cast<std::uint64_t>(steps < 0 ? -steps : steps)), steps < 0 ? tr("below") : tr("above"));
    } else if (!finding.text.isEmpty() && finding.text != m_lead->text()) {
        distance = finding.text;
    }
    m_distance->setText(distance);
    m_distance->setVisible(!distance.isEmpty());
}

} // namespace assay::ui
