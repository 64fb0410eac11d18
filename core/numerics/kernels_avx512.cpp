// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/kernel_table.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ASSAY_KERNEL __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#define ASSAY_KERNEL_WIDTH 8
#include "core/numerics/kernel_bodies.h"

namespace assay::numerics {
const KernelTable* avx512Kernels() {
    return &kTable;
}
} // namespace assay::numerics
#else
namespace assay::numerics {
const KernelTable* avx512Kernels() {
    return nullptr;
}
} // namespace assay::numerics
#endif
