// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/product_loops.h"

#include "core/numerics/isa.h"

namespace assay::tensor::detail {

const ProductLoops& productLoops() {
#if defined(__x86_64__)
    switch (numerics::currentIsa()) {
    case numerics::Isa::avx512:
        return kProductLoopsAvx512;
    case numerics::Isa::avx2:
        return kProductLoopsAvx2;
    case numerics::Isa::vector128:
    case numerics::Isa::scalar:
        break;
    }
#endif
    return kProductLoopsBase;
}

} // namespace assay::tensor::detail
