// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::format::detail {

inline constexpr std::uint64_t kIndexEntry = 8; ///< bytes per leaf in steps.idx
inline constexpr std::uint64_t kHashBytes = 32; ///< bytes per leaf in leaves.bin

/// Where each record of steps.bin lies. Borrows from the bytes of steps.idx.
class StepIndex {
public:
    StepIndex() = default;
    /// Strict: one entry per leaf, at least one leaf, ends strictly increasing, the last one being the end of
    /// steps.bin. O(leaves).
    [[nodiscard]] static base::Result<StepIndex> parse(base::ByteView index, std::uint64_t leaves,
                                                       std::uint64_t stepsBytes);

    [[nodiscard]] std::uint64_t begin(std::uint64_t leaf) const { return leaf == 0 ? 0 : end(leaf - 1); }
    [[nodiscard]] std::uint64_t end(std::uint64_t leaf) const {
        return base::loadLe<std::uint64_t>(m_index.data() + leaf * kIndexEntry);
    }

private:
    base::ByteView m_index;
};

/// Number of leaves in leaves.bin; `malformed` unless it is a whole number of at least 1.
[[nodiscard]] base::Result<std::uint64_t> countLeaves(base::ByteView leaves);

} // namespace assay::format::detail
