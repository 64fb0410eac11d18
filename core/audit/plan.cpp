// SPDX-License-Identifier: Apache-2.0
#include "core/audit/plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <sys/random.h>

#include "core/base/assert.h"
#include "core/crypto/sha256.h"

namespace assay::audit {

namespace {

constexpr std::string_view kSampleTag = "assay/sample/1";
constexpr std::size_t kMaxNonceBytes = 64;

std::uint64_t lengthOf(const StepRange& segment) {
    return segment.last - segment.first + 1;
}

std::vector<std::uint64_t> lengthsDescending(std::span<const StepRange> segments) {
    std::vector<std::uint64_t> lengths;
    lengths.reserve(segments.size());
    for (const auto& segment : segments) {
        lengths.push_back(lengthOf(segment));
    }
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    return lengths;
}

/// Uniform 64-bit words from SHA-256(tag | root | nonce length | nonce | counter), four to a digest.
class DrawStream {
public:
    DrawStream(const base::Digest& root, base::ByteView nonce) {
        m_prefix.putText(kSampleTag);
        m_prefix.putBytes(root.view());
        m_prefix.put(static_cast<std::uint64_t>(nonce.size()));
        m_prefix.putBytes(nonce);
    }
    /// 0 .. bound - 1, every value equally likely: words of the last, incomplete interval are thrown away.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t excess = (0 - bound) % bound; // 2^64 mod bound
        for (;;) {
            const auto word = next();
            if (word >= excess) {
                return (word - excess) % bound;
            }
        }
    }

private:
    std::uint64_t next() {
        if (m_used == 4) {
            auto input = m_prefix;
            input.put(m_counter++);
            m_block = crypto::sha256(input.bytes());
            m_used = 0;
        }
        return base::loadLe<std::uint64_t>(m_block.bytes.data() + 8 * m_used++);
    }
    base::ByteWriter m_prefix;
    std::uint64_t m_counter = 0;
    base::Digest m_block;
    std::size_t m_used = 4;
};

/// `count` of 0 .. total-1 without replacement, ascending: the first steps of a Fisher-Yates shuffle.
std::vector<std::size_t> choose(DrawStream& stream, std::size_t total, std::size_t count) {
    std::vector<std::size_t> items(total);
    std::iota(items.begin(), items.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(items[i], items[i + static_cast<std::size_t>(stream.below(total - i))]);
    }
    items.resize(count);
    std::sort(items.begin(), items.end());
    return items;
}

std::string percent(double probability) {
    return fmt::format("{:.1f} %", std::floor(probability * 1000.0) / 10.0);
}

/// Everything about a draw of `drawn` segments.
struct Costs {
    std::vector<std::uint64_t> longest; ///< longest[n]: steps of the n longest segments
    std::uint64_t total = 0;            ///< segments
    std::uint64_t steps = 0;
    std::uint64_t badSegments = 0; ///< as asked
    std::uint64_t packed = 0;      ///< fewest segments that hold as many bad steps
    std::optional<double> secondsPerStep;

    [[nodiscard]] PlanRow row(std::uint64_t drawn) const {
        PlanRow row;
        row.segments = drawn;
        row.stepsAtMost = longest[static_cast<std::size_t>(drawn)];
        row.stepsExpected = static_cast<double>(steps) * static_cast<double>(drawn) / static_cast<double>(total);
        row.detectionSegments = hypergeometricDetection(total, badSegments, drawn);
        row.detectionSteps = hypergeometricDetection(total, packed, drawn);
        if (secondsPerStep) {
            row.seconds = row.stepsExpected * *secondsPerStep;
        }
        return row;
    }
};

/// 1, 2, 5, 10, 20, 50, ... below the total, and the total.
std::vector<std::uint64_t> readableSizes(std::uint64_t total) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t decade = 1; decade < total; decade *= 10) {
        for (const std::uint64_t factor : {1U, 2U, 5U}) {
            if (decade * factor < total) {
                sizes.push_back(decade * factor);
            }
        }
    }
    sizes.push_back(total);
    return sizes;
}

