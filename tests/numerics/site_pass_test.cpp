// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/site_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/numerics/random_source.h"

namespace assay::numerics {
namespace {

using arith::bitsOf;
using test::RandomSource;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// A product of one row in which every element has bound `bound` plus the 2u|y| part.
struct Row {
    explicit Row(std::vector<double> values, double bound, std::uint64_t indexBase = 0)
        : y(std::move(values)), colNorm(y.size(), bound), colGranule(y.size(), 0x1p-298) {
        site = {y.data(), 1, y.size(), &one, colNorm.data(), &one, colGranule.data(), 1.0, indexBase};
    }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;

    std::vector<double> y;
    double one = 1.0;
    std::vector<double> colNorm;
    std::vector<double> colGranule;
    ProductSite site;
};

constexpr double kTie = 1.0 + 0x1p-24; // between 1 (key even) and 1 + 2^-23
const float kAbove = 1.0F + 0x1p-23F;

// Element 0 sure, 1 a tie, 2 sure, 3 in deep cancellation, 4 a tie, 5 sure.
Row honest(double bound = 0x1p-40) {
    return Row({3.0, kTie, -2.5, 0x1p-80, -kTie, 0.0}, bound);
}

struct Outcome {
    EnforceStats stats;
    std::vector<float> out;
};
Outcome enforce(const Row& row, const SiteLog& log, bool ignoreLog = false) {
    Outcome result;
    result.out.assign(row.y.size(), 42.0F);
    result.stats = enforceSite(row.site, log, result.out.data(), ignoreLog);
    EXPECT_EQ(result.stats.values, row.y.size());
    return result;
}
struct Recording {
    RecordStats stats;
    std::vector<float> out;
    SiteLog log;
};
Recording record(const Row& row) {
    Recording result;
    result.out.assign(row.y.size(), 42.0F);
    result.stats = recordSite(row.site, result.out.data(), result.log);
    return result;
}
void expectOneOffence(const Outcome& outcome, OffenceKind kind, std::uint64_t index) {
    ASSERT_EQ(outcome.stats.offenceCount, 1U);
    ASSERT_EQ(outcome.stats.offences.size(), 1U);
    EXPECT_EQ(outcome.stats.offences[0].kind, kind) << toString(outcome.stats.offences[0].kind);
    EXPECT_EQ(outcome.stats.offences[0].index, index);
}

TEST(RecordSite, LogsDoubtfulElementsOnly) {
    const Row row = honest();
    const Recording r = record(row);
    EXPECT_TRUE(r.stats.finite);
    EXPECT_EQ(r.stats.values, 6U);
    EXPECT_EQ(r.stats.entries, 4U); // 1, 3, 4 and the zero of element 5: a bound of 2^-40 is many floats there
    EXPECT_EQ(r.stats.wholeEntries, 2U);
    ASSERT_EQ(r.log.size(), 4U);
    EXPECT_EQ(r.log[0], (LogEntry{1, false, 0}));
    EXPECT_EQ(r.log[1], (LogEntry{3, true, bitsOf(0x1p-80F)}));
    EXPECT_EQ(r.log[2], (LogEntry{4, false, 0}));
    EXPECT_EQ(r.log[3], (LogEntry{5, true, 0}));
    EXPECT_EQ(r.out, (std::vector<float>{3.0F, 1.0F, -2.5F, 0x1p-80F, -1.0F, 0.0F}));
}

TEST(RecordSite, IndexBaseAndAppending) {
    Row row({kTie, 1.0}, 0x1p-40, 1000);
    SiteLog log{{5, false, 1}};
    float out[2];
    EXPECT_EQ(recordSite(row.site, out, log).entries, 1U);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[1].index, 1000U);
}

TEST(RecordSite, NegativeZeroNeverAppears) {
    Row row({-0.0, -0x1p-151, -1e-300, -0x1p-150}, 0.0);
    const Recording r = record(row);
    for (const float v : r.out) {
        EXPECT_EQ(bitsOf(v), 0U);
    }
    EXPECT_TRUE(r.log.empty() || r.log[0].index == 3); // the exact tie may be in doubt through 2u|y|
}

TEST(RecordSite, NothingIsLoggedWhereTheSumIsExact) {
    Row row({kTie, kTie}, 0x1p-40);
    row.colGranule[1] = 1.0; // norms 2^-40 < 2^53 granules
    const Recording r = record(row);
    ASSERT_EQ(r.log.size(), 1U);
    EXPECT_EQ(r.log[0].index, 0U);
    // An entry there is illegal even if it says what the auditor has.
    SiteLog forged = r.log;
    forged.push_back({1, false, 0});
    expectOneOffence(enforce(row, forged), OffenceKind::illegalEntry, 1);
}

TEST(RecordSite, NonFinite) {
    for (const double bad : {kInf, -kInf, std::nan("")}) {
        Row inY({1.0, bad, kTie}, 0x1p-40);
        const Recording r = record(inY);
        EXPECT_FALSE(r.stats.finite);
        EXPECT_EQ(r.log.size(), 1U); // the tie
        EXPECT_FALSE(enforce(inY, r.log).stats.finite);
        EXPECT_EQ(enforce(inY, r.log).stats.offenceCount, 0U);
        Row inNorm({1.0, 2.0, kTie}, 0x1p-40);
        inNorm.colNorm[1] = std::fabs(bad); // a norm is never negative
        EXPECT_FALSE(record(inNorm).stats.finite);
        EXPECT_EQ(record(inNorm).log.size(), 1U);
        EXPECT_FALSE(enforce(inNorm, record(inNorm).log).stats.finite);
        EXPECT_FALSE(enforce(inNorm, {}, true).stats.finite);
        // An entry there would allow anything.
        SiteLog forged{{1, true, bitsOf(7.0F)}, {2, false, 0}};
        const Outcome o = enforce(inNorm, forged);
        expectOneOffence(o, OffenceKind::nonFinite, 1);
        EXPECT_EQ(o.out[1], 2.0F);
    }
    // Overflow in rounding, sure and in doubt.
    Row sure({1.0, 1e300}, 0x1p-40);
    EXPECT_FALSE(record(sure).stats.finite);
    EXPECT_FALSE(enforce(sure, {}).stats.finite);
    Row edge({1.0, 0x1.ffffffp127}, 0x1p100);
    edge.colNorm[0] = 0.0;
    const Recording r = record(edge);
    EXPECT_FALSE(r.stats.finite);
    ASSERT_EQ(r.log.size(), 1U);
    Row below({1.0, 0x1.fffffefffffffp127}, 0x1p100);
    below.colNorm[0] = 0.0;
    EXPECT_TRUE(record(below).stats.finite);
    // The auditor, a little below, takes the trainer's overflow.
    const Outcome o = enforce(below, r.log);
    EXPECT_EQ(o.stats.offenceCount, 0U);
    EXPECT_FALSE(o.stats.finite);
    EXPECT_EQ(o.out[1], INFINITY);
    // Where the low end of the interval overflows but the value does not, the site is finite.
    Row wide({-0x1.fffffcp127, 0x1.fffffep127}, 0x1p104);
    EXPECT_TRUE(record(wide).stats.finite);
}

TEST(EnforceSite, HonestLogIsAccepted) {
    const Row row = honest();
    const Recording r = record(row);
    const Outcome o = enforce(row, r.log);
    EXPECT_EQ(o.stats.offenceCount, 0U);
    EXPECT_EQ(o.stats.corrections, 0U);
    EXPECT_EQ(o.stats.entries, 4U);
    EXPECT_EQ(o.stats.demanded, 4U);
    EXPECT_TRUE(o.stats.finite);
    EXPECT_EQ(o.out, r.out);
}

TEST(EnforceSite, EntriesCorrectTheAuditor) {
    const Row trainer({kTie + 0x1p-41, 0x1p-80}, 0x1p-40);
    const Row auditor({kTie - 0x1p-41, -0x1p-41}, 0x1p-40);
    const Recording r = record(trainer);
    const Outcome o = enforce(auditor, r.log);
    EXPECT_EQ(o.stats.offenceCount, 0U);
    EXPECT_EQ(o.out, r.out);
    ASSERT_EQ(o.stats.corrections, 2U);
    EXPECT_EQ(o.stats.correctionsUp, 2U);
    EXPECT_EQ(o.stats.corrected[0].index, 0U);
    EXPECT_EQ(o.stats.corrected[0].own, 1.0F);
    EXPECT_EQ(o.stats.corrected[0].taken, kAbove);
    EXPECT_EQ(o.stats.corrected[1].own, -0x1p-41F);
    EXPECT_EQ(o.stats.oddEntries, 1U); // 1 + 2^-23 has an odd key
    const Outcome ignored = enforce(auditor, r.log, true);
    EXPECT_EQ(ignored.out, (std::vector<float>{1.0F, -0x1p-41F}));
    EXPECT_EQ(ignored.stats.offenceCount, 0U);
    EXPECT_EQ(ignored.stats.corrections, 0U);
    EXPECT_EQ(ignored.stats.demanded, 2U);
    EXPECT_EQ(ignored.stats.entries, 0U);
}

// One mutation of the honest log per rule.
TEST(EnforceSite, MissingEntry) {
    const Row row = honest();
    const Recording r = record(row);
    for (std::size_t drop = 0; drop < r.log.size(); ++drop) {
        SiteLog log = r.log;
        log.erase(log.begin() + static_cast<std::ptrdiff_t>(drop));
        const Outcome o = enforce(row, log);
        expectOneOffence(o, OffenceKind::missingEntry, r.log[drop].index);
        EXPECT_EQ(o.out, r.out); // an offence although every value agrees
        EXPECT_GT(o.stats.offences[0].takes.count(), 1U);
        EXPECT_EQ(o.stats.offences[0].own, r.out[r.log[drop].index]);
        EXPECT_FALSE(o.stats.offences[0].logged);
    }
    EXPECT_EQ(enforce(row, {}).stats.offenceCount, 4U);
}

TEST(EnforceSite, IllegalEntry) {
    const Row row = honest();
    const Recording r = record(row);
    for (const LogEntry forged : {LogEntry{0, false, 0}, LogEntry{0, true, bitsOf(3.0F)}, LogEntry{2, false, 1}}) {
        SiteLog log = r.log;
        log.insert(std::ranges::find_if(log, [&](const LogEntry& e) { return e.index > forged.index; }), forged);
        const Outcome o = enforce(row, log);
        expectOneOffence(o, OffenceKind::illegalEntry, forged.index);
        EXPECT_EQ(o.stats.offences[0].permits.count(), 1U);
        EXPECT_EQ(o.out, r.out);
    }
}

TEST(EnforceSite, PermittedButNotDemanded) {
    // [y +- D] holds one float, [y +- 3D] two: an entry may be there, and need not.
    const Row row({kTie - 0x1p-39}, 0x1p-40);
    EXPECT_EQ(enforce(row, {}).stats.offenceCount, 0U);
    const Outcome own = enforce(row, {{0, false, 0}});
    EXPECT_EQ(own.stats.offenceCount, 0U);
    EXPECT_EQ(own.stats.demanded, 0U);
    expectOneOffence(enforce(row, {{0, false, 1}}), OffenceKind::noFit, 0); // the other float is too far away
}

TEST(EnforceSite, NoFit) {
    const Row row = honest();
    const Recording r = record(row);
    SiteLog log = r.log;
    log[1].payload = bitsOf(0x1p-30F); // far outside [y +- D]
    Outcome o = enforce(row, log);
    expectOneOffence(o, OffenceKind::noFit, 3);
    EXPECT_EQ(o.stats.offences[0].logged, 0x1p-30F);
    EXPECT_EQ(o.out, r.out);
    log = r.log;
    log[1] = {3, false, 0}; // half of all floats in the interval have that parity
    o = enforce(row, log);
    expectOneOffence(o, OffenceKind::noFit, 3);
    EXPECT_FALSE(o.stats.offences[0].logged);
    log = r.log;
    log[0] = {1, true, bitsOf(1.0F + 0x1p-22F)}; // two floats up
    expectOneOffence(enforce(row, log), OffenceKind::noFit, 1);
    log[0] = {1, true, bitsOf(kAbove)}; // a whole float is always legal where it fits
    EXPECT_EQ(enforce(row, log).stats.offenceCount, 0U);
    log[0] = {1, true, bitsOf(INFINITY)};
    expectOneOffence(enforce(row, log), OffenceKind::noFit, 1);
}

TEST(EnforceSite, ParityWithThreeFloatsFitsOnlyTheMiddle) {
    // [y +- D] holds three floats: the middle one is the only one of its parity, the outer two are ambiguous.
    const Row row({1.0 + 0x1p-23}, 0x1p-23);
    EXPECT_EQ(enforce(row, {{0, false, 1}}).out[0], kAbove);
    EXPECT_EQ(enforce(row, {{0, false, 1}}).stats.offenceCount, 0U);
    expectOneOffence(enforce(row, {{0, false, 0}}), OffenceKind::noFit, 0);
}

TEST(EnforceSite, IndexOutOfRange) {
    Row row({3.0, kTie}, 0x1p-40, 10);
    for (const std::uint64_t index : {0ULL, 9ULL, 12ULL, ~0ULL}) {
        SiteLog log{{11, false, 0}};
        log.insert(index < 11 ? log.begin() : log.end(), {index, false, 0});
        expectOneOffence(enforce(row, log), OffenceKind::indexOutOfRange, index);
    }
}

TEST(EnforceSite, NotIncreasing) {
    const Row row = honest();
    SiteLog log = record(row).log;
    log.insert(log.begin() + 1, log[0]); // twice
    expectOneOffence(enforce(row, log), OffenceKind::notIncreasing, 1);
    log = record(row).log;
    std::swap(log[0], log[1]); // 3, 1, 4, 5: element 1 counts as not logged, and its entry as out of order
    const Outcome o = enforce(row, log);
    ASSERT_EQ(o.stats.offenceCount, 2U);
    EXPECT_EQ(o.stats.offences[0].kind, OffenceKind::missingEntry);
    EXPECT_EQ(o.stats.offences[1].kind, OffenceKind::notIncreasing);
}

TEST(EnforceSite, MalformedPayload) {
    const Row row = honest();
    const Recording r = record(row);
    for (const std::uint32_t bits : {0x80000000U, 0x7FC00000U, 0xFF800001U, 0x7F800001U}) {
        SiteLog log = r.log;
        log[3].payload = bits;
        const Outcome o = enforce(row, log);
        expectOneOffence(o, OffenceKind::malformedPayload, 5);
        EXPECT_EQ(o.out, r.out);
    }
    SiteLog log = r.log;
    log[0].payload = 2;
    expectOneOffence(enforce(row, log), OffenceKind::malformedPayload, 1);
}

TEST(EnforceSite, LeftOverAndSplitting) {
    // A site of two products: indices 0-1 and 2-3.
    Row first({kTie, 1.0}, 0x1p-40, 0);
    Row second({1.0, kTie}, 0x1p-40, 2);
    SiteLog log;
    float out[4];
    recordSite(first.site, out, log);
    recordSite(second.site, out + 2, log);
    ASSERT_EQ(log.size(), 2U);
    const auto run = [&](const SiteLog& entries) {
        std::span<const LogEntry> rest = entries;
        EnforceStats total = enforceSite(first.site, takeEntriesBelow(rest, 2), out);
        total += enforceSite(second.site, takeEntriesBelow(rest, 4), out + 2);
        total += leftOverEntries(rest);
        return total;
    };
    const EnforceStats fine = run(log);
    EXPECT_EQ(fine.offenceCount, 0U);
    EXPECT_EQ(fine.entries, 2U);
    EXPECT_EQ(fine.values, 4U);
    log.push_back({4, false, 0});
    const EnforceStats padded = run(log);
    ASSERT_EQ(padded.offenceCount, 1U);
    EXPECT_EQ(padded.offences[0].kind, OffenceKind::leftOver);
    EXPECT_EQ(padded.offences[0].index, 4U);
    EXPECT_EQ(padded.entries, 3U);
}

TEST(EnforceSite, ListsAreCappedAndCountsExact) {
    Row row(std::vector<double>(1000, kTie), 0x1p-40);
    const Outcome missing = enforce(row, {});
    EXPECT_EQ(missing.stats.offenceCount, 1000U);
    EXPECT_EQ(missing.stats.offences.size(), kListCap);
    EXPECT_EQ(missing.stats.offences.back().index, kListCap - 1);
    SiteLog up;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        up.push_back({i, false, 1});
    }
    Outcome corrected = enforce(row, up);
    EXPECT_EQ(corrected.stats.corrections, 1000U);
    EXPECT_EQ(corrected.stats.corrected.size(), kListCap);
    EXPECT_EQ(corrected.stats.offenceCount, 0U);
    corrected.stats += missing.stats;
    EXPECT_EQ(corrected.stats.offenceCount, 1000U);
    EXPECT_EQ(corrected.stats.values, 2000U);
}

