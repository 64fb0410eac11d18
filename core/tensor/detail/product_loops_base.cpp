// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/product_loops_body.h"

namespace assay::tensor::detail {

const ProductLoops kProductLoopsBase{widen, widenReversed, addBlock, finishBlocks, add};

} // namespace assay::tensor::detail
