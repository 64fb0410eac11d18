// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/bundle.h"
#include "core/format/submission.h"
#include "tests/support/format_fixtures.h"

/// A bundle that unpacks leaves plain files only, no more bytes than it has, and what opens can be read to the end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    static const auto folder = base::TemporaryFolder::create("assay-fuzz");
    const auto path = folder->path() / "x.assay";
    auto file = base::AppendFile::open(path, 0);
    if (!file || !file->append({data, size})) {
        std::abort();
    }
    if (const auto unpacked = format::unpackBundle(path)) {
        std::uint64_t bytes = 0;
        for (const auto& entry : base::fs::recursive_directory_iterator(unpacked->path())) {
            if (entry.is_symlink() || (!entry.is_directory() && !entry.is_regular_file())) {
                std::abort();
            }
            bytes += entry.is_regular_file() ? entry.file_size() : 0;
        }
        if (bytes > size) {
            std::abort();
        }
    }
    if (const auto submission = format::Submission::open(path)) {
        for (std::uint64_t step = 0; step < submission->leaves(); ++step) {
            (void)submission->step(step);
            (void)submission->log(step);
        }
        if (!submission->verifyFiles()) {
            std::abort();
        }
    }
    return 0;
}
