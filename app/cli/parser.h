// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/session.h"
#include "app/cli/verb_spec.h"

namespace assay::cli {

/// Parses session.arguments against the verbs below `root`, runs the verb that was named, and returns the exit code.
/// All errors are printed; with --json also as one object on standard output.
[[nodiscard]] int runCommandLine(const VerbSpec& root, Session& session);

} // namespace assay::cli
