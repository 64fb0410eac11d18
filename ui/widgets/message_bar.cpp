// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include "ui/theme/icons.h"

namespace assay::ui {

namespace {

constexpr int kGap = space::s; ///< to what is above; part of the bar, so that it goes with it

} // namespace

MessageBar::MessageBar(QWidget* parent) : QFrame(parent) {
    setFrameShape(QFrame::NoFrame);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space::l, kGap + space::s, space::s, space::s);
    layout->setSpacing(space::m);
    m_icon = new QLabel(this);
    m_text = new QLabel(this);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* close = new QToolButton(this);
    close->setIcon(icon(QStringLiteral("close")));
    close->setToolTip(tr("Close this message"));
    close->setAccessibleName(tr("Close this message"));
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addWidget(m_text, 1);
    layout->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(&Theme::instance(), &Theme::changed, this, &MessageBar::restyle);
    setAccessibleName(tr("Message"));
    hide();
}

void MessageBar::showMessage(Tone tone, const QString& title, const QString& text, const QString& remedy) {
    m_tone = tone;
    m_plain = title + (text.isEmpty() ? QString() : QStringLiteral(". ") + text) + (remedy.isEmpty() ? QString() : u' ' + remedy);
    QString rich = QStringLiteral("<b>%1</b>").arg(title.toHtmlEscaped());
    if (!text.isEmpty()) {
        rich += QStringLiteral("<br>") + text.toHtmlEscaped();
    }
    if (!remedy.isEmpty()) {
        rich += QStringLiteral("<br>") + tr("What to try: %1").arg(remedy.toHtmlEscaped());
    }
    m_text->setText(rich);
    setAccessibleDescription(m_plain);
    restyle();
    show();
}

void MessageBar::restyle() {
    const auto tone = Theme::instance().tone(m_tone);
    m_icon->setPixmap(iconPixmap(m_tone == Tone::bad || m_tone == Tone::doubt ? QStringLiteral("warning") : toneIconName(m_tone),
                                 tone.onSoft, 22, devicePixelRatioF()));
    QPalette palette = m_text->palette();
    palette.setColor(QPalette::WindowText, tone.onSoft);
    m_text->setPalette(palette);
    update();
}

void MessageBar::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().tone(m_tone).soft);
    painter.drawRoundedRect(rect().adjusted(0, kGap, 0, 0), 8, 8);
}

} // namespace assay::ui
