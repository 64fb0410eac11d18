// SPDX-License-Identifier: Apache-2.0
#include "core/format/idx.h"

#include <fmt/format.h>

namespace assay::format {

using base::failAt;
using base::Result;

namespace {

std::uint32_t loadBigEndian(const std::uint8_t* at) {
    return (static_cast<std::uint32_t>(at[0]) << 24) | (static_cast<std::uint32_t>(at[1]) << 16) |
           (static_cast<std::uint32_t>(at[2]) << 8) | static_cast<std::uint32_t>(at[3]);
}

} // namespace

Result<IdxFile> parseIdx(base::ByteView file) {
    base::ByteReader reader(file);
    ASSAY_TRY(magic, reader.getBytes(4, "IDX magic"));
    if (magic[0] != 0 || magic[1] != 0) {
        return failAt(fmt::format("not an IDX file: expected two zero bytes, found 0x{:02x}{:02x}{}", magic[0],
                                  magic[1],
                                  magic[0] == 0x1F && magic[1] == 0x8B ? " (this is gzip: unpack it first)" : ""),
                      0);
    }
    if (magic[2] != 0x08) {
        return failAt(fmt::format("element type 0x{:02x}, only unsigned bytes (0x08) are read", magic[2]), 2);
    }
    const unsigned dims = magic[3];
    if (dims < 1 || dims > 4) {
        return failAt(fmt::format("{} dimensions, expected 1 to 4", dims), 3);
    }
    IdxFile result;
    std::uint64_t total = 1;
    for (unsigned i = 0; i < dims; ++i) {
        const auto at = reader.offset();
        ASSAY_TRY(bytes, reader.getBytes(4, "IDX dimension"));
        const std::uint64_t size = loadBigEndian(bytes.data());
        // Comparing with the file at once keeps the product from overflowing.
        if (size == 0 || total > file.size() / size) {
            return failAt(fmt::format("dimension {} is {}, more than the file of {} bytes holds", i, size, file.size()),
                          at);
        }
        total *= size;
        if (i == 0) {
            result.items = size;
        } else {
            result.itemShape.push_back(static_cast<std::int64_t>(size));
        }
    }
    ASSAY_TRY(values, reader.getBytes(total, "IDX data"));
    ASSAY_CHECK(reader.expectEnd("IDX file"));
    result.values = values;
    return result;
}

} // namespace assay::format
