// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "app/cli/verb_spec.h"

namespace assay::cli {

/// The whole help of one verb, `path` = "assay order new". Plain text, at most 100 columns.
[[nodiscard]] std::string helpText(const VerbSpec& spec, std::string_view path);
/// "Usage: assay train ORDER [options]"
[[nodiscard]] std::string usageLine(const VerbSpec& spec, std::string_view path);
/// A completion script for bash that knows every verb, option and choice.
[[nodiscard]] std::string bashCompletion(const VerbSpec& root);
/// The manual page (troff, man macros).
[[nodiscard]] std::string manualPage(const VerbSpec& root, std::string_view version);

} // namespace assay::cli
