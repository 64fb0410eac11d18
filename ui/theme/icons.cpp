// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace assay::ui {

namespace {

QByteArray svgIn(const QString& name, const QColor& colour) {
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return file.readAll().replace("currentColor", colour.name().toLatin1());
}

class ThemedIconEngine : public QIconEngine {
public:
    explicit ThemedIconEngine(QString name) : m_name(std::move(name)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        QSvgRenderer renderer(svgIn(m_name, colourFor(mode, state)));
        renderer.setAspectRatioMode(Qt::KeepAspectRatio);
        renderer.render(painter, QRectF(rect));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        const QColor colour = colourFor(mode, state);
        const QString key = QStringLiteral("assay/%1/%2/%3x%4").arg(m_name, colour.name()).arg(size.width()).arg(size.height());
        QPixmap out;
        if (QPixmapCache::find(key, &out)) {
            return out;
        }
        out = QPixmap(size);
        out.fill(Qt::transparent);
        QPainter painter(&out);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        painter.end();
        QPixmapCache::insert(key, out);
        return out;
    }

    QIconEngine* clone() const override { return new ThemedIconEngine(m_name); }

private:
    static QColor colourFor(QIcon::Mode mode, QIcon::State state) {
        const auto& theme = Theme::instance();
        if (mode == QIcon::Disabled) {
            return theme.colour(Colour::disabled);
        }
        return theme.colour(state == QIcon::On ? Colour::accent : Colour::text);
    }

    QString m_name;
};

} // namespace

QIcon icon(const QString& name) { return QIcon(new ThemedIconEngine(name)); }

QPixmap iconPixmap(const QString& name, const QColor& colour, int size, double devicePixelRatio) {
    const int pixels = static_cast<int>(size * devicePixelRatio + 0.5);
    const QString key = QStringLiteral("assay-px/%1/%2/%3").arg(name, colour.name()).arg(pixels);
    QPixmap out;
    if (!QPixmapCache::find(key, &out)) {
        out = QPixmap(pixels, pixels);
        out.fill(Qt::transparent);
        QPainter painter(&out);
        QSvgRenderer renderer(svgIn(name, colour));
        renderer.setAspectRatioMode(Qt::KeepAspectRatio);
        renderer.render(&painter, QRectF(0, 0, pixels, pixels));
        painter.end();
        QPixmapCache::insert(key, out);
    }
    out.setDevicePixelRatio(devicePixelRatio);
    return out;
}

QString toneIconName(Tone tone) {
    switch (tone) {
    case Tone::good:
        return QStringLiteral("accepted");
    case Tone::bad:
        return QStringLiteral("rejected");
    case Tone::doubt:
        return QStringLiteral("inconclusive");
    case Tone::info:
        return QStringLiteral("info");
    case Tone::neutral:
    case Tone::count_:
        break;
    }
    return QStringLiteral("not_checked");
}

} // namespace assay::ui
