// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::base {

Result<Digest> Digest::fromHex(std::string_view text) {
    if (text.size() != 64) {
        return fail(ErrorCode::malformed, fmt::format("expected a digest of 64 hex digits, found {}", text.size()));
    }
    ASSAY_TRY(bytes, base::fromHex(text));
    return fromBytes(bytes);
}

Result<Digest> Digest::fromBytes(ByteView view) {
    Digest digest;
    if (view.size() != digest.bytes.size()) {
        return fail(ErrorCode::malformed, fmt::format("expected a digest of 32 bytes, found {}", view.size()));
    }
    std::copy(view.begin(), view.end(), digest.bytes.begin());
    return digest;
}

} // namespace assay::base
