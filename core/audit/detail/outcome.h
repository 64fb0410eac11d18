// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/audit/static_checks.h"

namespace assay::audit::detail {

inline constexpr std::size_t kMaxFindingsPerCheck = 100; ///< more are counted in the detail

/// Collects the findings of one check and makes its result: passed only if finish() is reached without a failure.
class Outcome {
public:
    explicit Outcome(Check check) { m_outcome.result.check = check; }
    /// A failure; `where.part` is set to `part`.
    void fail(Part part, FirstDivergence where, std::string text);
    void warn(std::string text);
    [[nodiscard]] bool failed() const { return m_failures > 0; }
    /// failed with the first failure as detail, else passed with this detail.
    [[nodiscard]] CheckOutcome finish(std::string detailIfPassed);
    /// failed, else notChecked with this detail.
    [[nodiscard]] CheckOutcome finishUnchecked(std::string why);

private:
    CheckOutcome m_outcome;
    std::size_t m_failures = 0;
};

} // namespace assay::audit::detail
