// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/engine/replayer.h"
#include "core/engine/run_control.h"
#include "core/format/submission.h"
#include "core/tensor/kernel_profile.h"

namespace assay::engine {

/// Faults that can be planted into a submission, to see whether an auditor finds them. README.md beside this file says
/// which part each of them shows.
enum class FaultKind {
    // A consistent liar: training goes on from the fault, and everything is committed and signed anew.
    weights,
    dataOrder,
    skipStep,
    learningRate,
    optimizer,
    dropout,
    seed,
    loss,
    site,
    // Edits of a finished submission.
    checkpoint,
    logFlip,
    logExtra,
    logDrop,
    logEmpty
};
/// "weights", "data-order", ... as on the command line.
[[nodiscard]] std::string_view faultName(FaultKind kind);
/// `usage` with all names otherwise.
[[nodiscard]] base::Result<FaultKind> faultFromName(std::string_view name);

struct TamperRequest {
    base::fs::path submission;
    base::fs::path out;        ///< must not exist or be empty
    base::fs::path dataFolder; ///< needed by all kinds but `checkpoint`
    FaultKind kind = FaultKind::weights;
    std::optional<std::uint64_t> step; ///< none: one that fits is chosen
    std::string at;                    ///< `site`: "STEP:SITE:ELEMENT", SITE an index or a name
    bool recommit = false;             ///< log kinds: leaves and root follow the edit
    std::string keyPem;                ///< signs what was made; empty: unsigned, or the old signature stays
    tensor::KernelProfile profile;
    std::string profileText;
    std::string engineVersion;
};

struct TamperResult {
    FaultKind kind = FaultKind::weights;
    std::uint64_t step = 0;
    bool stepChosen = false; ///< by us
    std::string text;        ///< what was done, one sentence
    std::optional<std::string> site;
    std::optional<std::string> tensor;
    std::optional<std::uint64_t> element;
    std::optional<float> before;
    std::optional<float> after;
    bool absorbed = false; ///< a log edit that leaves a valid run: accepting it would be right
    std::optional<Divergence>
        shows;         ///< what a replay under the same profile finds; none if absorbed, or for `checkpoint`
    base::Digest root; ///< of the new submission
};

/// Plants the fault in a copy of the submission. `notApplicable` where the order or the step has no such thing, or
/// where the fault would change nothing that is committed; the output folder is then removed.
[[nodiscard]] base::Result<TamperResult> tamper(const TamperRequest& request, const base::ProgressFn& progress,
                                                RunControl& control);

} // namespace assay::engine