TEST(EnforceSite, BoundComesFromTheAuditorsOperands) {
    // The trainer pretends to have a far larger bound: its entries are then illegal or do not fit.
    const Row liar({3.0, 2.0 + 0x1p-24}, 1.0);
    const Row auditor({3.0, 2.0 + 0x1p-24}, 0x1p-40);
    SiteLog log = record(liar).log;
    ASSERT_EQ(log.size(), 2U);
    log[0].payload = bitsOf(3.5F);
    const Outcome o = enforce(auditor, log);
    EXPECT_EQ(o.stats.offenceCount, 2U);
    EXPECT_EQ(o.out, (std::vector<float>{3.0F, 2.0F}));
}

TEST(ViewElement, Intervals) {
    const Row row = honest();
    const ElementView tie = viewElement(row.site, 1);
    EXPECT_EQ(tie.own, 1.0F);
    EXPECT_EQ(tie.bound, 0x1p-40 + 0x1p-52 * kTie);
    EXPECT_TRUE(tie.demandsEntry());
    EXPECT_EQ(tie.takes.count(), 2U);
    const ElementView sure = viewElement(row.site, 0);
    EXPECT_FALSE(sure.demandsEntry());
    EXPECT_FALSE(sure.permitsEntry());
}

TEST(SitePass, EveryIsaGivesTheSameLogAndValues) {
    RandomSource random(31);
    const Isa before = currentIsa();
    for (int round = 0; round < 50; ++round) {
        const std::uint64_t cols = 1 + random.below(70);
        std::vector<double> trainerY(cols);
        std::vector<double> auditorY(cols);
        for (std::uint64_t j = 0; j < cols; ++j) {
            const auto base = static_cast<double>(static_cast<float>(random.sign() * random.logUniform(-3, 3)));
            trainerY[j] = random.below(2) == 0 ? base : base * (1.0 + 0x1p-24) + random.uniform(-1, 1) * 0x1p-40;
            auditorY[j] = trainerY[j] + random.uniform(-1, 1) * 0x1p-40;
        }
        const Row trainer(trainerY, 0x1p-40);
        const Row auditor(auditorY, 0x1p-40);
        ASSERT_TRUE(forceIsa(Isa::scalar));
        const Recording reference = record(trainer);
        const Outcome referenceOutcome = enforce(auditor, reference.log);
        EXPECT_EQ(referenceOutcome.out, reference.out);
        for (const Isa isa : {Isa::vector128, Isa::avx2, Isa::avx512}) {
            if (!forceIsa(isa)) {
                continue;
            }
            const Recording r = record(trainer);
            EXPECT_EQ(r.log, reference.log);
            EXPECT_EQ(r.out, reference.out);
            const Outcome o = enforce(auditor, r.log);
            EXPECT_EQ(o.out, reference.out);
            EXPECT_EQ(o.stats.offenceCount, 0U);
            EXPECT_EQ(o.stats.corrections, referenceOutcome.stats.corrections);
        }
    }
    ASSERT_TRUE(forceIsa(before));
}

} // namespace
} // namespace assay::numerics
