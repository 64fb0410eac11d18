// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace assay::ui {

Card::Card(const QString& title, QWidget* parent) : QFrame(parent) {
    setProperty("kind", "card");
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(space::l, space::m, space::l, space::m);
    outer->setSpacing(space::s);
    m_header = new QHBoxLayout;
    m_header->setSpacing(space::s);
    m_title = new QLabel(title, this);
    m_title->setProperty("role", "title");
    m_caption = new QLabel(this);
    m_caption->setProperty("role", "caption");
    m_caption->hide();
    m_header->addWidget(m_title);
    m_header->addWidget(m_caption);
    m_header->addStretch(1);
    outer->addLayout(m_header);
    m_body = new QVBoxLayout;
    m_body->setSpacing(space::s);
    outer->addLayout(m_body, 1);
    setAccessibleName(title);
}

void Card::setTitle(const QString& title) {
    m_title->setText(title);
    setAccessibleName(title);
}

void Card::setCaption(const QString& caption) {
    m_caption->setText(caption);
    m_caption->setVisible(!caption.isEmpty());
}

void Card::addHeaderWidget(QWidget* widget) {
    const int at = m_maximise != nullptr ? m_header->count() - 1 : m_header->count();
    m_header->insertWidget(at, widget);
}

void Card::setMaximisable(bool on) {
    if (on && m_maximise == nullptr) {
        m_maximise = new QToolButton(this);
        m_maximise->setIcon(icon(QStringLiteral("maximise")));
        m_maximise->setToolTip(tr("Let this panel fill the page"));
        m_maximise->setAccessibleName(tr("Maximise %1").arg(m_title->text()));
        m_header->addWidget(m_maximise);
        connect(m_maximise, &QToolButton::clicked, this, [this] { Q_EMIT maximiseRequested(!m_maximised); });
    }
}

void Card::setMaximised(bool on) {
    m_maximised = on;
    if (m_maximise != nullptr) {
        m_maximise->setIcon(icon(on ? QStringLiteral("restore") : QStringLiteral("maximise")));
        m_maximise->setToolTip(on ? tr("Back to the layout (Esc)") : tr("Let this panel fill the page"));
    }
}

Figure::Figure(const QString& caption, QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_value = new QLabel(QStringLiteral("–"), this);
    m_value->setProperty("role", "figure");
    m_value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_caption = new QLabel(caption, this);
    m_caption->setProperty("role", "caption");
    layout->addWidget(m_value);
    layout->addWidget(m_caption);
    setAccessibleName(caption);
}

void Figure::setValue(const QString& value, const QString& tooltip) {
    m_value->setText(value);
    setToolTip(tooltip);
    setAccessibleDescription(value);
}

void Figure::setCaption(const QString& caption) {
    m_caption->setText(caption);
    setAccessibleName(caption);
}

} // namespace assay::ui
