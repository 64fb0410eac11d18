// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::numerics {

/// Instruction sets of the site pass, the norms and the array functions. All give the same bits.
enum class Isa : std::uint8_t {
    scalar,    ///< the reference: one element after the other, as the documents say it
    vector128, ///< what every CPU of the architecture has (SSE2, NEON)
    avx2,
    avx512
};

[[nodiscard]] const char* toString(Isa isa);
/// The instruction set in use: the widest that was compiled in and that this CPU has, unless forceIsa chose another.
[[nodiscard]] Isa currentIsa();
[[nodiscard]] const char* activeIsa(); ///< its name: "scalar", "vector128", "avx2", "avx512"
[[nodiscard]] bool isaAvailable(Isa isa);
/// For tests and benchmarks; process-wide. False, and nothing changes, where it is not available.
[[nodiscard]] bool forceIsa(Isa isa);

} // namespace assay::numerics
