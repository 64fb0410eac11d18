// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/detail/step_index.h"

/// Input: size of steps.bin (8 bytes), number of leaves (8 bytes), then steps.idx. Records of an index that parses tile
/// steps.bin.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (size < 16) {
        return 0;
    }
    const auto stepsBytes = base::loadLe<std::uint64_t>(data);
    const auto leaves = base::loadLe<std::uint64_t>(data + 8);
    const auto index = format::detail::StepIndex::parse({data + 16, size - 16}, leaves, stepsBytes);
    if (!index) {
        return 0;
    }
    std::uint64_t at = 0;
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
        if (index->begin(leaf) != at || index->end(leaf) <= at) {
            std::abort();
        }
        at = index->end(leaf);
    }
    if (at != stepsBytes) {
        std::abort();
    }
    return 0;
}
