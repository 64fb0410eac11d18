// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::crypto {

/// Whether the text is well-formed UTF-8 (RFC 3629): shortest forms only, no surrogates, nothing above U+10FFFF. The
/// empty text is.
[[nodiscard]] bool isUtf8(std::string_view text);

} // namespace assay::crypto
