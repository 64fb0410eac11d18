// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "core/store/detail/state.h"

namespace assay::store {

namespace {

/// Collects the sites of one bucket. Rows arrive in (step, site) order, so a bucket is complete when the next one
/// begins.
class BucketCells {
public:
    void add(std::uint32_t bucket, std::uint32_t site, std::uint64_t entries, std::uint64_t corrections,
             std::uint64_t offences) {
        auto [at, isNew] = m_cells.try_emplace(site);
        auto& [cell, rows] = at->second;
        if (isNew) {
            cell = {site, bucket, entries, entries, 0, corrections, corrections, 0, 0, 0};
        }
        ++rows;
        cell.minEntries = std::min(cell.minEntries, entries);
        cell.maxEntries = std::max(cell.maxEntries, entries);
        cell.sumEntries += entries;
        cell.minCorrections = std::min(cell.minCorrections, corrections);
        cell.maxCorrections = std::max(cell.maxCorrections, corrections);
        cell.sumCorrections += corrections;
        cell.maxOffences = std::max(cell.maxOffences, offences);
        cell.sumOffences += offences;
    }
    /// Moves the cells out. A step that was replayed but has no row of a site had counts of zero there.
    void flush(std::uint64_t replayedSteps, std::vector<HeatCell>& out) {
        for (auto& [site, value] : m_cells) {
            auto& [cell, rows] = value;
            if (rows < replayedSteps) {
                cell.minEntries = 0;
                cell.minCorrections = 0;
            }
            if (cell.maxEntries != 0 || cell.maxCorrections != 0 || cell.maxOffences != 0) {
                out.push_back(cell);
            }
        }
        m_cells.clear();
    }

private:
    std::unordered_map<std::uint32_t, std::pair<HeatCell, std::uint64_t>> m_cells;
};

} // namespace

base::Result<HeatMap> AuditStore::heatMap(AuditId id, std::uint64_t first, std::uint64_t last,
                                          std::size_t buckets) const {
    constexpr std::size_t kMaxBuckets = 1U << 20;
    if (first > last || last >= 1ULL << 53 || buckets == 0 || buckets > kMaxBuckets) {
        return base::fail(base::ErrorCode::usage,
                          "a heat map needs an ascending range of steps and 1 to 1,048,576 buckets");
    }
    HeatMap map;
    map.first = first;
    map.last = last;
    const auto steps = last - first + 1;
    map.stepsPerBucket = (steps + buckets - 1) / buckets;
    const auto used = static_cast<std::size_t>((steps + map.stepsPerBucket - 1) / map.stepsPerBucket);
    map.replayed.assign(used, 0);
    map.mismatched.assign(used, 0);
    const auto bucketOf = [&](std::uint64_t step) {
        return static_cast<std::size_t>((step - first) / map.stepsPerBucket);
    };
    {
        ASSAY_TRY(query, m_state->database->query(
                             "SELECT step, status = 'mismatched' FROM steps WHERE audit = ? AND step BETWEEN ? AND ?"));
        query.bind(id).bind(first).bind(last);
        for (;;) {
            ASSAY_TRY(more, query.next());
            if (!more) {
                break;
            }
            ++map.replayed[bucketOf(query.natural(0))];
            map.mismatched[bucketOf(query.natural(0))] += query.natural(1);
        }
    }
    ASSAY_TRY(query,
              m_state->database->query(
                  "SELECT step, site, entries, corrections, offences FROM site_stats WHERE audit = ? AND step BETWEEN "
                  "? AND ? ORDER BY step, site"));
    query.bind(id).bind(first).bind(last);
    BucketCells open;
    std::size_t current = 0;
    for (;;) {
        ASSAY_TRY(more, query.next());
        const auto bucket = more ? bucketOf(query.natural(0)) : used;
        if (bucket != current) {
            open.flush(map.replayed[current], map.cells);
            current = bucket;
        }
        if (!more) {
            break;
        }
        open.add(static_cast<std::uint32_t>(bucket), query.word(1), query.natural(2), query.natural(3),
                 query.natural(4));
    }
    std::sort(map.cells.begin(), map.cells.end(), [](const HeatCell& a, const HeatCell& b) {
        return std::pair(a.site, a.bucket) < std::pair(b.site, b.bucket);
    });
    return map;
}

} // namespace assay::store
