// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/format/program.h"

namespace assay::models {

/// Name and version of the seeded initialiser, as orders state it.
inline constexpr std::string_view kInitialiser = "philox-normal/1";

/// One FP32 tensor of a training state; every value representable and never -0.
struct NamedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

/// The initial value of every parameter and buffer of a program, in the program's order. `TensorSpec::init` is one of
/// "zeros", "ones" and "normal <FP32 bits as 8 hex digits>" (standard deviation). Normal value i of tensor t is
/// RN(std * sqrt(-2 log u) * cos(2 pi v)) with u, v the Philox words 2i, 2i+1 of (seed, step t, initialiser stream), and own
/// functions throughout, so that every machine makes the same bits. `malformed` for an unknown initialiser.
[[nodiscard]] base::Result<std::vector<NamedTensor>> initialState(const format::Program& program, std::uint64_t seed);

} // namespace assay::models
