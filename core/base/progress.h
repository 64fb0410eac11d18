// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace assay::base {

/// One report of a long operation. `unit` is what is counted ("steps", "bytes").
struct Progress {
    std::string_view phase;
    std::uint64_t done = 0;
    std::uint64_t total = 0; ///< 0 where unknown
    std::string_view unit;
};

/// Called on the thread that does the work; must return quickly. An empty function means nobody listens.
using ProgressFn = std::function<void(const Progress&)>;

} // namespace assay::base
