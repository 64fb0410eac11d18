// SPDX-License-Identifier: Apache-2.0
#include "core/audit/verified_steps.h"

#include <algorithm>
#include <optional>

#include "core/crypto/sha256.h"

namespace assay::audit {

base::Result<VerifiedSteps> verifiedSteps(const store::AuditStore& store, store::AuditId id, std::uint64_t through,
                                          const format::Submission& submission) {
    constexpr std::size_t kPage = 4096;
    VerifiedSteps verified;
    verified.through = std::min(through, submission.steps());
    std::optional<std::uint64_t> after;
    for (bool more = true; more;) {
        ASSAY_TRY(rows, store.steps(id, after, kPage));
        for (const auto& row : rows) {
            after = row.step;
            if (row.step > verified.through || row.status != "matched") {
                continue;
            }
            if (row.digest != submission.leafHash(row.step).toHex()) {
                verified.through = row.step - 1;
            } else {
                verified.entries += row.entries;
                verified.corrections += row.corrections;
                verified.logBytes += row.logBytes;
                verified.freedom += row.freedom;
            }
        }
        more = rows.size() == kPage && (!after || *after < verified.through);
    }
    if (verified.through == 0) {
        return VerifiedSteps{};
    }
    const auto hashes = (verified.through + 1) * sizeof(base::Digest);
    verified.leaves = crypto::sha256(submission.leafHashes().first(hashes)).toHex();
    return verified;
}

} // namespace assay::audit
