// SPDX-License-Identifier: Apache-2.0
#include "core/audit/detail/outcome.h"

#include <fmt/format.h>

namespace assay::audit::detail {

void Outcome::fail(Part part, FirstDivergence where, std::string text) {
    where.part = part;
    if (++m_failures == 1) {
        m_outcome.result.part = part;
        m_outcome.result.step = where.step;
        m_outcome.result.detail = text;
    }
    if (m_failures <= kMaxFindingsPerCheck) {
        m_outcome.findings.push_back({Severity::failure, std::move(where), std::move(text)});
    }
}

void Outcome::warn(std::string text) {
    m_outcome.findings.push_back({Severity::warning, {}, std::move(text)});
}

CheckOutcome Outcome::finish(std::string detailIfPassed) {
    if (m_failures == 0) {
        m_outcome.result.state = CheckState::passed;
        m_outcome.result.detail = std::move(detailIfPassed);
    } else {
        m_outcome.result.state = CheckState::failed;
        if (m_failures > 1) {
            m_outcome.result.detail += fmt::format("; {} more", m_failures - 1);
        }
    }
    return std::move(m_outcome);
}

CheckOutcome Outcome::finishUnchecked(std::string why) {
    auto outcome = finish({});
    if (outcome.result.state == CheckState::passed) {
        outcome.result.state = CheckState::notChecked;
        outcome.result.detail = std::move(why);
    }
    return outcome;
}

} // namespace assay::audit::detail
