// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/verbs.h"
#include "core/engine/replayer.h"

namespace assay::app {

/// A second replay of the same steps under another kernel profile, in a process of its own: two core types of the same
/// library cannot live in one.
struct SecondKernelRequest {
    std::string profile;
    std::string submission;
    std::string order; ///< empty: the submission's
    std::string data;
    std::vector<engine::StepSpan> spans;
    base::fs::path ownDigests; ///< site digests of the same steps under the first profile
};

/// The first site in which the two replays differ although both obeyed the log: an element without an entry that needed
/// one. None if all sites are equal.
[[nodiscard]] base::Result<std::optional<engine::ReplayFinding>>
compareWithSecondKernel(const SecondKernelRequest& request, engine::Session& session, const format::Dataset& data,
                        const format::Submission& submission, engine::RunControl& control);

/// The verb `trace`, internal: replays `spans` and writes site digests, or the values of one site, without any verdict.
[[nodiscard]] base::Result<int> runTrace(const Job& job);

} // namespace assay::app
