// SPDX-License-Identifier: Apache-2.0
// Pages, anchors and heat maps against the same computed the slow way.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <random>

#include "tests/store/store_fixture.h"

namespace assay::test {
namespace {

using store::AuditStore;
using store::CorrectionFilter;
using store::CorrectionKey;
using store::CorrectionRow;

class PagingTest : public StoreTest {
protected:
    /// An audit with random counts; another one beside it must never show up.
    void fill(AuditStore& store, std::uint64_t steps, std::uint32_t sites, std::uint32_t correctionsPerStep) {
        std::mt19937 random(7);
        const auto other = *store.createAudit(newAudit("other"));
        m_id = *store.createAudit(newAudit());
        for (std::uint64_t step = 1; step <= steps; ++step) {
            auto write = stepWrite(step, random() % 10 == 0 ? "mismatched" : "matched");
            write.sites.clear();
            write.corrections.clear();
            for (std::uint32_t site = 0; site < sites; ++site) {
                if (random() % 3 == 0) {
                    write.sites.push_back({site, random() % 5, random() % 3, random() % 2});
                }
            }
            for (std::uint32_t i = 0; i < correctionsPerStep; ++i) {
                write.corrections.push_back(
                    {{step, 0}, static_cast<std::uint32_t>(random() % sites), "site", random(), 1, 2});
            }
            ASSERT_TRUE(ok(store.putStep(m_id, write)));
            if (step % 7 == 0) {
                ASSERT_TRUE(ok(store.putStep(other, write)));
            }
            m_steps.push_back(std::move(write));
        }
    }
    /// All corrections page by page.
    std::vector<CorrectionRow> pages(const AuditStore& store, const CorrectionFilter& filter, std::size_t limit) {
        std::vector<CorrectionRow> all;
        std::optional<CorrectionKey> after;
        for (;;) {
            const auto page = store.corrections(m_id, filter, after, limit).value();
            EXPECT_LE(page.size(), limit);
            if (page.empty()) {
                return all;
            }
            all.insert(all.end(), page.begin(), page.end());
            after = page.back().key;
        }
    }
    std::vector<CorrectionRow> expected(const CorrectionFilter& filter) {
        std::vector<CorrectionRow> rows;
        for (const auto& step : m_steps) {
            for (const auto& row : step.corrections) {
                if ((!filter.site || row.site == *filter.site) && row.key.step >= filter.firstStep.value_or(0) &&
                    row.key.step <= filter.lastStep.value_or(~0ULL)) {
                    rows.push_back(row);
                }
            }
        }
        return rows;
    }
    static std::vector<CorrectionRow> withoutIds(std::vector<CorrectionRow> rows) {
        for (auto& row : rows) {
            row.key.id = 0;
        }
        return rows;
    }

