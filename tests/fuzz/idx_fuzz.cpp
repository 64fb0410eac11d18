// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/idx.h"

/// The values of a file that parses are as many as its dimensions say, and lie inside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto file = format::parseIdx({data, size});
    if (!file) {
        return 0;
    }
    std::uint64_t product = file->items;
    for (const auto dim : file->itemShape) {
        product *= static_cast<std::uint64_t>(dim);
    }
    if (product != file->values.size() || file->values.data() + file->values.size() != data + size) {
        std::abort();
    }
    return 0;
}
