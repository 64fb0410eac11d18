// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/console.h"
#include "app/cli/json_text.h"
#include "core/base/bytes.h"
#include "core/base/file.h"

namespace assay::cli {

/// What `inspect` found, for programs and for people.
struct Inspection {
    JsonObject json{"assay.inspect"}; ///< has "kind"
    std::string text;
};

/// Submission folder or bundle. Reads, hashes nothing, executes nothing.
[[nodiscard]] base::Result<Inspection> inspectSubmission(const base::fs::path& path);
/// One file of any kind that Assay knows, told by its content; `malformed` otherwise.
[[nodiscard]] base::Result<Inspection> inspectFile(const base::fs::path& path);

} // namespace assay::cli