    store::AuditId m_id = 0;
    std::vector<store::StepWrite> m_steps;
};

TEST_F(PagingTest, correctionsByPageAndFilter) {
    auto store = open();
    fill(store, 40, 6, 5);
    // A step written anew gets later ids but keeps its place.
    ASSERT_TRUE(ok(store.putStep(m_id, m_steps[9])));
    const std::vector<CorrectionFilter> filters{{}, {2, {}, {}}, {{}, 5, 20}, {3, 10, {}}, {{}, {}, 12}, {99, {}, {}}};
    for (const auto& filter : filters) {
        const auto wanted = expected(filter);
        for (const std::size_t limit : {1U, 7U, 1000U}) {
            EXPECT_EQ(withoutIds(pages(store, filter, limit)), wanted);
        }
        EXPECT_EQ(*store.countCorrections(m_id, filter), wanted.size());
    }
    EXPECT_TRUE(store.corrections(m_id, {}, std::nullopt, 0)->empty());
}

TEST_F(PagingTest, anchorsJumpToRowNumbers) {
    auto store = open();
    fill(store, 30, 4, 7);
    for (const CorrectionFilter& filter :
         {CorrectionFilter{}, CorrectionFilter{1, {}, {}}, CorrectionFilter{99, {}, {}}}) {
        const auto all = expected(filter);
        for (const std::size_t every : {1U, 10U, 210U, 1000U}) {
            const auto anchors = *store.correctionAnchors(m_id, filter, every);
            ASSERT_EQ(anchors.size(), all.size() / every + 1);
            for (std::size_t i = 0; i < anchors.size(); ++i) {
                const auto page = withoutIds(*store.corrections(m_id, filter, anchors[i], 3));
                const auto first = std::min(all.size(), i * every);
                const auto last = std::min(all.size(), first + 3);
                EXPECT_EQ(page, std::vector<CorrectionRow>(all.begin() + static_cast<long>(first),
                                                           all.begin() + static_cast<long>(last)));
            }
        }
    }
    EXPECT_FALSE(store.correctionAnchors(m_id, {}, 0).has_value());
}

TEST_F(PagingTest, stepsByPage) {
    auto store = open();
    fill(store, 25, 2, 0);
    std::optional<std::uint64_t> after;
    std::vector<store::StepRow> rows;
    for (;;) {
        const auto page = *store.steps(m_id, after, 4);
        if (page.empty()) {
            break;
        }
        rows.insert(rows.end(), page.begin(), page.end());
        after = page.back().step;
    }
    ASSERT_EQ(rows.size(), m_steps.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i], m_steps[i].step);
    }
}

TEST_F(PagingTest, auditsNewestFirst) {
    auto store = open();
    for (int i = 0; i < 7; ++i) {
        static_cast<void>(store.createAudit(newAudit()));
    }
    const auto page = *store.audits(std::nullopt, 3);
    ASSERT_EQ(page.size(), 3U);
    EXPECT_EQ(page[0].id, 7);
    EXPECT_EQ(store.audits(page.back().id, 3)->front().id, 4);
    EXPECT_TRUE(store.audits(1, 3)->empty());
}

TEST_F(PagingTest, findingsByPageAndFilter) {
    auto store = open();
    m_id = *store.createAudit(newAudit());
    std::vector<store::FindingRow> rows;
    for (std::uint64_t i = 0; i < 50; ++i) {
        store::FindingRow row;
        row.severity = i % 3 == 0 ? "failure" : "info";
        row.text = "finding " + std::to_string(i);
        if (i % 2 == 0) {
            row.source = "log";
            row.step = i;
            row.part = i % 4 == 0 ? "log_root" : "loss";
            row.tensor = "t";
            row.operator_ = "op";
            row.site = "op / y";
            row.element = (1ULL << 53) - 1;
            row.claimed = "0.1";
            row.computed = "0.2";
            row.claimedBits = 0xffffffffU;
            row.computedBits = 0;
        }
        rows.push_back(row);
    }
    ASSERT_TRUE(ok(store.addFindings(m_id, rows)));
    const auto check = [&](const store::FindingFilter& filter) {
        std::vector<store::FindingRow> wanted;
        for (const auto& row : rows) {
            if ((!filter.severity || row.severity == *filter.severity) && (!filter.part || row.part == filter.part) &&
                (!filter.firstStep || (row.step && *row.step >= *filter.firstStep)) &&
                (!filter.lastStep || (row.step && *row.step <= *filter.lastStep))) {
                wanted.push_back(row);
            }
        }
        std::vector<store::FindingRow> got;
        std::optional<std::int64_t> after;
        for (;;) {
            auto page = *store.findings(m_id, filter, after, 4);
            if (page.empty()) {
                break;
            }
            after = page.back().id;
            for (auto& row : page) {
                row.id = 0;
                got.push_back(row);
            }
        }
        EXPECT_EQ(got, wanted);
        EXPECT_EQ(*store.countFindings(m_id, filter), wanted.size());
    };
    check({});
    check({"failure", {}, {}, {}});
    check({{}, "loss", {}, {}});
    check({"info", {}, 10, 20});
    check({{}, {}, {}, 6});
}

