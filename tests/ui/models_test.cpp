// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

#include "ui/models/audit_words.h"
#include "ui/models/corrections_model.h"
#include "ui/models/number_text.h"
#include "ui/models/program_model.h"
#include "ui/models/site_matrix.h"
#include "ui/models/step_series.h"
#include "ui/models/table_model.h"
#include "ui/models/twin_models.h"
#include "ui/models/verdict_words.h"

using namespace assay;
using namespace assay::ui;

namespace {

StepCell cellOf(std::uint64_t step, StepState state, double loss = 1.0) {
    StepCell cell;
    cell.step = step;
    cell.state = state;
    cell.lossReplayed = loss;
    cell.hasReplayed = true;
    return cell;
}

} // namespace

class ModelsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void stripKeepsASingleMismatch() {
        // One bad step among 10,000 must show at every width.
        StepSeries series;
        series.reset(10'000);
        std::vector<StepCell> cells;
        for (std::uint64_t step = 1; step <= 10'000; ++step) {
            cells.push_back(cellOf(step, step == 6'543 ? StepState::mismatched : StepState::matched));
        }
        series.apply(cells);
        QCOMPARE(series.firstMismatch(), 6'543u);
        for (const std::size_t columns : {1u, 7u, 100u, 333u, 1200u, 20'000u}) {
            const auto strip = reduceStrip(series.cells(), columns);
            QVERIFY(strip.size() <= columns);
            int bad = 0;
            for (const auto& cell : strip) {
                if (cell.worst == StepState::mismatched) {
                    ++bad;
                    QVERIFY(cell.firstStep <= 6'543 && cell.lastStep >= 6'543);
                }
            }
            QCOMPARE(bad, 1);
            QCOMPARE(strip.front().firstStep, 1u);
            QCOMPARE(strip.back().lastStep, 10'000u);
        }
    }

    void stripTellsPartlyReplayedCells() {
        StepSeries series;
        series.reset(10);
        const std::vector<StepCell> cells{cellOf(1, StepState::matched), cellOf(2, StepState::matched)};
        series.apply(cells);
        const auto strip = reduceStrip(series.cells(), 2);
        QVERIFY(strip[0].mixed);
        QCOMPARE(strip[0].worst, StepState::matched);
        QCOMPARE(strip[1].worst, StepState::notReplayed);
        QVERIFY(!strip[1].mixed);
        QVERIFY(reduceStrip({}, 10).empty());
        QVERIFY(reduceStrip(series.cells(), 0).empty());
    }

    void seriesCountsAndForgets() {
        StepSeries series;
        series.reset(5);
        const std::vector<double> losses{3.0, std::nan(""), 2.0, INFINITY, 1.0};
        series.setClaimedLosses(losses);
        const std::vector<std::uint64_t> checkpoints{5, 9};
        series.setCheckpoints(checkpoints);
        const std::vector<StepCell> cells{cellOf(2, StepState::mismatched), cellOf(3, StepState::matched), cellOf(99, StepState::matched)};
        series.apply(cells);
        QCOMPARE(series.replayed(), 2u);
        QCOMPARE(series.mismatched(), 1u);
        QVERIFY(series.at(2).hasClaimed && std::isnan(series.at(2).lossClaimed));
        QVERIFY(series.at(5).checkpoint);
        const std::vector<StepCell> again{cellOf(2, StepState::matched)};
        series.apply(again); // replayed anew after a resume
        QCOMPARE(series.replayed(), 2u);
        QCOMPARE(series.mismatched(), 0u);
        QCOMPARE(series.firstMismatch(), 0u);
        const QByteArray csv = series.toCsv();
        QCOMPARE(csv.count('\n'), 6);
        QVERIFY(csv.contains("2,matched,NaN,"));
        QVERIFY(csv.contains("4,not_replayed,+Inf,,"));
        series.clearReplay();
        QCOMPARE(series.replayed(), 0u);
        QVERIFY(series.at(1).hasClaimed);
    }

    void heatMapKeepsSpikesAndTellsUnknownFromZero() {
        SiteMatrix matrix;
        std::vector<SiteRow> rows;
        for (std::uint32_t i = 0; i < 97; ++i) {
            rows.push_back({i * 3, QStringLiteral("site %1").arg(i), QStringLiteral("forward"), 100});
        }
        matrix.reset(5'000, rows);
        for (std::uint64_t step = 1; step <= 4'000; ++step) {
            matrix.setStep(step, step == 1'234 ? std::vector<SiteCount>{{41, 777, 5, 1}} : std::vector<SiteCount>{});
        }
        matrix.commit();
        for (const auto& [columns, height] : {std::pair<std::size_t, std::size_t>{1, 1}, {50, 10}, {640, 97}, {9'999, 500}}) {
            const auto grid = matrix.reduce(SiteMetric::entries, columns, height);
            QVERIFY(grid.columns <= columns && grid.rows <= height);
            QCOMPARE(grid.max, 777u);
            const auto& spike = grid.at(41 / grid.sitesPerRow, (1'234 - 1) / grid.stepsPerColumn);
            QCOMPARE(spike.max, 777u);
            QCOMPARE(spike.min, grid.isReduced() ? 0u : 777u);
            std::uint64_t known = 0;
            std::uint64_t unknown = 0;
            int spikes = 0;
            for (const auto& cell : grid.cells) {
                known += cell.known;
                unknown += cell.unknown;
                spikes += cell.max > 0 ? 1 : 0;
            }
            QCOMPARE(spikes, 1);
            QCOMPARE(known, 4'000u * 97u);
            QCOMPARE(unknown, 1'000u * 97u);
        }
        const auto full = matrix.reduce(SiteMetric::corrections, 5'000, 97);
        QVERIFY(!full.isReduced());
        QCOMPARE(full.at(0, 4'999).known, 0u); // hatched, not zero
        QCOMPARE(full.at(0, 0).known, 1u);     // zero
        QCOMPARE(matrix.rowOfSite(41 * 3), 41);
        QCOMPARE(matrix.rowOfSite(1), -1);
        QCOMPARE(matrix.totals()[41].corrections, 5u);
        QCOMPARE(matrix.toCsv().count('\n'), 2);
    }

    void heatMapMatchesASlowReference() {
        QRandomGenerator random(7);
        SiteMatrix matrix;
        std::vector<SiteRow> rows(13);
        matrix.reset(101, rows);
        std::vector<std::vector<int>> values(13, std::vector<int>(101, -1)); // -1 = not replayed
        for (std::uint64_t step = 1; step <= 101; ++step) {
            if (random.bounded(4) == 0) {
                continue;
            }
            std::vector<SiteCount> counts;
            for (std::uint32_t row = 0; row < 13; ++row) {
                const auto value = static_cast<std::uint32_t>(random.bounded(3) == 0 ? random.bounded(50) : 0);
                values[row][step - 1] = static_cast<int>(value);
                if (value > 0) {
                    counts.push_back({row, value, 0, 0});
                }
            }
            matrix.setStep(step, counts);
        }
        for (const std::size_t columns : {1u, 10u, 33u, 101u}) {
            for (const std::size_t height : {1u, 4u, 13u}) {
                const auto grid = matrix.reduce(SiteMetric::entries, columns, height);
                for (std::size_t r = 0; r < grid.rows; ++r) {
                    for (std::size_t c = 0; c < grid.columns; ++c) {
                        int low = 1 << 30;
                        int high = 0;
                        std::uint32_t known = 0;
                        for (std::size_t i = r * grid.sitesPerRow; i < std::min<std::size_t>((r + 1) * grid.sitesPerRow, 13); ++i) {
                            for (std::size_t s = c * grid.stepsPerColumn; s < std::min<std::size_t>((c + 1) * grid.stepsPerColumn, 101); ++s) {
                                if (values[i][s] >= 0) {
                                    low = std::min(low, values[i][s]);
                                    high = std::max(high, values[i][s]);
                                    ++known;
                                }
                            }
                        }
                        const auto& cell = grid.at(r, c);
                        QCOMPARE(cell.known, known);
                        QCOMPARE(cell.max, static_cast<std::uint32_t>(high));
                        QCOMPARE(cell.min, known == 0 ? 0u : static_cast<std::uint32_t>(low));
                    }
                }
            }
        }
    }

    void twinTableHoldsEveryCount() {
        SiteMatrix matrix;
        matrix.reset(3, {{0, QStringLiteral("a / y"), {}, 4}, {2, QStringLiteral("a / dX"), {}, 4}});
        MatrixTableModel table(&matrix);
        matrix.setStep(2, {{1, 9, 1, 0}, {0, 4, 0, 0}});
        matrix.commit();
        QCOMPARE(table.rowCount(), 2);
        QCOMPARE(table.index(1, 0).data().toString(), QStringLiteral("a / dX"));
        QCOMPARE(table.index(1, 2).data().toString(), QStringLiteral("9"));
        QCOMPARE(table.index(1, 0).data(TableModel::kIdRole).toULongLong(), 2u);
    }

    void tableSortsFiltersAndLimits() {
        TableModel model({QStringLiteral("Name"), QStringLiteral("Count")});
        std::vector<TableRow> rows;
        for (const auto value : {10u, 9u, 100u}) {
            rows.push_back({{textCell(QStringLiteral("row, %1").arg(value)), numberCell(value)}, {}});
        }
        model.setRows(rows);
        model.sort(1, Qt::AscendingOrder);
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("9"));
        QCOMPARE(model.index(2, 1).data().toString(), QStringLiteral("100"));
        model.setFilter(QStringLiteral("ROW, 1"));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.toCsv(), QByteArray("Name,Count\n\"row, 10\",10\n\"row, 100\",100\n"));
        model.setFilter({});
        model.append(rows, 4);
        QCOMPARE(model.total(), std::size_t{4});
    }

    void correctionsPageByKey() {
        CorrectionsModel model;
        QSignalSpy wanted(&model, &CorrectionsModel::pageWanted);
        model.reset(true);
        QVERIFY(model.canFetchMore({}));
        model.fetchMore({});
        model.fetchMore({}); // one question at a time
        QCOMPARE(wanted.count(), 1);
        std::vector<CorrectionsModel::Row> page(CorrectionsModel::kPage);
        for (std::size_t i = 0; i < page.size(); ++i) {
            page[i] = {{i / 3 + 1, QStringLiteral("s"), i, 0x3F800000u, 0x3F800001u}, static_cast<std::int64_t>(i + 1)};
        }
        model.appendPage(page);
        QVERIFY(model.canFetchMore({}));
        model.fetchMore({});
        QCOMPARE(wanted.last()[1].toLongLong(), static_cast<qlonglong>(CorrectionsModel::kPage));
        page.resize(3);
        model.appendPage(page);
        QVERIFY(!model.canFetchMore({}));
        QCOMPARE(model.rowCount(), static_cast<int>(CorrectionsModel::kPage) + 3);
        QVERIFY(model.index(0, 5).data().toString().contains(QStringLiteral("up")));
        model.reset(false);
        model.appendLive(std::vector<CorrectionsModel::Row>(CorrectionsModel::kLiveRows));
        model.appendLive(std::vector<CorrectionsModel::Row>(1)); // the rest stays in the store
        QCOMPARE(model.rowCount(), static_cast<int>(CorrectionsModel::kLiveRows));
        QVERIFY(model.canFetchMore({}));
    }

    void numbersRead_data() {
        QTest::addColumn<QString>("got");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("grouped") << groupedNumber(1'234'567).replace(QChar(0x202F), QLatin1Char(' ')) << "1 234 567";
        QTest::newRow("short") << groupedNumber(123) << "123";
        QTest::newRow("bytes") << byteText(31'400).replace(QChar(0xA0), QLatin1Char(' ')) << "31.4 KB";
        QTest::newRow("rounding up to the next unit") << byteText(999'700).replace(QChar(0xA0), QLatin1Char(' ')) << "1.0 MB";
        QTest::newRow("seconds") << durationText(3.24) << "3.2 s";
        QTest::newRow("minutes") << durationText(200) << "3 min 20 s";
        QTest::newRow("hours") << durationText(7'500) << "2 h 05 min";
        QTest::newRow("no time") << durationText(NAN) << "unknown";
        QTest::newRow("never 100 %") << shareText(0.99999) << "> 99.9 %";
        QTest::newRow("never 0 %") << shareText(1e-9) << "< 0.1 %";
        QTest::newRow("sure") << shareText(1.0) << "100 %";
        QTest::newRow("exact") << exactDecimal(0.1) << "0.1";
        QTest::newRow("float") << floatDecimal(0x3DCCCCCD) << "0.100000001";
        QTest::newRow("nan") << floatDecimal(0x7FC00000) << "NaN";
        QTest::newRow("hex") << floatHex(0x3F800000) << "0x3f800000";
    }
    void numbersRead() {
        QFETCH(QString, got);
        QFETCH(QString, wanted);
        QCOMPARE(got, wanted);
    }

    void distanceCountsRoundingSteps() {
        QCOMPARE(floatDistance(0x3F800000, 0x3F800001), 1);
        QCOMPARE(floatDistance(0x80000001, 0x00000001), 2); // across zero
        QCOMPARE(floatDistance(0x7FC00000, 0x3F800000), 0); // NaN has no place
    }

    void greenOnlyForAccepted() {
        // Whatever else is known, only a report that says "accepted" of an ended replay may look good.
        for (const auto run : {RunState::idle, RunState::starting, RunState::running, RunState::paused, RunState::stopping,
                               RunState::interrupted, RunState::finished, RunState::failed}) {
            for (const bool clientOrder : {false, true}) {
                for (int verdict = -1; verdict <= 3; ++verdict) {
                    VerdictSituation s;
                    s.hasSubmission = true;
                    s.clientOrderKnown = clientOrder;
                    s.run = run;
                    s.stepsMatched = s.stepsTotal = 10;
                    if (verdict >= 0) {
                        s.report.emplace();
                        s.report->verdict = static_cast<audit::Verdict>(verdict);
                        s.report->stepsChecked = s.report->stepsTotal = 10;
                    }
                    const auto words = verdictText(s);
                    const bool busy = run == RunState::starting || run == RunState::running || run == RunState::paused || run == RunState::stopping;
                    const bool accepted = verdict == static_cast<int>(audit::Verdict::accepted);
                    QCOMPARE(words.tone == Tone::good, accepted && !busy);
                    QVERIFY(!words.headline.isEmpty());
                    QVERIFY(words.nextLabel.isEmpty() == words.nextActionId.isEmpty());
                }
            }
        }
        VerdictSituation fresh;
        fresh.hasSubmission = true;
        QCOMPARE(verdictText(fresh).tone, Tone::neutral);
        QCOMPARE(verdictText(fresh).headline, QStringLiteral("Not checked yet"));
    }

    void scopeIsPartOfTheVerdict() {
        audit::VerifyReport report;
        report.stepsChecked = report.stepsTotal = 40;
        QCOMPARE(scopeText(report).replace(QChar(0xA0), QLatin1Char(' ')), QStringLiteral("all 40 steps"));
        report.scope = audit::Scope::sample;
        report.stepsChecked = 12;
        report.ranges = {{1, 4}, {9, 12}, {17, 20}};
        report.detectionProbability = 0.3;
        QVERIFY(scopeText(report).contains(QStringLiteral("30 %")));
        QVERIFY(scopeText(report).contains(QStringLiteral("12 of 40")));
        report.verdict = audit::Verdict::accepted;
        VerdictSituation situation;
        situation.hasSubmission = situation.clientOrderKnown = true;
        situation.run = RunState::finished;
        situation.report = report;
        QCOMPARE(verdictText(situation).headline, QStringLiteral("Accepted in part"));
        situation.report->stepsChecked = 40;
        QCOMPARE(verdictText(situation).headline, QStringLiteral("Accepted"));
    }

    void graphFollowsTheProgram() {
        format::Program program;
        program.batch = {{"image", "f32", {0, 1, 2, 2}, "batch", ""}, {"label", "i64", {0}, "batch", ""}};
        program.tensors = {{"fc.weight", "f32", {3, 4}, "parameter", ""}};
        program.operators = {{"flat", "reshape", {"image"}, {"flat"}, {}, ""},
                             {"blocks.0.fc", "linear", {"flat", "fc.weight"}, {"y"}, {}, ""},
                             {"blocks.0.act", "relu", {"y"}, {"z"}, {}, ""},
                             {"blocks.0.sum", "add", {"z", "y"}, {"w"}, {}, ""},
                             {"loss", "cross_entropy", {"w", "label"}, {"loss"}, {}, ""}};
        program.loss = "loss";
        const auto nodes = graphOf(program);
        QCOMPARE(nodes.size(), std::size_t{7});
        QVERIFY(nodes[3].product);
        QVERIFY(!nodes[4].product);
        QCOMPARE(nodes[3].group, QStringLiteral("blocks.0"));
        QCOMPARE(nodes[5].layer, 4);
        QCOMPARE(nodes[1].layer, nodes[6].layer - 1); // labels stand beside their use
        for (const auto& node : nodes) {
            for (const int input : node.inputs) {
                QVERIFY(nodes[static_cast<std::size_t>(input)].layer < node.layer);
            }
        }
        for (std::size_t a = 0; a < nodes.size(); ++a) {
            for (std::size_t b = a + 1; b < nodes.size(); ++b) {
                QVERIFY(nodes[a].layer != nodes[b].layer || nodes[a].column != nodes[b].column);
            }
        }
        QCOMPARE(parameterCount(program), 12u);
    }

    void reductionOfAMillionIsQuick() {
        StepSeries series;
        series.reset(1'000'000);
        QElapsedTimer clock;
        clock.start();
        const auto strip = reduceStrip(series.cells(), 1'200);
        const auto elapsed = clock.elapsed();
        QCOMPARE(strip.back().lastStep, 1'000'000u);
        QVERIFY2(elapsed < 100, qPrintable(QString::number(elapsed)));
    }
};

QTEST_MAIN(ModelsTest)
#include "models_test.moc"
