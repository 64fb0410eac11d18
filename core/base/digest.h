// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace assay::base {

/// A SHA-256 value. Never truncated except for display.
struct Digest {
    std::array<std::uint8_t, 32> bytes{};

    auto operator<=>(const Digest&) const = default;
    [[nodiscard]] std::string toHex() const { return base::toHex(bytes); }
    [[nodiscard]] std::string shortHex() const { return toHex().substr(0, 12); } ///< for screens only
    [[nodiscard]] ByteView view() const { return bytes; }
    /// Exactly 64 hex digits.
    [[nodiscard]] static Result<Digest> fromHex(std::string_view text);
    /// Exactly 32 bytes.
    [[nodiscard]] static Result<Digest> fromBytes(ByteView view);
};

} // namespace assay::base
