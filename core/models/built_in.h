// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/format/program.h"

/// Programs that Assay writes itself, so that an order needs no model file.
namespace assay::models {

struct ModelRequest {
    std::string kind;                  ///< "mlp", "cnn" or "gpt"
    std::uint64_t width = 0;           ///< hidden width (mlp), channels of the first stage (cnn), model width (gpt); 0 = default
    std::uint64_t layers = 0;          ///< hidden layers, residual blocks, transformer blocks; 0 = default
    std::uint64_t heads = 0;           ///< gpt only; 0 = one head per 64 channels, at least 1
    std::uint64_t feedForward = 0;     ///< gpt only: width of the MLP inside a block; 0 = 4 * width
    std::uint64_t context = 0;         ///< gpt only: tokens per sample
    std::uint64_t vocabulary = 256;    ///< gpt only: byte tokens by default
    std::uint64_t classes = 10;        ///< mlp and cnn
    std::vector<std::int64_t> image;   ///< mlp and cnn: channels, height, width of a sample
    float dropout = 0.0f;              ///< gpt and mlp: probability after each block part; 0 leaves the operator out
};

/// Builds the program. `usage` where sizes do not fit together (width not divisible by heads, image too small for the pooling, ...).
/// Pure and thread-safe.
[[nodiscard]] base::Result<format::Program> buildProgram(const ModelRequest& request);

/// Number of parameter values of a program.
[[nodiscard]] std::uint64_t parameterCount(const format::Program& program);

} // namespace assay::models
