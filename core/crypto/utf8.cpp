// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/utf8.h"

#include <cstdint>

namespace assay::crypto {

bool isUtf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        // 0xc0 and 0xc1 could only start over-long forms, 0xf5 and above only values beyond U+10FFFF.
        const std::size_t extra = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
        if (extra == 0 || text.size() - i <= extra) {
            return false;
        }
        std::uint32_t value = lead & (0x3fu >> extra);
        for (std::size_t k = 1; k <= extra; ++k) {
            const auto next = static_cast<std::uint8_t>(text[i + k]);
            if ((next & 0xc0) != 0x80) {
                return false;
            }
            value = (value << 6) | (next & 0x3fu);
        }
        const bool overLong = (extra == 2 && value < 0x800) || (extra == 3 && value < 0x10000);
        const bool surrogate = value >= 0xd800 && value <= 0xdfff;
        if (overLong || surrogate || value > 0x10ffff) {
            return false;
        }
        i += extra + 1;
    }
    return true;
}

} // namespace assay::crypto
