// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/sample_gallery.h"

#include <algorithm>

#include <QPainter>

#include "ui/models/number_text.h"
#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

constexpr int kPicture = 84;
constexpr int kCell = kPicture + space::m;

int lineHeight() { return QFontMetrics(Theme::instance().monoFont()).height(); }
int captionHeight() { return QFontMetrics(Theme::instance().captionFont()).height(); }

} // namespace

SampleGallery::SampleGallery(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Samples"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void SampleGallery::setSamples(std::vector<SampleLook> samples) {
    m_samples = std::move(samples);
    QStringList labels;
    for (const auto& sample : m_samples) {
        labels << sample.label;
    }
    setAccessibleDescription(labels.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int SampleGallery::columns(int width) const { return std::max(1, width / kCell); }

int SampleGallery::heightForWidth(int width) const {
    const int count = static_cast<int>(m_samples.size());
    if (areImages()) {
        const int rows = (count + columns(width) - 1) / columns(width);
        return rows * (kPicture + captionHeight() + space::m);
    }
    int height = 0;
    for (const auto& sample : m_samples) {
        height += textHeight(sample, width);
    }
    return height;
}

int SampleGallery::textLines(const SampleLook& sample, int width) const {
    const int perLine = std::max(1, (width - 1 - 2 * space::s) / QFontMetrics(Theme::instance().monoFont()).horizontalAdvance(u'm'));
    return std::clamp((static_cast<int>(sample.text.size()) + perLine - 1) / perLine, 1, 3);
}

int SampleGallery::textHeight(const SampleLook& sample, int width) const {
    return captionHeight() + textLines(sample, width) * lineHeight() + space::l + space::xs;
}

void SampleGallery::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    const auto& theme = Theme::instance();
    int top = 0;
    for (std::size_t i = 0; i < m_samples.size(); ++i) {
        const auto& sample = m_samples[i];
        const int at = static_cast<int>(i);
        if (areImages()) {
            const int x = at % columns(width()) * kCell;
            const int y = at / columns(width()) * (kPicture + captionHeight() + space::m);
            const QRect box(x, y, kPicture, kPicture);
            painter.drawImage(box, sample.image);
            painter.setPen(theme.colour(Colour::border));
            painter.drawRect(box.adjusted(0, 0, -1, -1));
            painter.setFont(theme.captionFont());
            painter.setPen(theme.colour(Colour::secondary));
            painter.drawText(QRect(x, y + kPicture + 2, kCell - 4, captionHeight()), Qt::AlignLeft, sample.label);
            continue;
        }
        int y = top;
        top += textHeight(sample, width());
        painter.setFont(theme.captionFont());
        painter.setPen(theme.colour(Colour::secondary));
        painter.drawText(QRect(0, y, width(), captionHeight()), Qt::AlignLeft, sample.label);
        y += captionHeight() + 2;
        const QRect box(0, y, width() - 1, textLines(sample, width()) * lineHeight() + 6);
        painter.setPen(theme.colour(Colour::border));
        painter.setBrush(theme.colour(Colour::raised));
        painter.drawRoundedRect(box, 4, 4);
        painter.setFont(theme.monoFont());
        painter.setPen(theme.colour(Colour::text));
        painter.drawText(box.adjusted(space::s, 3, -space::s, -3), Qt::AlignLeft | Qt::AlignTop | Qt::TextWrapAnywhere, sample.text);
    }
}

} // namespace assay::ui
