// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/hash_label.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace assay::ui {

HashMark& HashMark::instance() {
    static HashMark mark;
    return mark;
}

void HashMark::toggle(const QString& hex) {
    m_hex = m_hex == hex ? QString() : hex;
    Q_EMIT changed();
}

HashLabel::HashLabel(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    connect(&HashMark::instance(), &HashMark::changed, this, qOverload<>(&QWidget::update));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QString HashLabel::shortForm(const QString& hex) { return hex.size() > 12 ? hex.left(12) + QChar(0x2026) : hex; }

QString HashLabel::shownText() const { return m_hex.isEmpty() ? tr("none") : m_keyId.isEmpty() ? shortForm(m_hex) : m_keyId.left(16); }

void HashLabel::setKey(const QString& keyId, const QString& key, const QString& what) {
    setHash(key, what);
    m_keyId = keyId;
    setToolTip(tr("%1\nkey id %2\npublic key %3\nClick to mark equal keys, double-click to copy the public key").arg(what, keyId, key));
    setAccessibleDescription(tr("key id %1, public key %2").arg(keyId, key));
    updateGeometry();
}

void HashLabel::setHash(const QString& hex, const QString& what) {
    m_hex = hex;
    m_keyId.clear();
    m_what = what;
    setAccessibleName(what);
    setAccessibleDescription(hex);
    setToolTip(hex.isEmpty() ? QString()
                             : tr("%1\n%2\nClick to mark equal values, double-click to copy").arg(what, hex));
    updateGeometry();
    update();
}

QSize HashLabel::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().monoFont());
    return {metrics.horizontalAdvance(shownText()) + 16 + kInset + 2 * space::xs,
            QFontMetrics(Theme::instance().bodyFont()).height() + 2 * kPad};
}

QRect HashLabel::iconRect() const { return {width() - 16 - space::xs, (height() - 14) / 2, 14, 14}; }

void HashLabel::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& theme = Theme::instance();
    const bool marked = !m_hex.isEmpty() && HashMark::instance().marked() == m_hex;
    if (marked || hasFocus()) {
        painter.setPen(marked ? QPen(theme.tone(Tone::doubt).fill, 1.5) : QPen(theme.colour(Colour::focus), 1));
        painter.setBrush(marked ? QBrush(theme.tone(Tone::doubt).soft) : QBrush(Qt::NoBrush));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), 4, 4);
    }
    painter.setFont(theme.monoFont());
    painter.setPen(theme.colour(m_hex.isEmpty() ? Colour::secondary : Colour::text));
    // On the baseline of body text beside it, whatever the metrics of the fixed-width font are.
    painter.drawText(QPoint(kInset, kPad + QFontMetrics(theme.bodyFont()).ascent()), shownText());
    if (!m_hex.isEmpty()) {
        painter.drawPixmap(iconRect().topLeft(),
                           iconPixmap(QStringLiteral("copy"), theme.colour(Colour::secondary), 14, devicePixelRatioF()));
    }
}

void HashLabel::copy() {
    if (m_hex.isEmpty()) {
        return;
    }
    QApplication::clipboard()->setText(m_hex);
    QToolTip::showText(mapToGlobal(QPoint(0, height())), tr("Copied"), this, {}, 1200);
    Q_EMIT copied();
}

void HashLabel::mousePressEvent(QMouseEvent* event) {
    if (m_hex.isEmpty()) {
        return;
    }
    if (iconRect().adjusted(-4, -4, 4, 4).contains(event->position().toPoint())) {
        copy();
    } else {
        HashMark::instance().toggle(m_hex);
    }
}

void HashLabel::mouseDoubleClickEvent(QMouseEvent* /*event*/) { copy(); }

void HashLabel::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        copy();
    } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space) {
        HashMark::instance().toggle(m_hex);
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace assay::ui
