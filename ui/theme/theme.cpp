// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <QToolTip>

static void initResources() { Q_INIT_RESOURCE(workbench); }

namespace assay::ui {

namespace {

struct Pair {
    QRgb light;
    QRgb dark;
};

constexpr auto kColours = static_cast<std::size_t>(Colour::count_);
constexpr auto kTones = static_cast<std::size_t>(Tone::count_);

// In the order of Colour.
constexpr std::array<Pair, kColours> kPairs{{
    {0xF4F6F8, 0x14181C}, // window
    {0xFFFFFF, 0x1C2127}, // surface
    {0xEDF0F4, 0x262C33}, // raised
    {0xDCE1E7, 0x333B44}, // border
    {0x7F8A96, 0x76828F}, // control
    {0x161B21, 0xE8ECF1}, // text
    {0x55606C, 0xA3AEBA}, // secondary
    {0x8C96A1, 0x6B7682}, // disabled
    {0x005F99, 0x62BBEE}, // accent
    {0xFFFFFF, 0x0C1A24}, // onAccent
    {0xE3F0F9, 0x1D3546}, // accentSoft
    {0x0072B2, 0x62BBEE}, // focus
    {0xB85000, 0xE69F00}, // seriesA
    {0x0072B2, 0x56B4E9}, // seriesB
    {0xE6EAEE, 0x2B323A}, // grid
    {0xB4508A, 0xDB93BD}, // bitSign
    {0x0072B2, 0x56B4E9}, // bitExponent
    {0x00795A, 0x35C39B}, // bitMantissa
}};

struct TonePair {
    QRgb fill, onFill, soft, onSoft;
};

// Okabe-Ito hues (bluish green, vermillion, orange, blue), darkened or lightened to keep the contrast on each background.
constexpr std::array<TonePair, kTones> kTonesLight{{
    {0x6B7682, 0xFFFFFF, 0xECEFF2, 0x3F4954}, // neutral
    {0x00795A, 0xFFFFFF, 0xDFF3EC, 0x00573F}, // good
    {0xC24E00, 0xFFFFFF, 0xFCE9DE, 0x8A3400}, // bad
    {0xA87100, 0xFFFFFF, 0xFBF0D6, 0x6B4700}, // doubt
    {0x0072B2, 0xFFFFFF, 0xE1F0F9, 0x00507D}, // info
}};
constexpr std::array<TonePair, kTones> kTonesDark{{
    {0x8995A2, 0x101418, 0x2A3138, 0xC3CCD5}, // neutral
    {0x2FBF97, 0x06231A, 0x14342B, 0x8EE6CB}, // good
    {0xF0783A, 0x2A0F00, 0x402314, 0xFFBE9B}, // bad
    {0xE69F00, 0x251900, 0x3A2E12, 0xFFD986}, // doubt
    {0x56B4E9, 0x071C29, 0x17303F, 0xB0DDF7}, // info
}};

constexpr std::array<QRgb, 5> kHeatLight{0xE4EEF6, 0x9CC8E6, 0x3D90CB, 0x0A5793, 0x06233F};
constexpr std::array<QRgb, 5> kHeatDark{0x22303C, 0x1E5F8F, 0x2F97D0, 0x8FD0F5, 0xF6FBFF};

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

} // namespace

Theme& Theme::instance() {
    static Theme theme;
    return theme;
}

QColor Theme::colourOf(Colour role, bool dark) {
    const auto& pair = kPairs.at(static_cast<std::size_t>(role));
    return QColor(dark ? pair.dark : pair.light);
}

ToneColours Theme::toneOf(Tone tone, bool dark) {
    const auto& pair = (dark ? kTonesDark : kTonesLight).at(static_cast<std::size_t>(tone));
    return {QColor(pair.fill), QColor(pair.onFill), QColor(pair.soft), QColor(pair.onSoft)};
}

QColor Theme::heatOf(double share, bool dark) {
    const auto& ramp = dark ? kHeatDark : kHeatLight;
    const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(ramp.size() - 1);
    const auto low = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
    const double t = at - static_cast<double>(low);
    const QColor a(ramp[low]);
    const QColor b(ramp[low + 1]);
    const auto mix = [t](int from, int to) { return static_cast<int>(std::lround(from + t * (to - from))); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

double Theme::contrast(const QColor& a, const QColor& b) {
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QColor Theme::colour(Colour role) const { return colourOf(role, m_dark); }
ToneColours Theme::tone(Tone tone) const { return toneOf(tone, m_dark); }
QColor Theme::heat(double share) const { return heatOf(share, m_dark); }

void Theme::apply(ThemeChoice choice) {
    if (!m_started) {
        initResources();
        m_systemDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
        m_basePoints = QApplication::font().pointSizeF() > 0 ? QApplication::font().pointSizeF() : 10.0;
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
        m_started = true;
    }
    m_choice = choice;
    m_dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && m_systemDark);
    applyNow();
}

void Theme::setZoom(double zoom) {
    m_zoom = std::clamp(zoom, 0.8, 2.0);
    if (m_started) {
        applyNow();
    }
}

void Theme::applyNow() {
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, Colour value) { palette.setColor(role, colour(value)); };
    set(QPalette::Window, Colour::window);
    set(QPalette::WindowText, Colour::text);
    set(QPalette::Base, Colour::surface);
    set(QPalette::AlternateBase, Colour::raised);
    set(QPalette::ToolTipBase, Colour::raised);
    set(QPalette::ToolTipText, Colour::text);
    set(QPalette::PlaceholderText, Colour::secondary);
    set(QPalette::Text, Colour::text);
    set(QPalette::Button, Colour::raised);
    set(QPalette::ButtonText, Colour::text);
    set(QPalette::BrightText, Colour::text);
    set(QPalette::Highlight, Colour::accent);
    set(QPalette::HighlightedText, Colour::onAccent);
    set(QPalette::Link, Colour::accent);
    set(QPalette::LinkVisited, Colour::accent);
    set(QPalette::Light, Colour::raised);
    set(QPalette::Midlight, Colour::raised);
    set(QPalette::Mid, Colour::border);
    set(QPalette::Dark, Colour::border);
    palette.setColor(QPalette::Shadow, Qt::black);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, colour(Colour::disabled));
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, colour(Colour::border));
    QApplication::setPalette(palette);
    QToolTip::setPalette(palette);
    const double points = m_basePoints * m_zoom;
    QFont font = QApplication::font();
    font.setPointSizeF(points);
    QApplication::setFont(font);
    qApp->setStyleSheet(styleSheet(m_dark, points));
    Q_EMIT changed();
}

QFont Theme::bodyFont() const { return QApplication::font(); }

QFont Theme::captionFont() const {
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() * 0.9);
    return font;
}

QFont Theme::titleFont() const {
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() * 1.15);
    font.setWeight(QFont::DemiBold);
    return font;
}

QFont Theme::monoFont() const {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSizeF(QApplication::font().pointSizeF() * 0.95);
    return font;
}

} // namespace assay::ui
