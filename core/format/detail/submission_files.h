// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::format::detail {

inline constexpr std::string_view kLogFolder = "logs";
inline constexpr std::string_view kCheckpointFolder = "checkpoints";

/// The step in a log's or checkpoint's name; nothing for any other name (also "logs/1.rlog", which is not canonical).
[[nodiscard]] std::optional<std::uint64_t> stepOfLog(std::string_view name);
[[nodiscard]] std::optional<std::uint64_t> stepOfCheckpoint(std::string_view name);
/// Whether a finished submission may have a file of this name.
[[nodiscard]] bool isSubmissionFile(std::string_view name);

struct ScannedFile {
    std::string name; ///< relative, with '/'
    std::uint64_t size = 0;
};
/// All files below a submission folder, sorted by name. `malformed` for links, devices and folders that do not belong
/// there.
[[nodiscard]] base::Result<std::vector<ScannedFile>> scanFolder(const base::fs::path& folder);

/// Flushes the file system that holds `folder`: one call instead of one per file.
[[nodiscard]] base::Result<void> syncFileSystem(const base::fs::path& folder);

} // namespace assay::format::detail
