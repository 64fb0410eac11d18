// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/crypto/ed25519.h"

/// A key that is read must be written as one key, and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = base::asText({data, size});
    if (const auto key = crypto::PublicKey::fromPem(text)) {
        const auto again = crypto::PublicKey::fromPem(key->toPem().value());
        if (!again || !(*again == *key)) {
            std::abort();
        }
    }
    if (const auto key = crypto::PrivateKey::fromPem(text)) {
        const auto again = crypto::PrivateKey::fromPem(key->toPem().value());
        if (!again || !(again->publicKey().value() == key->publicKey().value())) {
            std::abort();
        }
    }
    return 0;
}
