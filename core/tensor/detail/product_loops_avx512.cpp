// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/product_loops_body.h"

#if defined(__x86_64__)
namespace assay::tensor::detail {

const ProductLoops kProductLoopsAvx512{widen, widenReversed, addBlock, finishBlocks, add};

} // namespace assay::tensor::detail
#endif
