// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::format {

/// Number of non-overlapping windows of `window` bytes in a file; sample i is bytes i * window .. (i + 1) * window - 1,
/// and what is left over at the end belongs to no sample. `malformed` if there is no whole window. Precondition: window
/// >= 2.
[[nodiscard]] base::Result<std::uint64_t> countWindows(base::ByteView file, std::uint64_t window);

} // namespace assay::format
