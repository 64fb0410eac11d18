// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::base {

/// "1 file", "2 files".
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
    return std::to_string(n).append(" ").append(n == 1 ? one : many);
}

} // namespace assay::base
