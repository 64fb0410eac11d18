// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "core/format/safetensors.h"

/// Tensors that parse tile the data, and survive our own writer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto file = format::Safetensors::parse({data, size});
    if (!file) {
        return 0;
    }
    std::uint64_t bytes = 0;
    unsigned sum = 0;
    for (const auto& tensor : file->tensors()) {
        bytes += tensor.bytes.size();
        sum = std::accumulate(tensor.bytes.begin(), tensor.bytes.end(), sum);
        if (file->find(tensor.name) != &tensor) {
            std::abort();
        }
    }
    const auto again = format::serialiseSafetensors(file->tensors());
    if (bytes > size || sum > 255 * size || !again) {
        std::abort();
    }
    const auto reread = format::Safetensors::parse(*again);
    if (!reread || reread->tensors().size() != file->tensors().size()) {
        std::abort();
    }
    return 0;
}
