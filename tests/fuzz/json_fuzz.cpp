// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/json.h"

/// A value that parses has exactly the bytes that the writer makes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto value = format::readJson({data, size}, 1 << 20);
    if (value && format::writeJson(*value) + '\n' != base::asText({data, size})) {
        std::abort();
    }
    if (!value && (value.error().code != base::ErrorCode::malformed || value.error().offset.value_or(~0ULL) > size)) {
        std::abort();
    }
    return 0;
}
