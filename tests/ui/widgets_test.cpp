// SPDX-License-Identifier: GPL-3.0-or-later
#include <bit>
#include <cmath>

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "ui/charts/heat_map.h"
#include "ui/charts/loss_chart.h"
#include "ui/charts/step_strip.h"
#include "ui/dialogs/command_palette.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/bit_boxes.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/divergence_panel.h"
#include "ui/widgets/hash_label.h"
#include "ui/widgets/verdict_banner.h"

using namespace assay::ui;

namespace {

/// Number of pixels of (about) one colour.
int pixelsOf(const QImage& image, const QColor& colour, int tolerance = 6) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const QColor pixel = image.pixelColor(x, y);
            count += std::abs(pixel.red() - colour.red()) <= tolerance && std::abs(pixel.green() - colour.green()) <= tolerance &&
                             std::abs(pixel.blue() - colour.blue()) <= tolerance
                         ? 1
                         : 0;
        }
    }
    return count;
}

void fill(StepSeries& series, std::uint64_t total, std::uint64_t bad) {
    series.reset(total);
    std::vector<StepCell> cells;
    for (std::uint64_t step = 1; step <= total; ++step) {
        StepCell cell;
        cell.step = step;
        cell.state = step == bad ? StepState::mismatched : StepState::matched;
        cell.lossReplayed = 3.0 / static_cast<double>(step);
        cell.hasReplayed = true;
        cells.push_back(cell);
    }
    series.apply(cells);
}

} // namespace

class WidgetsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aKeyIsNamedByItsId() {
        HashLabel label;
        const QString id = QString(u'a').repeated(16) + QString(u'b').repeated(48);
        const QString key = QString(u'c').repeated(64);
        label.setKey(id, key, QStringLiteral("Trainer's key"));
        QCOMPARE(label.shownText(), id.left(16));
        QVERIFY(label.toolTip().contains(id) && label.toolTip().contains(key));
        QCOMPARE(label.hash(), key);
        label.setHash(key, QStringLiteral("Root"));
        QCOMPARE(label.shownText(), HashLabel::shortForm(key)); // no id is left over
    }

    void textsAndDigestsStandOnOneLine() {
        FactGrid grid;
        grid.addText(QStringLiteral("Files"), QStringLiteral("32 files"));
        grid.addHash(QStringLiteral("Root"), QString(u'a').repeated(64));
        grid.resize(400, 100);
        grid.show();
        QCoreApplication::processEvents();
        QLabel* text = nullptr;
        QLabel* caption = nullptr;
        for (auto* label : grid.findChildren<QLabel*>()) {
            text = label->text() == u"32 files" ? label : text;
            caption = label->text() == u"Root" ? label : caption;
        }
        const auto* hash = grid.findChild<HashLabel*>();
        QVERIFY(text != nullptr && caption != nullptr && hash != nullptr);
        QCOMPARE(text->x() + text->contentsRect().left(), hash->x() + HashLabel::kInset);
        QCOMPARE(caption->y() + caption->contentsRect().top(), hash->y() + HashLabel::kPad); // same top of a body line, so same baseline
        QCOMPARE(caption->height(), hash->height());
    }

    void emptyStatesShowAllTheirWords() {
        EmptyState state(QStringLiteral("divergence"), QStringLiteral("Nothing yet"), QString(u'x').repeated(3) + QStringLiteral(" words").repeated(60));
        for (const int width : {320, 508, 900}) {
            state.resize(width, 400);
            state.show();
            QCoreApplication::processEvents();
            for (const auto* label : state.findChildren<QLabel*>()) {
                if (label->wordWrap()) {
                    QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                             qPrintable(QStringLiteral("%1: %2 x %3, needs %4").arg(width).arg(label->width()).arg(label->height())
                                            .arg(label->heightForWidth(label->width()))));
                }
            }
        }
    }

    void theStretchedColumnStaysReadable() {
        TableModel model({QStringLiteral("A"), QStringLiteral("Long header"), QStringLiteral("B")});
        const QString words = QStringLiteral("several words that need more than one line in a narrow column of a table");
        model.setRows({{{textCell(QString(u'w').repeated(30)), textCell(words), textCell(QString(u'w').repeated(30))}, {}}});
        DataTable table(QStringLiteral("Test"), &model);
        table.setStretchColumn(1);
        table.resize(300, 200); // less than the others need
        table.show();
        QCoreApplication::processEvents();
        QVERIFY(table.columnWidth(1) >= 200);
        const int plain = table.rowHeight(0);
        table.setWrapping(true);
        QVERIFY(table.rowHeight(0) > plain);
        const QFontMetrics metrics(table.font());
        QVERIFY(table.rowHeight(0) >= metrics.boundingRect(QRect(0, 0, table.columnWidth(1) - 22, 1000), Qt::TextWordWrap, words).height());
        table.resize(2000, 200);
        QCoreApplication::processEvents();
        QCOMPARE(table.rowHeight(0), plain); // room enough: one line again
    }

    void initTestCase() { Theme::instance().apply(ThemeChoice::light); }

    void stripPaintsOneBadStepOfManyThousand() {
        StepSeries series;
        fill(series, 10'000, 5'000);
        StepStrip strip;
        strip.setSeries(&series);
        strip.resize(900, 58);
        const QImage picture = strip.grab().toImage();
        QVERIFY(pixelsOf(picture, Theme::instance().tone(Tone::bad).fill) > 10);
        QVERIFY(strip.isReduced());
        QVERIFY(strip.accessibleDescription().contains(QStringLiteral("1 mismatched")));
    }

    void stripIsUsedByKeys() {
        StepSeries series;
        fill(series, 12, 7);
        StepStrip strip;
        strip.setSeries(&series);
        strip.resize(600, 58);
        QSignalSpy spy(&strip, &StepStrip::stepActivated);
        QTest::keyClick(&strip, Qt::Key_End);
        QTest::keyClick(&strip, Qt::Key_Left);
        QCOMPARE(spy.last()[0].toULongLong(), 11u);
        QVERIFY(strip.accessibleDescription().contains(QStringLiteral("Step 11: matched")));
        strip.grab();
        QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(40 * 6 + 5, 15));
        QCOMPARE(strip.cursorStep(), 7u);
    }

    void heatMapShowsUnknownAsHatchNotAsZero() {
        SiteMatrix matrix;
        matrix.reset(20, {{0, QStringLiteral("a / y"), {}, 1}});
        HeatMap map;
        map.setMatrix(&matrix);
        map.resize(600, 200);
        const QColor zero = Theme::instance().heat(0);
        const int before = pixelsOf(map.grab().toImage(), zero, 2);
        for (std::uint64_t step = 1; step <= 20; ++step) {
            matrix.setStep(step, {});
        }
        matrix.commit();
        const int after = pixelsOf(map.grab().toImage(), zero, 2);
        QVERIFY2(after > before + 1000, qPrintable(QStringLiteral("%1 then %2").arg(before).arg(after)));
    }

    void heatMapCrosshairReadsRawValues() {
        SiteMatrix matrix;
        matrix.reset(4, {{0, QStringLiteral("a / y"), {}, 1}, {1, QStringLiteral("a / dX"), {}, 1}});
        matrix.setStep(2, {{1, 42, 3, 0}});
        HeatMap map;
        map.setMatrix(&matrix);
        map.resize(600, 200);
        matrix.commit();
        QTest::keyClick(&map, Qt::Key_Down);
        QTest::keyClick(&map, Qt::Key_Right);
        QVERIFY2(map.readout().contains(QStringLiteral("42 entries, 3 corrections")), qPrintable(map.readout()));
        QTest::keyClick(&map, Qt::Key_Right);
        QVERIFY(map.readout().contains(QStringLiteral("not replayed")));
        QSignalSpy spy(&map, &HeatMap::stepActivated);
        QTest::keyClick(&map, Qt::Key_Return);
        QCOMPARE(spy.last()[0].toULongLong(), 3u);
    }

    void chartsExportWhatTheyShow() {
        const QTemporaryDir folder;
        StepSeries series;
        fill(series, 30, 0);
        const std::vector<double> claimed{3.0, std::nan(""), 1.0};
        series.setClaimedLosses(claimed);
        LossChart chart;
        chart.setSeries(&series);
        chart.resize(640, 320);
        SiteMatrix matrix;
        matrix.reset(30, {{0, QStringLiteral("a / y"), {}, 1}});
        matrix.setStep(3, {{0, 5, 1, 0}});
        HeatMap map;
        map.setMatrix(&matrix);
        map.resize(640, 320);
        StepStrip strip;
        strip.setSeries(&series);
        for (ChartSource* source : std::initializer_list<ChartSource*>{&chart, &map, &strip}) {
            QByteArray twice[2];
            for (const char* ending : {"png", "svg", "pdf", "csv"}) {
                for (auto& bytes : twice) {
                    const QString path = folder.filePath(QStringLiteral("out.") + QString::fromLatin1(ending));
                    QCOMPARE(exportChart(*source, path, 800, 400), QString());
                    QFile file(path);
                    QVERIFY(file.open(QIODevice::ReadOnly));
                    bytes = file.readAll();
                    QVERIFY2(bytes.size() > 40, ending);
                }
                if (QByteArray(ending) != "pdf") { // a PDF holds its time of creation
                    QCOMPARE(twice[0], twice[1]);
                }
            }
            QCOMPARE(twice[0], source->chartCsv());
        }
        QVERIFY(chart.chartCsv().contains("2,matched,NaN,1.5,"));
        QVERIFY(!exportChart(chart, folder.filePath(QStringLiteral("x.bmp"))).isEmpty());
        QVERIFY(!exportChart(chart, QStringLiteral("/nowhere/x.png")).isEmpty());
    }

    void bitBoxesKnowTheDifference() {
        BitBoxes boxes;
        boxes.setBits(0x3F800000u, 0x3F800003u);
        QCOMPARE(boxes.difference(), 3u);
        QVERIFY(boxes.accessibleDescription().contains(QStringLiteral("2 bits differ")));
        boxes.resize(520, boxes.sizeHint().height());
        QVERIFY(pixelsOf(boxes.grab().toImage(), Theme::instance().tone(Tone::bad).fill) > 100);
        boxes.setBits(0x3F800000u, std::nullopt);
        QCOMPARE(boxes.difference(), 0u);
        QCOMPARE(pixelsOf(boxes.grab().toImage(), Theme::instance().tone(Tone::bad).fill), 0);
    }

    void divergenceNeverGuesses() {
        DivergencePanel panel;
        panel.resize(500, 500);
        FindingRow finding;
        finding.source = QStringLiteral("leaf");
        finding.step = 7;
        finding.part = QStringLiteral("loss");
        finding.claimedBits = 0x40000000u;
        finding.computedBits = 0x3FFFFFFFu;
        panel.setFinding(finding);
        QString all;
        for (const auto* label : panel.findChildren<QLabel*>()) {
            all += label->text() + u'\n';
        }
        QVERIFY(all.contains(QStringLiteral("Step 7: the loss differs")));
        QVERIFY(all.contains(QStringLiteral("0x40000000")));
        QVERIFY(all.contains(QStringLiteral("1 FP32 values above")) || all.contains(QStringLiteral("lies 1 ")));
        QVERIFY(!all.contains(QStringLiteral("Element")));
        finding.claimedBits.reset();
        finding.computedBits.reset();
        panel.setFinding(finding);
        bool unknown = false;
        for (const auto* label : panel.findChildren<QLabel*>()) {
            unknown = unknown || (label->isVisibleTo(&panel) && label->text() == QStringLiteral("not known from this evidence"));
        }
        QVERIFY(unknown);
    }

    void hashLabelsMarkEqualOnesAndCopy() {
        HashLabel a;
        HashLabel b;
        const QString hex(64, u'a');
        a.setHash(hex, QStringLiteral("Root"));
        b.setHash(hex, QStringLiteral("Root"));
        QCOMPARE(HashLabel::shortForm(hex).size(), 13);
        QVERIFY(a.toolTip().contains(hex));
        a.resize(a.sizeHint());
        b.resize(b.sizeHint());
        const QColor mark = Theme::instance().tone(Tone::doubt).soft;
        QCOMPARE(pixelsOf(b.grab().toImage(), mark, 1), 0);
        QTest::mouseClick(&a, Qt::LeftButton, {}, QPoint(5, 5));
        QVERIFY(pixelsOf(b.grab().toImage(), mark, 1) > 50);
        QTest::keyClick(&a, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->text(), hex);
        QTest::keyClick(&a, Qt::Key_Space);
    }

    void bannerSaysItThreeWays() {
        VerdictBanner banner;
        VerdictText verdict;
        verdict.tone = Tone::bad;
        verdict.headline = QStringLiteral("Rejected");
        verdict.reason = QStringLiteral("Step 7 differs.");
        verdict.nextLabel = QStringLiteral("Show");
        verdict.nextActionId = QStringLiteral("x.y");
        banner.setVerdict(verdict);
        banner.resize(700, 80);
        QVERIFY(banner.accessibleDescription().contains(QStringLiteral("Rejected. Step 7 differs.")));
        QVERIFY(pixelsOf(banner.grab().toImage(), Theme::instance().tone(Tone::bad).soft, 1) > 1000);
        QSignalSpy spy(&banner, &VerdictBanner::nextActionTriggered);
        QTest::mouseClick(banner.findChild<QPushButton*>(), Qt::LeftButton);
        QCOMPARE(spy.count(), 1);
    }

    void disabledActionsSayWhy() {
        QAction action(QStringLiteral("Start"));
        action.setToolTip(QStringLiteral("Runs"));
        setActionState(&action, false, QStringLiteral("nothing is open"));
        QVERIFY(action.toolTip().contains(QStringLiteral("nothing is open")));
        QCOMPARE(whyDisabled(&action), QStringLiteral("nothing is open"));
        setActionState(&action, true, {});
        QCOMPARE(action.toolTip(), QStringLiteral("Runs"));
    }

    void paletteFindsBySkippedLetters() {
        int tight = 0;
        int loose = 0;
        QVERIFY(CommandPalette::matches(QStringLiteral("Start the replay"), QStringLiteral("replay"), &tight));
        QVERIFY(CommandPalette::matches(QStringLiteral("Start the replay"), QStringLiteral("strpl"), &loose));
        QVERIFY(tight < loose);
        QVERIFY(!CommandPalette::matches(QStringLiteral("Start"), QStringLiteral("x"), nullptr));
        QAction start(QStringLiteral("Start the replay"));
        start.setObjectName(QStringLiteral("a"));
        QAction help(QStringLiteral("Help"));
        help.setObjectName(QStringLiteral("b"));
        setActionState(&start, false, QStringLiteral("nothing is open"));
        CommandPalette palette({&start, &help}, nullptr);
        QCOMPARE(palette.listedIds(), QStringList({QStringLiteral("b"), QStringLiteral("a")})); // possible ones first
        palette.setQuery(QStringLiteral("repl"));
        QCOMPARE(palette.listedIds(), QStringList({QStringLiteral("a")}));
        QSignalSpy ran(&help, &QAction::triggered);
        palette.setQuery(QStringLiteral("hlp"));
        QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
        QCOMPARE(ran.count(), 1);
    }

    void tablesCopyRows() {
        TableModel model({QStringLiteral("A"), QStringLiteral("B")});
        model.setRows({{{textCell(QStringLiteral("x")), numberCell(1)}, QVariant(5)}});
        DataTable table(QStringLiteral("T"), &model);
        table.selectAll();
        QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("x\t1"));
    }
};

QTEST_MAIN(WidgetsTest)
#include "widgets_test.moc"
