// SPDX-License-Identifier: Apache-2.0
#include "core/format/cifar10.h"

#include <fmt/format.h>

namespace assay::format {

base::Result<std::uint64_t> parseCifar10(base::ByteView file) {
    if (file.empty() || file.size() % kCifar10Record != 0) {
        return base::failAt(fmt::format("file of {} bytes is not a whole number of CIFAR-10 records of {} bytes",
                                        file.size(), kCifar10Record),
                            file.size() / kCifar10Record * kCifar10Record);
    }
    const auto records = file.size() / kCifar10Record;
    for (std::uint64_t i = 0; i < records; ++i) {
        const auto label = file[static_cast<std::size_t>(i * kCifar10Record)];
        if (label >= kCifar10Classes) {
            return base::failAt(fmt::format("record {}: label {}, expected 0 to 9", i, label), i * kCifar10Record);
        }
    }
    return records;
}

} // namespace assay::format
