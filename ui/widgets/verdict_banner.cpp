// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/verdict_banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/icons.h"

namespace assay::ui {

VerdictBanner::VerdictBanner(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space::l, space::m, space::l, space::m);
    layout->setSpacing(space::m);
    m_glyph = new QLabel(this);
    m_glyph->setFixedSize(36, 36);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    auto* first = new QHBoxLayout;
    first->setSpacing(space::m);
    m_headline = new QLabel(this);
    m_headline->setProperty("role", "headline");
    m_scope = new QLabel(this);
    first->addWidget(m_headline);
    first->addWidget(m_scope, 1);
    m_reason = new QLabel(this);
    m_reason->setWordWrap(true);
    m_reason->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    words->addLayout(first);
    words->addWidget(m_reason);
    m_next = new QPushButton(this);
    m_next->setProperty("kind", "primary");
    m_next->setIconSize({16, 16});
    layout->addWidget(m_glyph, 0, Qt::AlignTop);
    layout->addLayout(words, 1);
    layout->addWidget(m_next, 0, Qt::AlignVCenter);
    connect(m_next, &QPushButton::clicked, this, [this] { Q_EMIT nextActionTriggered(m_verdict.nextActionId); });
    connect(&Theme::instance(), &Theme::changed, this, &VerdictBanner::restyle);
    setAccessibleName(tr("Verdict"));
    restyle();
}

void VerdictBanner::setVerdict(const VerdictText& verdict) {
    if (verdict == m_verdict) {
        return;
    }
    m_verdict = verdict;
    restyle();
}

void VerdictBanner::restyle() {
    const auto tone = Theme::instance().tone(m_verdict.tone);
    m_glyph->setPixmap(iconPixmap(toneIconName(m_verdict.tone), tone.onSoft, 36, devicePixelRatioF()));
    m_headline->setText(m_verdict.headline);
    m_scope->setText(m_verdict.scope);
    m_reason->setText(m_verdict.reason);
    m_reason->setVisible(!m_verdict.reason.isEmpty());
    m_next->setText(m_verdict.nextLabel);
    m_next->setVisible(!m_verdict.nextLabel.isEmpty());
    m_next->setAccessibleName(m_verdict.nextLabel.isEmpty() ? tr("Next action") : m_verdict.nextLabel);
    for (auto* label : {m_headline, m_scope, m_reason}) {
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, tone.onSoft);
        label->setPalette(palette);
    }
    setAccessibleDescription(m_verdict.headline + QStringLiteral(". ") + m_verdict.reason);
    update();
}

void VerdictBanner::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto tone = Theme::instance().tone(m_verdict.tone);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tone.soft);
    painter.drawRoundedRect(rect(), 8, 8);
    painter.setClipRect(QRect(0, 0, 5, height()));
    painter.setBrush(tone.fill);
    painter.drawRoundedRect(QRect(0, 0, 24, height()), 8, 8);
}

StatusPill::StatusPill(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void StatusPill::setStatus(Tone tone, const QString& text, const QString& tooltip) {
    m_tone = tone;
    m_text = text;
    setToolTip(tooltip);
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize StatusPill::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().captionFont());
    return {metrics.horizontalAdvance(m_text) + 16 + space::xs + 2 * space::s, std::max(metrics.height() + 6, 22)};
}

void StatusPill::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto tone = Theme::instance().tone(m_tone);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tone.soft);
    painter.drawRoundedRect(rect(), height() / 2.0, height() / 2.0);
    painter.drawPixmap(space::s, (height() - 16) / 2, iconPixmap(toneIconName(m_tone), tone.onSoft, 16, devicePixelRatioF()));
    painter.setFont(Theme::instance().captionFont());
    painter.setPen(tone.onSoft);
    painter.drawText(rect().adjusted(space::s + 16 + space::xs, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, m_text);
}

} // namespace assay::ui
