// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/console.h"
#include "core/audit/verdict.h"

namespace assay::cli {

/// The outcome of an audit as people read it: headline, reason, checks, first divergence, findings, figures.
[[nodiscard]] std::string verdictText(const Console& console, const audit::VerifyReport& report);
/// The first divergence alone, indented.
[[nodiscard]] std::string divergenceText(const audit::FirstDivergence& where);
/// An FP32 value's bits as sign, exponent and fraction: "0 01111111 00000000000000000000000".
[[nodiscard]] std::string bitText(std::uint32_t bits);

} // namespace assay::cli
