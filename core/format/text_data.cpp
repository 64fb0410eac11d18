// SPDX-License-Identifier: Apache-2.0
#include "core/format/text_data.h"

#include <fmt/format.h>

namespace assay::format {

base::Result<std::uint64_t> countWindows(base::ByteView file, std::uint64_t window) {
    if (file.size() < window) {
        return base::failAt(
            fmt::format("file of {} bytes holds no sample: a sample takes {} bytes", file.size(), window), file.size());
    }
    return file.size() / window;
}

} // namespace assay::format
