// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

using namespace assay::ui;

class ThemeTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void contrastFormulaKnowsItsEnds() {
        QCOMPARE(Theme::contrast(Qt::black, Qt::white), 21.0);
        QCOMPARE(Theme::contrast(Qt::red, Qt::red), 1.0);
        // Published example: #767676 on white is the lightest grey that passes 4.5:1.
        QVERIFY(Theme::contrast(QColor(0x767676u), Qt::white) >= 4.5);
        QVERIFY(Theme::contrast(QColor(0x777777u), Qt::white) < 4.5);
    }

    void textIsReadable_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void textIsReadable() {
        QFETCH(bool, dark);
        const auto colour = [dark](Colour role) { return Theme::colourOf(role, dark); };
        for (const auto ground : {Colour::window, Colour::surface, Colour::raised, Colour::accentSoft}) {
            QVERIFY2(Theme::contrast(colour(Colour::text), colour(ground)) >= 7.0, "text");
            QVERIFY2(Theme::contrast(colour(Colour::secondary), colour(ground)) >= 4.5, "secondary");
        }
        for (const auto ground : {Colour::window, Colour::surface, Colour::accentSoft}) {
            QVERIFY2(Theme::contrast(colour(Colour::accent), colour(ground)) >= 4.5, "accent as text");
        }
        QVERIFY(Theme::contrast(colour(Colour::onAccent), colour(Colour::accent)) >= 4.5);
        for (const auto graphic : {Colour::control, Colour::focus, Colour::seriesA, Colour::seriesB, Colour::bitSign, Colour::bitExponent,
                                   Colour::bitMantissa}) {
            const double ratio = Theme::contrast(colour(graphic), colour(Colour::surface));
            QVERIFY2(ratio >= 3.0, qPrintable(QStringLiteral("graphic %1: %2").arg(static_cast<int>(graphic)).arg(ratio)));
        }
        for (const auto part : {Colour::bitSign, Colour::bitExponent, Colour::bitMantissa}) { // they also label the parts
            QVERIFY(Theme::contrast(colour(part), colour(Colour::surface)) >= 4.5);
        }
        for (int i = 0; i < static_cast<int>(Tone::count_); ++i) {
            const auto tone = Theme::toneOf(static_cast<Tone>(i), dark);
            QVERIFY2(Theme::contrast(tone.onSoft, tone.soft) >= 4.5, qPrintable(QStringLiteral("tone %1 soft").arg(i)));
            QVERIFY2(Theme::contrast(tone.onFill, tone.fill) >= 3.8, qPrintable(QStringLiteral("tone %1 fill").arg(i)));
            QVERIFY2(Theme::contrast(tone.fill, colour(Colour::surface)) >= 3.0, qPrintable(QStringLiteral("tone %1").arg(i)));
            QVERIFY2(Theme::contrast(tone.onSoft, colour(Colour::surface)) >= 4.5, qPrintable(QStringLiteral("tone %1 text").arg(i)));
        }
    }

    void heatRampIsMonotonic() {
        for (const bool dark : {false, true}) {
            const QColor ground = Theme::colourOf(Colour::surface, dark);
            double last = 0;
            for (int i = 0; i <= 100; ++i) {
                const double ratio = Theme::contrast(Theme::heatOf(i / 100.0, dark), ground);
                QVERIFY2(ratio >= last - 0.02, "a larger value must stand out more");
                last = ratio;
            }
            QVERIFY(last > 7.0);
        }
    }

    void tonesHaveDifferentGlyphs() {
        QStringList names;
        for (int i = 0; i < static_cast<int>(Tone::count_); ++i) {
            names << toneIconName(static_cast<Tone>(i));
        }
        QCOMPARE(names.removeDuplicates(), 0);
    }

    void applyingChangesPaletteAndTellsViews() {
        QSignalSpy spy(&Theme::instance(), &Theme::changed);
        Theme::instance().apply(ThemeChoice::dark);
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 60);
        Theme::instance().apply(ThemeChoice::light);
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() > 200);
        QCOMPARE(spy.count(), 2);
        QVERIFY(!qApp->styleSheet().contains(QLatin1Char('@')));
    }

    void everyIconDraws() {
        Theme::instance().apply(ThemeChoice::light);
        const QDir folder(QStringLiteral(":/icons"));
        const auto files = folder.entryList({QStringLiteral("*.svg")});
        QVERIFY(files.size() > 40);
        for (const auto& file : files) {
            const QImage image = iconPixmap(file.chopped(4), Qt::black, 24).toImage();
            int painted = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    painted += qAlpha(image.pixel(x, y)) > 40 ? 1 : 0;
                }
            }
            QVERIFY2(painted > 12, qPrintable(file));
        }
    }

    void zoomIsClamped() {
        Theme::instance().setZoom(9.0);
        QCOMPARE(Theme::instance().zoom(), 2.0);
        Theme::instance().setZoom(1.0);
    }
};

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
