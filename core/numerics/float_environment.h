// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/error.h"

namespace assay::numerics {

/// Checks, on the calling thread, what every bound and every reduction relies on: rounding to nearest even, subnormals
/// neither flushed nor read as zero (FP32 and FP64), no excess precision, no contraction of a * b + c. `environment`,
/// with what is wrong, otherwise. To be called at the start of every thread that computes (a library may have changed
/// the mode).
[[nodiscard]] base::Result<void> checkFloatEnvironment();

} // namespace assay::numerics
