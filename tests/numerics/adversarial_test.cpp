// SPDX-License-Identifier: Apache-2.0
// ASSAY_TRIALS elements: a trainer and an auditor whose results lie anywhere within H of the exact value, up to exactly
// D apart, with every computed bound off by up to the slack d. No honest party may ever be accused, and the judge must
// confirm whatever the auditor finds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/numerics/site_pass.h"
#include "tests/numerics/random_source.h"

namespace assay::numerics {
namespace {

using arith::bitsOf;
using arith::floatsWithin;
using arith::keyOf;
using test::RandomSource;

constexpr double kU = 0x1p-53;

/// The judge of one element around the exact value e with its own (computed) H. True: the claimant is convicted.
bool judgeConvicts(double e, double H, const std::optional<LogEntry>& entry, float v) {
    const KeyInterval requires_ = floatsWithin(e, arith::kJudgeRequires * H);
    if (!entry) {
        return requires_.count() > 1 || keyOf(v) != requires_.lo;
    }
    if (floatsWithin(e, arith::kJudgeIllegal * H).count() == 1) {
        return true;
    }
    if (!entry->whole) {
        if (entry->payload > 1 || requires_.count() > 2 ||
            (static_cast<std::uint32_t>(keyOf(v)) & 1U) != entry->payload) {
            return true;
        }
    } else if (bitsOf(v) != entry->payload) {
        return true;
    }
    return !floatsWithin(e, arith::kJudgeTakes * H).contains(keyOf(v));
}

/// Exact values that make trouble: around ties and floats of every size, zeros, subnormals, the overflow edge, both
/// signs.
double exactValue(RandomSource& random) {
    switch (random.below(8)) {
    case 0:
        return random.sign() * random.uniform() * 0x1p-148; // between zero and the first subnormals
    case 1:
        return random.sign() * static_cast<double>(random.below(64)) * 0x1p-150; // on them and their ties
    case 2:
        return random.sign() * (0x1.ffffffp127 - random.uniform() * 0x1p104); // at the overflow edge
    case 3:
        return random.sign() * random.logUniform(-140, 120);
    case 4: { // powers of two: spacing changes
        return random.sign() * std::exp2(static_cast<double>(random.below(250)) - 126.0) *
               (1.0 + static_cast<double>(random.below(9)) * 0x1p-25 - 0x1p-23);
    }
    default: { // on or near a tie
        const auto base = static_cast<double>(static_cast<float>(random.logUniform(-20, 20)));
        const double spacing = std::exp2(std::floor(std::log2(base)) - 23.0);
        const double offset = random.below(3) == 0 ? 0.0 : random.sign() * random.logUniform(-30, 0) * 0.5;
        return random.sign() * (base + spacing * (0.5 + offset));
    }
    }
}

/// H in units that matter for e: from a hundredth of the FP64 spacing to thousands of floats.
double halfBound(RandomSource& random, double e) {
    const double spacing = std::max(std::fabs(e), 0x1p-126) * 0x1p-23;
    switch (random.below(8)) {
    case 0:
        return spacing * random.logUniform(-3, 14);
    case 1:
        return spacing * (0.5 + random.uniform(-1, 1) * 0x1p-18) * random.uniform(0.3, 0.6);
    case 2:
        return 0x1p-900; // nothing but the 2u|y| part
    default:
        return spacing * random.logUniform(-33, 0);
    }
}

/// Where a side ends up: at the rim or anywhere inside.
double place(RandomSource& random) {
    switch (random.below(4)) {
    case 0:
        return 1.0;
    case 1:
        return -1.0;
    case 2:
        return 0.0;
    default:
        return random.uniform(-1, 1);
    }
}
/// A value at most H from e as FP64 arithmetic sees it.
double within(double e, double H, double share) {
    double y = e + share * H;
    while (std::fabs(y - e) > H) {
        y = std::nextafter(y, e);
    }
    return y;
}
double perturbed(RandomSource& random, double bound) {
    const double d = arith::kSlack;
    const double factors[] = {1.0 - d, 1.0, 1.0 + d, 1.0 + d * random.uniform(-1, 1)};
    return bound * factors[random.below(4)];
}

struct Counters {
    std::uint64_t trials = 0;
    std::uint64_t entries = 0;
    std::uint64_t wholes = 0;
    std::uint64_t corrections = 0;
    std::uint64_t rimToRim = 0;
    std::uint64_t lies = 0;
    std::uint64_t liesFound = 0;
};

constexpr std::uint64_t kColumns = 1000;

class Trial {
public:
    explicit Trial(std::uint64_t seed) : m_random(seed) {
        for (auto* v : {&m_trainerY, &m_auditorY, &m_exact, &m_trainerNorm, &m_auditorNorm, &m_judgeH}) {
            v->resize(kColumns);
        }
        m_granule.assign(kColumns, 0x1p-1000); // the exact-sum rule never applies
        m_trainerOut.resize(kColumns);
        m_auditorOut.resize(kColumns);
    }

