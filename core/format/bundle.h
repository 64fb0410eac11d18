// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::format {

/// Limits on what a stranger's bundle may unpack to.
struct BundleLimits {
    std::uint64_t files = 1ULL << 21;
    std::uint64_t fileBytes = 1ULL << 40;
    std::uint64_t totalBytes = 1ULL << 42;
};

/// Writes a finished submission folder as one file: a tar with the files in name order, stored, fixed times and owners,
/// so that equal submissions give equal bundles. Atomic. `malformed` if the folder is not a structurally valid
/// submission.
[[nodiscard]] base::Result<void> packBundle(const base::fs::path& folder, const base::fs::path& bundle);

/// Unpacks a bundle into a new temporary folder. Refuses (`malformed`, with the name of the entry): compression,
/// absolute paths,
/// "..", links, devices, sparse entries, duplicate or case-folded duplicate names, more bytes than the bundle holds,
/// data after the end. Whether the files are those of the manifest is checked by Submission::open.
[[nodiscard]] base::Result<base::TemporaryFolder> unpackBundle(const base::fs::path& bundle,
                                                               const BundleLimits& limits = {});

/// True if the path is a regular file (bundle) rather than a folder.
[[nodiscard]] bool isBundle(const base::fs::path& path);

} // namespace assay::format
