// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/cifar10.h"

/// Records of a file that parses are whole and their labels known.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto records = format::parseCifar10({data, size});
    if (!records) {
        return 0;
    }
    if (*records * format::kCifar10Record != size) {
        std::abort();
    }
    for (std::size_t at = 0; at < size; at += format::kCifar10Record) {
        if (data[at] >= format::kCifar10Classes) {
            std::abort();
        }
    }
    return 0;
}
