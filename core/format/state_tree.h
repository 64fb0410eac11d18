// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/format/safetensors.h"

namespace assay::format {

inline constexpr std::uint64_t kChunkBytes = 64 * 1024;

/// RFC 9162 root over the 64 KiB chunks of a tensor's little-endian bytes; an empty tensor has the root of the empty
/// tree.
[[nodiscard]] base::Digest tensorRoot(base::ByteView bytes);
/// Leaf hash of a tensor in the state tree: name, dtype, shape, byte length and chunk root.
[[nodiscard]] base::Digest tensorLeaf(const std::string& name, const std::string& dtype,
                                      std::span<const std::int64_t> shape, std::uint64_t byteLength,
                                      const base::Digest& root);

/// A state's commitment. `tensorRoots[i]` is the chunk root of tensor i in name order.
struct StateCommitment {
    base::Digest root;
    std::vector<base::Digest> tensorRoots;
};
/// Commits to all tensors of a state (parameters, buffers, optimizer state, counters), in any order: they are sorted by
/// name. Precondition: names unique, views consistent. Uses up to `threads` threads; the result does not depend on it.
[[nodiscard]] StateCommitment commitState(std::span<const TensorView> tensors, unsigned threads = 1);
/// The state root that follows from claimed tensor roots, with names, dtypes and shapes taken from one's own state.
/// Precondition: tensorRoots.size() == tensors.size(); tensorRoots are in name order.
[[nodiscard]] base::Digest stateRootFrom(std::span<const TensorView> tensors,
                                         std::span<const base::Digest> tensorRoots);

/// Root over the log sections of a step (product sites in execution order); the empty tree's root if there are none.
[[nodiscard]] base::Digest logRoot(std::span<const base::ByteView> sections);
/// Digest of a batch: its sample indices and their digests in batch order. Precondition: equal lengths.
[[nodiscard]] base::Digest batchDigest(std::span<const std::uint64_t> indices,
                                       std::span<const base::Digest> sampleDigests);

} // namespace assay::format
