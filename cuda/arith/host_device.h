// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks functions that both the host and a CUDA device execute. They use nothing but IEEE basic operations, so both give the
/// same bits; contraction into fused multiply-add is switched off by the build on either side.
#ifdef __CUDACC__
#define ASSAY_HD __host__ __device__
#else
#define ASSAY_HD
#endif
