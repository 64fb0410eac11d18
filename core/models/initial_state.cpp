// SPDX-License-Identifier: Apache-2.0
#include "core/models/initial_state.h"

#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "cuda/arith/elementary.h"
#include "cuda/arith/philox.h"
#include "cuda/arith/rounding.h"

namespace assay::models {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::uint32_t kInitialiserStream = 0xFFFF0001u; ///< apart from every operator's stream; persistent, never renumber
constexpr double kTwoPi = 0x1.921fb54442d18p+2;
constexpr std::string_view kNormalPrefix = "normal ";

float normalValue(double deviation, std::uint64_t seed, std::uint64_t tensor, std::uint64_t index) {
    const double u = arith::uniform01(arith::randomWord(seed, tensor, kInitialiserStream, 2 * index));
    const double v = arith::uniform01(arith::randomWord(seed, tensor, kInitialiserStream, 2 * index + 1));
    // std::sqrt is correctly rounded by IEEE 754 and so the same everywhere; log and cos are our own.
    const double radius = std::sqrt(-2.0 * arith::logOwn(u));
    return arith::roundToFloat(deviation * (radius * arith::cosOwn(kTwoPi * v)));
}

Result<float> deviationOf(const format::TensorSpec& spec) {
    const std::string_view hex = std::string_view(spec.init).substr(kNormalPrefix.size());
    std::uint32_t bits = 0;
    const auto [end, code] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    const auto deviation = std::bit_cast<float>(bits);
    if (code != std::errc{} || end != hex.data() + hex.size() || hex.size() != 8 || !(deviation >= 0.0f && deviation <= 1e6f)) {
        return fail(ErrorCode::malformed, fmt::format("tensor {}: initialiser \"{}\": expected \"normal\" and the FP32 bits of a "
                                                      "standard deviation as 8 hex digits",
                                                      spec.name, spec.init));
    }
    return deviation;
}

} // namespace

Result<std::vector<NamedTensor>> initialState(const format::Program& program, std::uint64_t seed) {
    std::vector<NamedTensor> state;
    for (std::uint64_t t = 0; t < program.tensors.size(); ++t) {
        const auto& spec = program.tensors[t];
        std::uint64_t count = 1;
        for (const auto size : spec.shape) {
            count *= static_cast<std::uint64_t>(size);
        }
        NamedTensor tensor{spec.name, spec.shape, std::vector<float>(count, 0.0f)};
        if (spec.init == "ones") {
            tensor.values.assign(count, 1.0f);
        } else if (spec.init.starts_with(kNormalPrefix)) {
            ASSAY_TRY(deviation, deviationOf(spec));
            for (std::uint64_t i = 0; i < count; ++i) {
                tensor.values[i] = normalValue(static_cast<double>(deviation), seed, t, i);
            }
        } else if (spec.init != "zeros") {
            return fail(ErrorCode::malformed, fmt::format("tensor {}: unknown initialiser \"{}\"", spec.name, spec.init),
                        "zeros, ones or normal");
        }
        state.push_back(std::move(tensor));
    }
    return state;
}

} // namespace assay::models
