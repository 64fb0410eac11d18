// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/merkle/checkpoint_note.h"

/// The parsed body must be exactly what the writer makes of the parsed checkpoint: what was signed is what is shown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (const auto note = merkle::parseCheckpoint(base::asText({data, size}))) {
        if (merkle::checkpointBody(note->checkpoint) != note->body) {
            std::abort();
        }
    }
    return 0;
}
