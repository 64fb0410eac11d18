// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/kernel_table.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ASSAY_KERNEL __attribute__((target("avx2")))
#define ASSAY_KERNEL_WIDTH 4
#include "core/numerics/kernel_bodies.h"

namespace assay::numerics {
const KernelTable* avx2Kernels() {
    return &kTable;
}
} // namespace assay::numerics
#else
namespace assay::numerics {
const KernelTable* avx2Kernels() {
    return nullptr;
}
} // namespace assay::numerics
#endif
