// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/submission.h"

/// Manifest, commitment and statement: what parses has exactly the bytes that its serialiser makes; paths stay inside.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const base::ByteView bytes(data, size);
    const auto text = base::asText(bytes);
    if (const auto manifest = format::parseManifest(bytes)) {
        if (format::serialiseManifest(*manifest) != text) {
            std::abort();
        }
        for (const auto& file : manifest->files) {
            if (manifest->find(file.name) != &file || file.name.empty() || file.name.front() == '/' ||
                ("/" + file.name + "/").find("/../") != std::string::npos) {
                std::abort();
            }
        }
    }
    if (const auto commitment = format::parseCommitment(bytes);
        commitment && format::serialiseCommitment(*commitment) != text) {
        std::abort();
    }
    if (const auto attestation = format::parseStatement(bytes)) {
        const auto again = format::parseStatement(base::asBytes(format::statementText(*attestation).value()));
        if (!again || !(*again == *attestation)) {
            std::abort();
        }
    }
    return 0;
}
