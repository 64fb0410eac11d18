// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"

namespace assay::format {

/// What the commitment of one step says. Leaf 0 is the initial state: batch = batchDigest of nothing, zero bits, the
/// log root of no sections, a state root, previous = 0. Value type.
struct LeafData {
    base::Digest order;
    std::uint64_t step = 0;
    base::Digest batch;                 ///< batchDigest of indices and sample digests
    std::uint32_t learningRateBits = 0; ///< FP32 bits
    std::uint32_t lossBits = 0;         ///< FP32 bits
    base::Digest logRoot;               ///< over the step's log sections
    std::optional<base::Digest> stateRoot;
    std::optional<std::uint32_t> evaluationBits; ///< FP32 bits
    base::Digest previous;                       ///< leaf hash of step - 1; zero for leaf 0
    bool diverged = false;    ///< a non-finite operand ended the run in this step: no loss, log, state or evaluation
    std::string divergedSite; ///< name of the site; only if diverged
    bool operator==(const LeafData&) const = default;
};

/// Canonical bytes. Preconditions: a diverged leaf has zero loss bits, zero log root and no optional fields; site <=
/// 1024 bytes.
[[nodiscard]] base::ByteVector serialiseLeaf(const LeafData& leaf);
/// Strict inverse; `malformed` with an offset relative to the leaf's first byte + baseOffset.
[[nodiscard]] base::Result<LeafData> parseLeaf(base::ByteView bytes, std::uint64_t baseOffset = 0);
/// RFC 9162 leaf hash of the canonical bytes.
[[nodiscard]] base::Digest leafHash(const LeafData& leaf);
[[nodiscard]] base::Digest leafHash(base::ByteView leafBytes);

/// Names of the fields in which two leaves differ, in the order batch, learning_rate, loss, log_root, state_root,
/// evaluation, chain (order, step, previous, diverged). The first one is the `part` of a verdict.
[[nodiscard]] std::vector<std::string> differingParts(const LeafData& claimed, const LeafData& computed);

/// One record of steps.bin.
struct StepRecord {
    LeafData leaf;
    std::vector<base::Digest> tensorRoots; ///< state tensors in name order where the leaf has a state root, else empty
    std::uint64_t logBytes = 0; ///< size and SHA-256 of the step's log file; 0 and zero for step 0 and diverged leaves
    base::Digest logSha256;
    bool operator==(const StepRecord&) const = default;
};
[[nodiscard]] base::ByteVector serialiseStepRecord(const StepRecord& record);
/// Strict inverse for exactly one record; offsets are relative to baseOffset.
[[nodiscard]] base::Result<StepRecord> parseStepRecord(base::ByteView bytes, std::uint64_t baseOffset);

} // namespace assay::format
