// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/verdict.h"
#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"

namespace assay::audit {

/// Steps between two checkpoints: replay starts from the state of step first - 1 and ends with step last. Ascending, no
/// gaps. `checkpoints`: steps with a checkpoint file, ascending; those beyond `steps` are ignored. `usage` if steps ==
/// 0.
[[nodiscard]] base::Result<std::vector<StepRange>> segmentsOf(std::uint64_t steps,
                                                              std::span<const std::uint64_t> checkpoints);

/// Chance that a draw of `drawn` of `total` without replacement meets at least one of `bad`: 1 - C(total-bad, drawn) /
/// C(total, drawn). Relative error below 1e-12. Preconditions: bad <= total, drawn <= total. O(min(bad, drawn)).
[[nodiscard]] double hypergeometricDetection(std::uint64_t total, std::uint64_t bad, std::uint64_t drawn);
/// The fewest segments that can hold `badSteps` bad steps (the trainer packs the longest ones). badSteps beyond all
/// steps: all segments.
[[nodiscard]] std::uint64_t fewestSegmentsFor(std::span<const StepRange> segments, std::uint64_t badSteps);

/// Where a nonce came from, as recorded in reports.
inline constexpr std::string_view kNonceGiven = "given by the auditor";
inline constexpr std::string_view kNonceDrawn =
    "drawn from the operating system's random generator after the submission was opened";
/// 32 random bytes as hex. `environment` if the system has none.
[[nodiscard]] base::Result<std::string> drawNonce();

/// A plan for a sampled audit. Deterministic in (root, nonce, segments, count).
struct SamplePlan {
    std::vector<StepRange> segments; ///< chosen, ascending
    std::uint64_t segmentsTotal = 0;
    std::uint64_t stepsToReplay = 0; ///< sum of the lengths
    std::uint64_t stepsTotal = 0;
    double detectionOneSegment = 0; ///< detection probability if one segment is bad
    std::string nonce;              ///< hex
    std::string nonceSource;
};
/// Draws `count` segments without replacement (all of them if count is larger) from SHA-256("assay/sample/1" | root |
/// nonce | counter). `usage` for an empty or non-hex nonce (1 .. 64 bytes), no segments, or count == 0.
[[nodiscard]] base::Result<SamplePlan> drawSegments(std::span<const StepRange> segments, std::uint64_t count,
                                                    const base::Digest& root, std::string_view nonceHex,
                                                    std::string_view nonceSource);

/// Answer to "what does it cost to be this sure?".
struct PlanRow {
    std::uint64_t segments = 0;    ///< to draw
    std::uint64_t stepsAtMost = 0; ///< of the longest such draw
    double stepsExpected = 0;      ///< mean over all draws
    double detectionSegments = 0;  ///< if `bad` segments are bad
    double detectionSteps = 0;     ///< if `bad` steps are bad, packed into as few segments as possible (worst case)
    std::optional<double> seconds; ///< stepsExpected at the given speed
};
struct PlanRequest {
    std::uint64_t bad = 1;                    ///< K >= 1
    std::optional<std::uint64_t> budgetSteps; ///< replay at most this many
    std::optional<double> budgetSeconds;      ///< needs secondsPerStep
    std::optional<double> secondsPerStep;
    std::optional<double> wantedDetection; ///< 0 < p <= 1, for detectionSegments
};
struct PlanTable {
    std::uint64_t segmentsTotal = 0;
    std::uint64_t stepsTotal = 0;
    std::uint64_t bad = 1;
    std::vector<PlanRow> rows; ///< a readable choice of sizes up to all segments; always the recommended one
    std::optional<PlanRow>
        recommended; ///< the largest within the budget, or the smallest that reaches the wanted probability
    std::string why; ///< plain sentence about the recommendation, or why there is none
};
/// `usage` for nonsense (no segments, bad == 0 or more than there are steps, budgets not positive, seconds without a
/// speed).
[[nodiscard]] base::Result<PlanTable> makePlan(std::span<const StepRange> segments, const PlanRequest& request);
/// {"schema":"assay.plan","version":1,...} on one line.
[[nodiscard]] std::string planToJson(const PlanTable& table);

} // namespace assay::audit
