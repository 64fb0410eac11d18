// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/format/submission.h"

namespace assay::format::detail {

/// The journal of an unfinished submission: which kernel profile was in force from which step on. Its file is also the
/// lock.
class Journal {
public:
    /// Reads the complete lines; a torn last line is dropped.
    [[nodiscard]] static base::Result<Journal> read(const base::fs::path& folder);
    /// Makes the journal of a new submission.
    [[nodiscard]] static base::Result<Journal> create(const base::fs::path& folder, const std::string& profile);

    /// Notes that steps from `firstStep` on are under `profile`; what was noted for them before no longer holds.
    /// Appended to the file at once unless nothing changes.
    [[nodiscard]] base::Result<void> setProfile(const base::fs::path& folder, std::uint64_t firstStep,
                                                const std::string& profile);
    /// Ranges for steps 1 .. lastStep.
    [[nodiscard]] std::vector<ProfileRange> ranges(std::uint64_t lastStep) const;

private:
    struct Change {
        std::uint64_t firstStep = 0;
        std::string profile;
    };
    [[nodiscard]] base::Result<void> parseLine(std::string_view line, std::uint64_t offset);
    [[nodiscard]] bool apply(std::uint64_t firstStep, std::string profile); ///< whether anything changed
    std::vector<Change> m_changes; ///< ascending first steps, neighbours differ
    std::uint64_t m_size = 0;      ///< bytes of complete lines in the file
};

} // namespace assay::format::detail
