// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/numerics/site_pass.h"

namespace assay::numerics::detail {

/// Rounds the panel into `out` and appends the offsets (i * cols + j) of elements for which [y +- radius * D] holds more than one
/// float, or where anything is not finite, in increasing order.
using PassKernel = void (*)(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful);

void passScalar(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful);
void passAvx2(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful);
void passAvx512(const ProductSite& panel, double radius, float* out, std::vector<std::uint64_t>& doubtful);

/// One element as the scalar reference treats it; the SIMD kernels use it for their tails.
bool passElement(double y, double bound, double radius, float* out);

} // namespace assay::numerics::detail
