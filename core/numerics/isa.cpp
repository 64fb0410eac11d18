// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/isa.h"

#include <atomic>

#include "core/numerics/kernel_table.h"

namespace assay::numerics {
namespace {

bool cpuHas(Isa isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (isa) {
    case Isa::scalar:
    case Isa::vector128:
        return true;
    case Isa::avx2:
        return __builtin_cpu_supports("avx2") != 0;
    case Isa::avx512:
        return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0;
    }
    return false;
#else
    return isa == Isa::scalar || isa == Isa::vector128;
#endif
}

const KernelTable* compiledTable(Isa isa) {
    switch (isa) {
    case Isa::scalar:
        return scalarKernels();
    case Isa::vector128:
        return vector128Kernels();
    case Isa::avx2:
        return avx2Kernels();
    case Isa::avx512:
        return avx512Kernels();
    }
    return nullptr;
}

Isa widest() {
    for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::vector128}) {
        if (isaAvailable(isa)) {
            return isa;
        }
    }
    return Isa::scalar;
}

std::atomic<Isa>& chosen() {
    static std::atomic<Isa> isa{widest()};
    return isa;
}

} // namespace

const char* toString(Isa isa) {
    switch (isa) {
    case Isa::scalar:
        return "scalar";
    case Isa::vector128:
        return "vector128";
    case Isa::avx2:
        return "avx2";
    case Isa::avx512:
        return "avx512";
    }
    return "unknown";
}

Isa currentIsa() {
    return chosen().load(std::memory_order_relaxed);
}

const char* activeIsa() {
    return toString(currentIsa());
}

bool isaAvailable(Isa isa) {
    return compiledTable(isa) != nullptr && cpuHas(isa);
}

bool forceIsa(Isa isa) {
    if (!isaAvailable(isa)) {
        return false;
    }
    chosen().store(isa, std::memory_order_relaxed);
    return true;
}

const KernelTable& kernels() {
    return *compiledTable(currentIsa());
}

} // namespace assay::numerics
