// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "app/cli/session.h"
#include "core/audit/verdict.h"
#include "core/base/error.h"

namespace assay::cli {

/// What `verify` is asked for.
struct AuditRequest {
    std::string submission;
    std::string order; ///< file, empty = none
    std::string data;
    std::string trainerKey;
    std::optional<audit::StepRange> steps;
    std::optional<std::uint64_t> sample;
    std::string nonce;
    std::string kernel;
    std::string secondKernel;
    std::string siteDigests;
    std::string store; ///< file, empty = the default one
    bool ignoreLog = false;
    bool resume = false;
    bool keep = true; ///< record it in the audit store
};

/// Runs an audit in an engine and records it in the store. A crash of the engine is an `inconclusive` report; a
/// cancelled audit and everything that an auditor must mend first is an Error.
[[nodiscard]] base::Result<audit::VerifyReport> runAudit(Session& session, const AuditRequest& request,
                                                         std::stop_token stop);

} // namespace assay::cli
