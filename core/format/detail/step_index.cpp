// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/step_index.h"

#include <fmt/format.h>

namespace assay::format::detail {

base::Result<StepIndex> StepIndex::parse(base::ByteView index, std::uint64_t leaves, std::uint64_t stepsBytes) {
    if (leaves == 0 || index.size() % kIndexEntry != 0 || index.size() / kIndexEntry != leaves) {
        return base::failAt(
            fmt::format("{} bytes, expected {} for each of {} leaves", index.size(), kIndexEntry, leaves), 0);
    }
    StepIndex result;
    result.m_index = index;
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
        const auto begin = result.begin(leaf);
        const auto end = result.end(leaf);
        if (end <= begin || end > stepsBytes) {
            return base::failAt(fmt::format("record of step {} ends at {}, expected more than {} and at most {}", leaf,
                                            end, begin, stepsBytes),
                                leaf * kIndexEntry);
        }
    }
    if (result.end(leaves - 1) != stepsBytes) {
        return base::failAt(
            fmt::format("the last record ends at {}, but steps.bin has {} bytes", result.end(leaves - 1), stepsBytes),
            (leaves - 1) * kIndexEntry);
    }
    return result;
}

base::Result<std::uint64_t> countLeaves(base::ByteView leaves) {
    if (leaves.empty() || leaves.size() % kHashBytes != 0) {
        return base::failAt(fmt::format("{} bytes are not a whole number of leaf hashes", leaves.size()),
                            leaves.size() / kHashBytes * kHashBytes);
    }
    return leaves.size() / kHashBytes;
}

} // namespace assay::format::detail
