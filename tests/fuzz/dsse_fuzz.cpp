// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/crypto/dsse.h"
#include "core/crypto/statement.h"

/// An envelope that parses must survive its own serialiser unchanged; so must a statement inside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = base::asText({data, size});
    if (const auto envelope = crypto::parseEnvelope(text)) {
        const auto again = crypto::parseEnvelope(crypto::serialiseEnvelope(*envelope));
        if (!again || again->payload != envelope->payload || again->payloadType != envelope->payloadType) {
            std::abort();
        }
    }
    if (const auto statement = crypto::parseStatement(text)) {
        const auto again = crypto::parseStatement(crypto::serialiseStatement(*statement).value());
        if (!again || !(*again == *statement)) {
            std::abort();
        }
    }
    return 0;
}
