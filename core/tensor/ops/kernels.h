// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tensor/detail/op_base.h"

namespace assay::tensor::detail {

const OpKernel& addKernel();
const OpKernel& batchNormKernel();
const OpKernel& conv2dKernel();
const OpKernel& crossEntropyKernel();
const OpKernel& dropoutKernel();
const OpKernel& embeddingKernel();
const OpKernel& geluKernel();
const OpKernel& globalAvgPoolKernel();
const OpKernel& layerNormKernel();
const OpKernel& linearKernel();
const OpKernel& matmulKernel();
const OpKernel& maxPool2dKernel();
const OpKernel& permuteKernel();
const OpKernel& reluKernel();
const OpKernel& reshapeKernel();
const OpKernel& scaleKernel();
const OpKernel& softmaxKernel();
const OpKernel& splitKernel();

} // namespace assay::tensor::detail
