// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace assay::cli {

/// What is in one step's log, without knowing the program: entries are counted, not judged.
struct SectionCount {
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t whole = 0;
};

struct StepLogCount {
    base::Digest order;
    std::uint64_t step = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t whole = 0;
    std::vector<SectionCount> sections; ///< product sites in execution order
};

/// `malformed` with an offset for anything but a step log.
[[nodiscard]] base::Result<StepLogCount> countStepLog(base::ByteView file);

} // namespace assay::cli
