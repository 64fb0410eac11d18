// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/order.h"

/// An order that parses has exactly the bytes that its serialiser makes, and its batches are in range.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto order = format::parseOrder({data, size});
    if (!order) {
        return 0;
    }
    const auto text = format::serialiseOrder(*order);
    if (!text || *text != base::asText({data, size}) || !format::describeDifferences(*order, *order).empty()) {
        std::abort();
    }
    if (order->loop.batch <= 4096) {
        for (const auto step : {std::uint64_t{1}, order->loop.steps}) {
            for (const auto index : format::batchIndices(*order, step)) {
                if (index >= order->data.samples) {
                    std::abort();
                }
            }
        }
    }
    return 0;
}