base::Result<void> checkRequest(std::span<const StepRange> segments, std::uint64_t steps, const PlanRequest& request) {
    const auto positive = [](const std::optional<double>& value) {
        return !value || (std::isfinite(*value) && *value > 0.0);
    };
    if (segments.empty()) {
        return base::fail(base::ErrorCode::usage, "there are no segments to sample");
    }
    if (request.bad == 0 || request.bad > steps) {
        return base::fail(base::ErrorCode::usage, fmt::format("the number of bad steps must be from 1 to {}", steps));
    }
    if (request.budgetSteps == 0U || !positive(request.budgetSeconds) || !positive(request.secondsPerStep)) {
        return base::fail(base::ErrorCode::usage, "a budget and a speed must be greater than zero");
    }
    if (request.budgetSeconds && !request.secondsPerStep) {
        return base::fail(base::ErrorCode::usage, "a budget in seconds needs to know how long a step takes",
                          "replay a few steps first, or give the budget in steps");
    }
    if (request.wantedDetection && !(*request.wantedDetection > 0.0 && *request.wantedDetection <= 1.0)) {
        return base::fail(base::ErrorCode::usage, "a wanted probability must be above 0 and at most 1");
    }
    return {};
}

} // namespace

base::Result<std::vector<StepRange>> segmentsOf(std::uint64_t steps, std::span<const std::uint64_t> checkpoints) {
    if (steps == 0) {
        return base::fail(base::ErrorCode::usage, "a submission without steps has no segments");
    }
    std::vector<StepRange> segments;
    std::uint64_t first = 1;
    for (const auto checkpoint : checkpoints) {
        if (checkpoint >= first && checkpoint < steps) {
            segments.push_back({first, checkpoint});
            first = checkpoint + 1;
        }
    }
    segments.push_back({first, steps});
    return segments;
}

double hypergeometricDetection(std::uint64_t total, std::uint64_t bad, std::uint64_t drawn) {
    ASSAY_ASSERT(bad <= total && drawn <= total);
    if (bad + drawn > total) {
        return 1.0; // more drawn than there are good ones
    }
    // C(total-bad, drawn) / C(total, drawn) is symmetric in bad and drawn; take the shorter product, in logarithms so
    // that neither tiny nor nearly certain detections lose their digits.
    const auto factors = std::min(bad, drawn);
    const auto other = std::max(bad, drawn);
    double logMiss = 0.0;
    for (std::uint64_t i = 0; i < factors; ++i) {
        logMiss += std::log1p(-static_cast<double>(other) / static_cast<double>(total - i));
    }
    return -std::expm1(logMiss);
}

std::uint64_t fewestSegmentsFor(std::span<const StepRange> segments, std::uint64_t badSteps) {
    std::uint64_t held = 0;
    std::uint64_t used = 0;
    for (const auto length : lengthsDescending(segments)) {
        if (held >= badSteps) {
            break;
        }
        held += length;
        ++used;
    }
    return used;
}

base::Result<std::string> drawNonce() {
    std::array<std::uint8_t, 32> bytes{};
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const auto got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return base::fail(base::ErrorCode::environment, "the operating system gives no random numbers",
                              "give a nonce with --nonce");
        }
        filled += static_cast<std::size_t>(got);
    }
    return base::toHex(bytes);
}

