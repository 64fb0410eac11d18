// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/bit_boxes.h"

#include <algorithm>
#include <bit>

#include <QPainter>
#include <QPolygonF>

#include "ui/models/number_text.h"
#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

constexpr int kGap = 8; // between sign, exponent and mantissa
constexpr int kMarks = 12;

Colour partColour(int bit) { return bit == 31 ? Colour::bitSign : bit >= 23 ? Colour::bitExponent : Colour::bitMantissa; }

} // namespace

BitBoxes::BitBoxes(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Bits of both values"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void BitBoxes::setBits(std::optional<std::uint32_t> claimed, std::optional<std::uint32_t> computed) {
    m_claimed = claimed;
    m_computed = computed;
    const auto text = [](const std::optional<std::uint32_t>& bits) {
        return bits ? QStringLiteral("%1").arg(*bits, 32, 2, QChar(u'0')) : tr("unknown");
    };
    setAccessibleDescription(tr("claimed %1, computed %2, %3 bits differ")
                                 .arg(text(claimed), text(computed))
                                 .arg(std::popcount(difference())));
    setVisible(claimed.has_value() || computed.has_value());
    update();
}

std::uint32_t BitBoxes::difference() const { return m_claimed && m_computed ? *m_claimed ^ *m_computed : 0; }

int BitBoxes::labelWidth() const {
    const QFontMetrics metrics(Theme::instance().captionFont());
    return std::max(metrics.horizontalAdvance(tr("claimed")), metrics.horizontalAdvance(tr("computed"))) + space::s;
}

QSize BitBoxes::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().captionFont());
    return {labelWidth() + 32 * 13 + 2 * kGap, 2 * 20 + kMarks + metrics.height() + space::xs};
}

QSize BitBoxes::minimumSizeHint() const { return {labelWidth() + 32 * 8 + 2 * kGap, sizeHint().height()}; }

void BitBoxes::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& theme = Theme::instance();
    const QFontMetrics metrics(theme.captionFont());
    const double labels = labelWidth();
    const double box = std::clamp((width() - labels - 2.0 * kGap) / 32.0, 6.0, 18.0);
    const double tall = 20.0;
    const auto left = [&](int bit) {
        const int column = 31 - bit;
        return labels + column * box + (bit < 31 ? kGap : 0) + (bit < 23 ? kGap : 0);
    };
    const auto row = [&](const std::optional<std::uint32_t>& bits, double top, const QString& name) {
        painter.setFont(theme.captionFont());
        painter.setPen(theme.colour(Colour::secondary));
        painter.drawText(QRectF(0, top, labels, tall), Qt::AlignLeft | Qt::AlignVCenter, name);
        for (int bit = 31; bit >= 0; --bit) {
            const QRectF cell(left(bit) + 0.5, top + 0.5, box - 1.5, tall - 1);
            const bool differs = ((difference() >> bit) & 1u) != 0;
            const QColor colour = theme.colour(partColour(bit));
            painter.setPen(QPen(differs ? theme.tone(Tone::bad).fill : colour, 1));
            painter.setBrush(differs ? QBrush(theme.tone(Tone::bad).fill) : QBrush(Qt::NoBrush));
            painter.drawRoundedRect(cell, 2, 2);
            if (box >= 8) {
                QFont digits = theme.monoFont();
                digits.setPixelSize(static_cast<int>(std::min(box + 1.0, 13.0)));
                painter.setFont(digits);
                painter.setPen(differs ? theme.tone(Tone::bad).onFill : theme.colour(Colour::text));
                painter.drawText(cell, Qt::AlignCenter, bits ? (((*bits >> bit) & 1u) != 0 ? QStringLiteral("1") : QStringLiteral("0")) : QStringLiteral("?"));
            }
        }
    };
    row(m_claimed, 0, tr("claimed"));
    row(m_computed, tall + kMarks, tr("computed"));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.tone(Tone::bad).fill);
    for (int bit = 31; bit >= 0; --bit) {
        if (((difference() >> bit) & 1u) != 0) {
            const QPointF c(left(bit) + box / 2 - 0.5, tall + kMarks / 2.0);
            painter.drawPolygon(QPolygonF({c + QPointF(0, -4), c + QPointF(3.5, 0), c + QPointF(0, 4), c + QPointF(-3.5, 0)}));
        }
    }
    painter.setFont(theme.captionFont());
    const double top = 2 * tall + kMarks + 2;
    const auto part = [&](int high, int low, const QString& words) {
        painter.setPen(theme.colour(partColour(high)));
        const QRectF area(left(high), top, left(low) + box - left(high), metrics.height() + 2);
        if (metrics.horizontalAdvance(words) <= area.width() + (high == 31 ? kGap : 0)) {
            painter.drawText(area.adjusted(0, 0, kGap, 0), Qt::AlignLeft | Qt::AlignTop, words);
        }
    };
    part(31, 31, QStringLiteral("±"));
    part(30, 23, tr("exponent"));
    part(22, 0, tr("mantissa"));
}

} // namespace assay::ui
