// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#define ASSAY_KERNEL
#define ASSAY_KERNEL_WIDTH 2
#include "core/numerics/kernel_bodies.h"

namespace assay::numerics {
const KernelTable* vector128Kernels() {
    return &kTable;
}
} // namespace assay::numerics
