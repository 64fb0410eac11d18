// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/leaf.h"

/// A leaf or record that parses has exactly the bytes that its serialiser makes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const base::ByteVector bytes(data, data + size);
    if (const auto leaf = format::parseLeaf(bytes); leaf && format::serialiseLeaf(*leaf) != bytes) {
        std::abort();
    }
    if (const auto record = format::parseStepRecord(bytes, 0);
        record && format::serialiseStepRecord(*record) != bytes) {
        std::abort();
    }
    return 0;
}
