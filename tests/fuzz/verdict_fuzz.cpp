// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/audit/verdict.h"
#include "core/base/bytes.h"

/// A report that parses must be written as one that reads the same, with the same verdict.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (const auto report = audit::reportFromJson(base::asText({data, size}))) {
        const auto json = audit::toJson(*report);
        const auto again = audit::reportFromJson(json);
        if (!again || again->verdict != report->verdict || audit::toJson(*again) != json) {
            std::abort();
        }
    }
    return 0;
}
