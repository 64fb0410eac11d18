// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::cli {

/// Content of a file, or of standard input for "-". At most `limit` bytes: more is `malformed`.
[[nodiscard]] base::Result<std::string> readInput(const std::string& file, std::uint64_t limit);
/// `usage` if something is there already; creates the folder above it. For results that must not overwrite anything.
[[nodiscard]] base::Result<void> refuseExisting(const base::fs::path& path);
/// Path of the order file: a folder stands for the order.json in it. `unreadable` with a remedy if there is none.
[[nodiscard]] base::Result<base::fs::path> findOrder(const std::string& path);
/// Where the files of an order are looked for: `given`, or the folder of the order.
[[nodiscard]] base::fs::path dataFolder(const std::string& given, const base::fs::path& orderFile);

} // namespace assay::cli
