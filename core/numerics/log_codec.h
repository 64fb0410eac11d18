// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/digest.h"
#include "core/numerics/rounding_log.h"

/// Bytes of the rounding log, specified in LOG_FORMAT.md beside this file. Decoding is strict: exactly one byte sequence stands for
/// one log, so a log cannot be padded or re-coded. All functions are pure and thread-safe.
namespace assay::numerics {

/// Section of one product site; empty where there are no entries.
[[nodiscard]] base::ByteVector encodeSection(const SiteLog& log);
/// `values` is the number of elements of the site; `offset` the place of the section in its file, for error messages. An index at or
/// beyond `values` is decoded (the enforcer reports it as an offence) up to 2^48.
[[nodiscard]] base::Result<SiteLog> decodeSection(base::ByteView section, std::uint64_t offset = 0);

struct SectionRange {
    std::uint64_t offset = 0; ///< in the file
    std::uint64_t length = 0;
};

/// A step's log file, decoded down to its sections.
struct StepLogFile {
    base::Digest order;
    std::uint64_t step = 0;
    std::vector<SectionRange> sections; ///< one per product site, in execution order
};

[[nodiscard]] base::ByteVector encodeStepLog(const base::Digest& order, std::uint64_t step, std::span<const base::ByteVector> sections);
/// At most 2^20 sections.
[[nodiscard]] base::Result<StepLogFile> decodeStepLog(base::ByteView file);

} // namespace assay::numerics