    void run(Counters& counters) {
        for (std::uint64_t j = 0; j < kColumns; ++j) {
            const double e = exactValue(m_random);
            // The true bound is norms + 2u|e|; each party computes its own from norms that are off by up to d.
            const double norms = 2.0 * halfBound(m_random, e);
            const double H = 0.5 * norms + kU * std::fabs(e);
            double trainerAt = place(m_random);
            double auditorAt = place(m_random);
            if (m_random.below(3) == 0) {
                trainerAt = m_random.sign();
                auditorAt = -trainerAt;
                ++counters.rimToRim;
            }
            m_exact[j] = e;
            m_trainerY[j] = within(e, H, trainerAt);
            m_auditorY[j] = within(e, H, auditorAt);
            m_trainerNorm[j] = perturbed(m_random, norms);
            m_auditorNorm[j] = perturbed(m_random, norms);
            m_judgeH[j] = perturbed(m_random, 0.5 * norms) + kU * std::fabs(e);
        }
        const ProductSite trainer = site(m_trainerY, m_trainerNorm);
        const ProductSite auditor = site(m_auditorY, m_auditorNorm);
        m_log.clear();
        const RecordStats recorded = recordSite(trainer, m_trainerOut.data(), m_log);
        const EnforceStats enforced = enforceSite(auditor, m_log, m_auditorOut.data());
        ASSERT_EQ(enforced.offenceCount, 0U) << describe(enforced);
        for (std::uint64_t j = 0; j < kColumns; ++j) {
            ASSERT_EQ(bitsOf(m_trainerOut[j]), bitsOf(m_auditorOut[j])) << describe(j);
        }
        ASSERT_EQ(recorded.finite, enforced.finite);
        counters.trials += kColumns;
        counters.entries += recorded.entries;
        counters.wholes += recorded.wholeEntries;
        counters.corrections += enforced.corrections;
        judgeHonest();
        lie(auditor, counters);
    }

private:
    ProductSite site(const std::vector<double>& y, const std::vector<double>& norm) const {
        return {y.data(), 1, kColumns, &m_one, norm.data(), &m_one, m_granule.data(), 1.0, 0};
    }

    void judgeHonest() {
        std::size_t next = 0;
        for (std::uint64_t j = 0; j < kColumns; ++j) {
            std::optional<LogEntry> entry;
            if (next < m_log.size() && m_log[next].index == j) {
                entry = m_log[next++];
            }
            ASSERT_FALSE(judgeConvicts(m_exact[j], m_judgeH[j], entry, m_trainerOut[j])) << describe(j);
        }
    }

    /// Replaces one entry (or its absence) by a lie; where the honest auditor objects or ends at another value than the
    /// liar claims, the judge must convict the liar.
    void lie(const ProductSite& auditor, Counters& counters) {
        for (int i = 0; i < 40; ++i) {
            const std::uint64_t j = m_random.below(kColumns);
            ProductSite one = auditor;
            one.y += j;
            one.cols = 1;
            one.colNorm += j;
            one.colGranule += j;
            one.indexBase = j;
            const auto near = static_cast<std::int32_t>(m_random.below(7)) - 3;
            const std::int32_t key = std::clamp(keyOf(m_trainerOut[j]) + near, -0x7F800000, 0x7F800000);
            const float claimed = arith::fromKey(key);
            SiteLog log;
            switch (m_random.below(3)) {
            case 0:
                break; // no entry
            case 1:
                log.push_back({j, false, static_cast<std::uint32_t>(m_random.below(2))});
                break;
            default:
                log.push_back(
                    {j, true, bitsOf(m_random.below(4) == 0 ? arith::roundToFloat(exactValue(m_random)) : claimed)});
                break;
            }
            float taken = 0.0F;
            const EnforceStats stats = enforceSite(one, log, &taken);
            ++counters.lies;
            if (stats.offenceCount > 0 || bitsOf(taken) != bitsOf(claimed)) {
                ++counters.liesFound;
                const std::optional<LogEntry> entry = log.empty() ? std::nullopt : std::optional(log[0]);
                ASSERT_TRUE(judgeConvicts(m_exact[j], m_judgeH[j], entry, claimed))
                    << describe(j) << " claimed key " << key
                    << (entry ? (entry->whole ? " whole" : " parity") : " none");
            }
        }
    }