base::Result<SamplePlan> drawSegments(std::span<const StepRange> segments, std::uint64_t count,
                                      const base::Digest& root, std::string_view nonceHex,
                                      std::string_view nonceSource) {
    if (segments.empty() || count == 0) {
        return base::fail(base::ErrorCode::usage, "a sample needs at least one segment");
    }
    const auto nonce = base::fromHex(nonceHex);
    if (!nonce || nonce->empty() || nonce->size() > kMaxNonceBytes) {
        return base::fail(base::ErrorCode::usage, "a nonce is 1 to 64 bytes in hex",
                          "for example: openssl rand -hex 32");
    }
    const auto drawn = std::min<std::uint64_t>(count, segments.size());
    DrawStream stream(root, *nonce);
    SamplePlan plan;
    plan.segmentsTotal = segments.size();
    for (const auto index : choose(stream, segments.size(), static_cast<std::size_t>(drawn))) {
        plan.segments.push_back(segments[index]);
        plan.stepsToReplay += lengthOf(segments[index]);
    }
    for (const auto& segment : segments) {
        plan.stepsTotal += lengthOf(segment);
    }
    plan.detectionOneSegment = hypergeometricDetection(plan.segmentsTotal, 1, drawn);
    plan.nonce = base::toHex(*nonce);
    plan.nonceSource = nonceSource;
    return plan;
}

base::Result<PlanTable> makePlan(std::span<const StepRange> segments, const PlanRequest& request) {
    Costs costs;
    costs.total = segments.size();
    costs.longest.push_back(0);
    for (const auto length : lengthsDescending(segments)) {
        costs.longest.push_back(costs.longest.back() + length);
    }
    costs.steps = costs.longest.back();
    ASSAY_CHECK(checkRequest(segments, costs.steps, request));
    costs.badSegments = std::min(request.bad, costs.total);
    costs.packed = fewestSegmentsFor(segments, request.bad);
    costs.secondsPerStep = request.secondsPerStep;

    PlanTable table;
    table.segmentsTotal = costs.total;
    table.stepsTotal = costs.steps;
    table.bad = request.bad;
    auto sizes = readableSizes(costs.total);

    std::optional<std::uint64_t> affordable;
    if (request.budgetSteps || request.budgetSeconds) {
        auto budget = static_cast<double>(costs.steps);
        if (request.budgetSteps) {
            budget = std::min(budget, static_cast<double>(*request.budgetSteps));
        }
        if (request.budgetSeconds) {
            budget = std::min(budget, *request.budgetSeconds / *request.secondsPerStep);
        }
        // The longest segments must fit too: which ones are drawn is not known before.
        affordable = 0;
        while (*affordable < costs.total &&
               static_cast<double>(costs.longest[static_cast<std::size_t>(*affordable + 1)]) <= budget) {
            ++*affordable;
        }
        if (*affordable == 0) {
            table.why =
                fmt::format("The budget does not pay for one segment: the longest has {} steps.", costs.longest[1]);
        }
    }
    std::optional<std::uint64_t> enough;
    if (request.wantedDetection) {
        // Detection grows with the number drawn, so the smallest that is enough can be searched by halves.
        std::uint64_t low = 1;
        std::uint64_t high = costs.total;
        while (low < high) {
            const auto middle = low + (high - low) / 2;
            if (hypergeometricDetection(costs.total, costs.badSegments, middle) >= *request.wantedDetection) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        enough = low;
    }
    if (enough && affordable && *enough > *affordable && *affordable > 0) {
        table.why = fmt::format("The wanted probability of {} needs {} segments, the budget pays for {}.",
                                percent(*request.wantedDetection), *enough, *affordable);
        enough.reset();
    }
    const auto chosen = enough && (!affordable || *enough <= *affordable) ? enough : affordable;
    if (chosen && *chosen > 0) {
        table.recommended = costs.row(*chosen);
        sizes.push_back(*chosen);
        if (table.why.empty()) {
            table.why = fmt::format(
                "Replaying {} of {} segments (at most {} of {} steps) finds {} bad segment{} with a probability of {}.",
                *chosen, costs.total, table.recommended->stepsAtMost, costs.steps, costs.badSegments,
                costs.badSegments == 1 ? "" : "s", percent(table.recommended->detectionSegments));
        }
    } else if (table.why.empty()) {
        table.why = "No budget and no wanted probability were given, so nothing is recommended.";
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const auto size : sizes) {
        table.rows.push_back(costs.row(size));
    }
    return table;
}

} // namespace assay::audit
