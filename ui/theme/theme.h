// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>

class QApplication;

namespace assay::ui {

/// What the user chose. `system` follows the desktop's palette at start.
enum class ThemeChoice { system, light, dark };

/// Every colour on screen is one of these; nothing else names a colour. Contrast is asserted by a test.
enum class Colour {
    window,        ///< behind the cards
    surface,       ///< cards, tables, fields
    raised,        ///< hover, headers, rails
    border,        ///< separators; decorative
    control,       ///< outline of a control or cell; at least 3:1 on surface
    text,
    secondary,     ///< captions; still 4.5:1
    disabled,
    accent,        ///< primary buttons, selection, links; as text 4.5:1 on surface
    onAccent,      ///< text on accent
    accentSoft,    ///< selected row, hovered card
    focus,         ///< focus ring
    seriesA,       ///< first line of a chart (claimed)
    seriesB,       ///< second line of a chart (replayed)
    grid,          ///< chart grid; decorative
    bitSign,
    bitExponent,
    bitMantissa,
    count_         ///< number of colours
};

/// The meaning of a state. Each has a fill, a soft background, a text colour and a glyph: colour never stands alone.
enum class Tone { neutral, good, bad, doubt, info, count_ };

struct ToneColours {
    QColor fill;   ///< graphic: strips, markers; at least 3:1 on surface
    QColor onFill; ///< text on fill, 4.5:1
    QColor soft;   ///< background of a banner or a pill
    QColor onSoft; ///< text on soft, 4.5:1
};

/// Spacing grid in device-independent pixels.
namespace space {
inline constexpr int xs = 4;
inline constexpr int s = 8;
inline constexpr int m = 12;
inline constexpr int l = 16;
inline constexpr int xl = 24;
inline constexpr int xxl = 32;
} // namespace space

/// The look of the application: colours, type scale, style sheet. One per process; GUI thread only.
class Theme : public QObject {
    Q_OBJECT

public:
    [[nodiscard]] static Theme& instance();

    /// Applies Fusion, palette and style sheet. Call once after QApplication exists and at each change.
    void apply(ThemeChoice choice);
    /// Font size relative to the desktop's, clamped to 0.8 .. 2.0.
    void setZoom(double zoom);

    [[nodiscard]] ThemeChoice choice() const { return m_choice; }
    [[nodiscard]] bool isDark() const { return m_dark; }
    [[nodiscard]] double zoom() const { return m_zoom; }
    [[nodiscard]] QColor colour(Colour role) const;
    [[nodiscard]] ToneColours tone(Tone tone) const;
    /// Sequential ramp of the heat map, 0 <= share <= 1; luminance is monotonic.
    [[nodiscard]] QColor heat(double share) const;
    [[nodiscard]] QFont bodyFont() const;
    [[nodiscard]] QFont captionFont() const;
    [[nodiscard]] QFont titleFont() const;
    [[nodiscard]] QFont monoFont() const;

    /// Colours without applying anything, for tests.
    [[nodiscard]] static QColor colourOf(Colour role, bool dark);
    [[nodiscard]] static ToneColours toneOf(Tone tone, bool dark);
    [[nodiscard]] static QColor heatOf(double share, bool dark);
    /// WCAG 2 contrast ratio, 1 .. 21.
    [[nodiscard]] static double contrast(const QColor& a, const QColor& b);

Q_SIGNALS:
    /// Colours or sizes changed; custom painted views repaint, charts restyle.
    void changed();

private:
    Theme() = default;
    void applyNow();

    ThemeChoice m_choice = ThemeChoice::system;
    bool m_dark = false;
    double m_zoom = 1.0;
    double m_basePoints = 0.0;
    bool m_systemDark = false;
    bool m_started = false;
};

/// Style sheet of the application for one look.
[[nodiscard]] QString styleSheet(bool dark, double bodyPoints);

} // namespace assay::ui