    std::string describe(std::uint64_t j) const {
        char text[400];
        std::snprintf(text, sizeof text, "element %llu exact %a trainer %a auditor %a norms %a %a H %a out %a %a",
                      static_cast<unsigned long long>(j), m_exact[j], m_trainerY[j], m_auditorY[j], m_trainerNorm[j],
                      m_auditorNorm[j], m_judgeH[j], static_cast<double>(m_trainerOut[j]),
                      static_cast<double>(m_auditorOut[j]));
        return text;
    }
    std::string describe(const EnforceStats& stats) const {
        return stats.offences.empty()
                   ? std::string()
                   : std::string(toString(stats.offences[0].kind)) + ": " + describe(stats.offences[0].index);
    }

    RandomSource m_random;
    double m_one = 1.0;
    std::vector<double> m_trainerY, m_auditorY, m_exact, m_trainerNorm, m_auditorNorm, m_judgeH, m_granule;
    std::vector<float> m_trainerOut, m_auditorOut;
    SiteLog m_log;
};

TEST(Adversarial, HonestPartiesAreNeverAccused) {
    Counters counters;
    Trial trial(20240601);
    while (counters.trials < ASSAY_TRIALS) {
        trial.run(counters);
        if (HasFatalFailure()) {
            return;
        }
    }
    std::printf("%llu trials, %llu rim to rim; %llu entries (%llu whole), %llu corrections; %llu lies, %llu found\n",
                static_cast<unsigned long long>(counters.trials), static_cast<unsigned long long>(counters.rimToRim),
                static_cast<unsigned long long>(counters.entries), static_cast<unsigned long long>(counters.wholes),
                static_cast<unsigned long long>(counters.corrections), static_cast<unsigned long long>(counters.lies),
                static_cast<unsigned long long>(counters.liesFound));
    // The trials must reach the cases they are about.
    EXPECT_GT(counters.entries, counters.trials / 10);
    EXPECT_GT(counters.entries - counters.wholes, counters.trials / 100);
    EXPECT_GT(counters.wholes, counters.trials / 100);
    EXPECT_GT(counters.corrections, counters.trials / 100);
    EXPECT_GT(counters.liesFound, counters.lies / 10);
}

// The same trials with one constant made a little too small must fail: otherwise the trials prove nothing.
TEST(Adversarial, TrialsNoticeATighterRule) {
    RandomSource random(7);
    std::uint64_t unlogged = 0;
    std::uint64_t outside = 0;
    std::uint64_t notPermitted = 0;
    for (int i = 0; i < 200000; ++i) {
        const double e = exactValue(random);
        const double D = 2.0 * halfBound(random, e) + 2.0 * kU * std::fabs(e);
        const double y = within(e, 0.5 * D, 1.0);
        const double other = within(e, 0.5 * D, -1.0);
        const KeyInterval demands = floatsWithin(other, arith::kAuditorTakes * D);
        unlogged += demands.count() > 1 && floatsWithin(y, 1.9 * D).count() == 1 ? 1U : 0U;
        outside += !floatsWithin(other, 0.95 * D).contains(keyOf(arith::roundToFloat(y))) ? 1U : 0U;
        notPermitted +=
            floatsWithin(y, arith::kTrainerLogs * D).count() > 1 && floatsWithin(other, 2.9 * D).count() == 1 ? 1U : 0U;
    }
    EXPECT_GT(unlogged, 0U);
    EXPECT_GT(outside, 0U);
    EXPECT_GT(notPermitted, 0U);
}

} // namespace
} // namespace assay::numerics
