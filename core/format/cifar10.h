// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::format {

/// CIFAR-10 binary version: records of one label byte (0 to 9) and 3 x 32 x 32 pixels, red plane first, row by row.
inline constexpr std::uint64_t kCifar10Pixels = 3 * 32 * 32;
inline constexpr std::uint64_t kCifar10Record = 1 + kCifar10Pixels;
inline constexpr std::uint64_t kCifar10Classes = 10;

/// Number of records. `malformed` if the length is not a multiple of a record, or a label is above 9.
[[nodiscard]] base::Result<std::uint64_t> parseCifar10(base::ByteView file);

} // namespace assay::format
