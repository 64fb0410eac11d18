// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/numerics/rounding_log.h"

namespace assay::numerics {

/// Bytes of one site's entries as LOG_FORMAT.md beside this file specifies: one encoding per log.
/// Preconditions: indices strictly increasing and below `siteValues`, payloads well-formed.
[[nodiscard]] base::ByteVector encodeSection(const SiteLog& log, std::uint64_t siteValues);

/// Strict inverse: `malformed` with the absolute offset (baseOffset + position) unless the bytes are exactly what
/// encodeSection gives for the decoded entries. Memory is bounded by 64 bytes per input byte. Payloads of -0 and NaN
/// are *not* rejected here: they are offences that the auditor reports with evidence.
[[nodiscard]] base::Result<SiteLog> decodeSection(base::ByteView section, std::uint64_t siteValues,
                                                  std::uint64_t baseOffset);

/// Limits of a step file.
inline constexpr std::uint64_t kMaxSections = 1ULL << 20;
inline constexpr std::uint64_t kMaxStepLogBytes = 1ULL << 36;

/// One step's log: views into the file's bytes.
struct StepLogFile {
    struct Section {
        base::ByteView bytes;
        std::uint64_t offset = 0; ///< of the section's first byte in the file
    };
    base::Digest order;
    std::uint64_t step = 0;
    std::vector<Section> sections; ///< product sites in execution order
};

[[nodiscard]] base::ByteVector encodeStepLog(const base::Digest& order, std::uint64_t step,
                                             std::span<const base::ByteVector> sections);

/// Structure only; sections are decoded one by one with decodeSection. `malformed` with an offset for anything but the
/// one encoding. The result borrows from `file`.
[[nodiscard]] base::Result<StepLogFile> decodeStepLog(base::ByteView file);

} // namespace assay::numerics
