// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::format {

/// A parsed IDX file of unsigned bytes (the MNIST distribution's format). Borrows from the file's bytes.
struct IdxFile {
    std::uint64_t items = 0; ///< first dimension
    std::vector<std::int64_t>
        itemShape;         ///< the other dimensions: height, width, or channels, height, width; empty for labels
    base::ByteView values; ///< items * product(itemShape) bytes
};

/// Strict: element type 0x08, 1 to 4 dimensions of at least 1, the data exactly as long as the dimensions say.
[[nodiscard]] base::Result<IdxFile> parseIdx(base::ByteView file);

} // namespace assay::format
