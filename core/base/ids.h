// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace assay::base {

/// An integer that cannot be mixed up with another kind. Tag types below name the kinds.
template <typename Tag>
struct StrongIndex {
    std::uint64_t value = 0;
    auto operator<=>(const StrongIndex&) const = default;
};

using StepIndex = StrongIndex<struct StepTag>;   ///< training step, 1-based; 0 is the initial state
using LeafIndex = StrongIndex<struct LeafTag>;   ///< position in a Merkle tree, 0-based
using TreeSize = StrongIndex<struct TreeTag>;    ///< number of leaves
using SampleIndex = StrongIndex<struct SampleTag>; ///< position in the data set, 0-based

} // namespace assay::base
