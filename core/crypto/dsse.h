// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/crypto/ed25519.h"

/// DSSE, the Dead Simple Signing Envelope (github.com/secure-systems-lab/dsse, protocol v1.0).
namespace assay::crypto {

inline constexpr std::string_view kInTotoPayloadType = "application/vnd.in-toto+json";
inline constexpr std::uint64_t kMaxEnvelopeBytes = 16ull << 20;

/// Pre-authentication encoding: what is really signed, so that a payload cannot be reread under another type.
[[nodiscard]] base::ByteVector preAuthEncoding(std::string_view payloadType, base::ByteView payload);

struct EnvelopeSignature {
    std::string keyId;
    base::ByteVector signature;
};

struct Envelope {
    std::string payloadType;
    base::ByteVector payload;
    std::vector<EnvelopeSignature> signatures;
};

/// Adds a signature by `key` over the envelope's payload. `usage` if the payload type is not UTF-8 text of at most 256
/// bytes or the envelope has 64 signatures already.
[[nodiscard]] base::Result<void> signEnvelope(Envelope& envelope, const PrivateKey& key);
/// valid if at least one signature verifies with `key`; notChecked if there are none; invalid otherwise. The key id in
/// the envelope is a hint only and is not trusted. The caller must still look at the payload type: a good signature may
/// be one over something else.
[[nodiscard]] SignatureCheck verifyEnvelope(const Envelope& envelope, const PublicKey& key);

[[nodiscard]] std::string serialiseEnvelope(const Envelope& envelope);
/// At most 16 MiB and 64 signatures; base64 with padding in either alphabet; the key id may be left out, as the
/// protocol says. Stricter than the protocol in one point: unknown members are refused, so that an envelope kept as
/// evidence carries no unsigned text. `malformed` with an offset where known.
[[nodiscard]] base::Result<Envelope> parseEnvelope(std::string_view json);

} // namespace assay::crypto
