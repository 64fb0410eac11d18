// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/format/submission.h"
#include "core/store/audit_store.h"

namespace assay::audit {

/// What was verified before an interruption, as the engine wants to hear it. A default-made value says: nothing.
struct VerifiedSteps {
    std::uint64_t through = 0; ///< last step of the verified beginning
    std::string leaves;        ///< SHA-256 (hex) over the leaf hashes 0 to `through`
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;
    std::uint64_t logBytes = 0;
    std::uint64_t freedom = 0;
};

/// The steps up to `through` of an interrupted audit that still count for `submission`. The root alone does not tell
/// the submission that was replayed: one whose leaves never gave its root could be exchanged for one whose leaves do.
/// So each verified step's own leaf must be the one that the submission has now; the first that is not ends what
/// counts.
[[nodiscard]] base::Result<VerifiedSteps> verifiedSteps(const store::AuditStore& store, store::AuditId id,
                                                        std::uint64_t through, const format::Submission& submission);

} // namespace assay::audit