TEST_F(PagingTest, heatMapEqualsTheSlowWay) {
    auto store = open();
    fill(store, 50, 5, 0);
    struct Range {
        std::uint64_t first, last;
        std::size_t buckets;
    };
    for (const auto& [first, last, buckets] : {Range{1, 50, 50}, Range{1, 50, 7}, Range{1, 50, 1}, Range{11, 33, 5},
                                               Range{40, 80, 10}, Range{60, 70, 3}, Range{1, 50, 1000}}) {
        const auto map = *store.heatMap(m_id, first, last, buckets);
        EXPECT_LE(map.replayed.size(), buckets);
        EXPECT_GE(map.stepsPerBucket * map.replayed.size(), last - first + 1);
        // The slow way: every (site, bucket) from all replayed steps, absent rows as zero.
        std::map<std::pair<std::uint32_t, std::uint32_t>, store::HeatCell> wanted;
        std::vector<std::uint64_t> replayed(map.replayed.size());
        std::vector<std::uint64_t> mismatched(map.replayed.size());
        for (const auto& step : m_steps) {
            const auto number = step.step.step;
            if (number < first || number > last) {
                continue;
            }
            const auto bucket = static_cast<std::uint32_t>((number - first) / map.stepsPerBucket);
            for (std::uint32_t site = 0; site < 5; ++site) {
                store::SiteCountRow count{site, 0, 0, 0};
                for (const auto& row : step.sites) {
                    count = row.site == site ? row : count;
                }
                auto& cell = wanted[{site, bucket}];
                const bool first_ = replayed[bucket] == 0;
                cell.site = site;
                cell.bucket = bucket;
                cell.minEntries = first_ ? count.entries : std::min(cell.minEntries, count.entries);
                cell.minCorrections = first_ ? count.corrections : std::min(cell.minCorrections, count.corrections);
                cell.maxEntries = std::max(cell.maxEntries, count.entries);
                cell.maxCorrections = std::max(cell.maxCorrections, count.corrections);
                cell.maxOffences = std::max(cell.maxOffences, count.offences);
                cell.sumEntries += count.entries;
                cell.sumCorrections += count.corrections;
                cell.sumOffences += count.offences;
            }
            ++replayed[bucket];
            mismatched[bucket] += step.step.status == "mismatched" ? 1 : 0;
        }
        EXPECT_EQ(map.replayed, replayed);
        EXPECT_EQ(map.mismatched, mismatched);
        std::vector<store::HeatCell> cells;
        for (const auto& [key, cell] : wanted) {
            if (cell.maxEntries + cell.maxCorrections + cell.maxOffences > 0) {
                cells.push_back(cell);
            }
        }
        EXPECT_EQ(map.cells, cells);
    }
    EXPECT_FALSE(store.heatMap(m_id, 5, 4, 1).has_value());
    EXPECT_FALSE(store.heatMap(m_id, 1, 4, 0).has_value());
    EXPECT_FALSE(store.heatMap(m_id, 0, ~0ULL, 10).has_value());
}

TEST_F(PagingTest, costsOfALargeAudit) {
    // Prints what the queries of the window cost; the rows must be right, the times gate nothing.
    auto store = open();
    fill(store, 400, 100, 100);
    const auto measure = [](const char* what, auto work) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        std::cout << what << ": " << ms << " ms\n";
    };
    const auto all = expected({});
    measure("page of 100 corrections in the middle of 40,000", [&] {
        const auto middle = store.corrections(m_id, {}, CorrectionKey{200, 1LL << 60}, 100);
        EXPECT_EQ(middle->front().key.step, 201U);
    });
    measure("anchors over 40,000 corrections",
            [&] { EXPECT_EQ(store.correctionAnchors(m_id, {}, 4096)->size(), all.size() / 4096 + 1); });
    measure("count of 40,000 corrections", [&] { EXPECT_EQ(*store.countCorrections(m_id, {}), all.size()); });
    measure("heat map 100 sites x 400 steps",
            [&] { EXPECT_EQ(store.heatMap(m_id, 1, 400, 100)->replayed.size(), 100U); });
}

} // namespace
} // namespace assay::test
