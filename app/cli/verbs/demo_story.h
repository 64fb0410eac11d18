// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/cli/json_text.h"
#include "app/cli/session.h"
#include "core/audit/verdict.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::cli {

/// How the demo ended.
struct DemoOutcome {
    bool asTold = true;           ///< every verdict is the one that the story promises
    std::string trainer, auditor; ///< kernel profiles
    audit::VerifyReport honest;   ///< chapter 3
    audit::VerifyReport needsLog; ///< chapter 4, with the log
    bool noiseUsed = false;       ///< chapter 4 had to use planted noise instead of a real kernel
    std::uint64_t sitesTotal = 0, sitesDifferWithLog = 0, sitesDifferWithoutLog = 0;
    audit::VerifyReport forged; ///< chapter 5
};

/// Runs the demo in an empty folder and tells it on standard output (not with --json). Deterministic but for the key
/// pair.
[[nodiscard]] base::Result<DemoOutcome> tellStory(Session& session, const base::fs::path& folder);

} // namespace assay::cli
