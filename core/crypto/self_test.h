// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/error.h"

namespace assay::crypto {

/// Known answers: SHA-256 of FIPS 180-4's examples, Ed25519 of RFC 8032 section 7.1 (signing, verifying, and refusing a
/// changed signature), the DSSE protocol's encoding example. `environment` if this machine's library gets one wrong.
/// Takes under a millisecond; programs call it before they trust a signature.
[[nodiscard]] base::Result<void> selfTest();

} // namespace assay::crypto
