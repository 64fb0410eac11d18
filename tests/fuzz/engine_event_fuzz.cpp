// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/audit/engine_events.h"
#include "core/base/bytes.h"

/// An event that parses must be written as a line that says the same when it is read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (const auto event = audit::parseEvent(base::asText({data, size}))) {
        const auto line = audit::serialiseEvent(*event);
        const auto again = audit::parseEvent(line);
        if (!again || audit::serialiseEvent(*again) != line) {
            std::abort();
        }
    }
    return 0;
}
