// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::format::detail {

/// Samples that lie evenly spaced in mapped bytes; all readers come down to this.
struct SampleRun {
    const std::uint8_t* values = nullptr;
    std::uint64_t valueStride = 0;
    const std::uint8_t* labels = nullptr; ///< nullptr for text
    std::uint64_t labelStride = 0;
    std::uint64_t first = 0; ///< index of the run's first sample in the files
    std::uint64_t count = 0;
    std::string file; ///< for errors
};

struct SampleSource {
    std::vector<SampleRun> runs;
    std::uint64_t total = 0;              ///< samples in the files
    std::uint64_t bytesPerSample = 0;     ///< that the digest covers
    std::vector<std::int64_t> imageShape; ///< empty for text
    std::uint64_t largestLabel = 0;
    std::uint64_t ownTestSamples = 0; ///< at the end, where the data set comes with a test set

    [[nodiscard]] const SampleRun& runOf(std::uint64_t fileIndex) const;
};

/// Reads mapped files in order. `context` and `imageShape` as in DataSpec. Errors name the file.
[[nodiscard]] base::Result<SampleSource> readSamples(const std::string& reader, const std::vector<std::string>& names,
                                                     const std::vector<base::ByteView>& files, std::uint64_t context,
                                                     const std::vector<std::int64_t>& imageShape);

/// The files that a reader looks for in a folder: names found there, in sample order. `usage` if there are none.
[[nodiscard]] base::Result<std::vector<std::string>> findDataFiles(const std::string& reader,
                                                                   const base::fs::path& folder);

} // namespace assay::format::detail
