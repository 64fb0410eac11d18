// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/base/bytes.h"
#include "core/tensor/kernel_profile.h"

/// A profile that parses must have a canonical text that parses to the same profile.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    if (const auto profile = tensor::KernelProfile::parse(base::asText({data, size}))) {
        const auto again = tensor::KernelProfile::parse(profile->toString());
        if (!again || !(*again == *profile)) {
            std::abort();
        }
    }
    return 0;
}
