// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/dsse.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/crypto/strict_json.h"

namespace assay::crypto {

using base::ErrorCode;
using base::fail;
using base::Result;
using nlohmann::json;

namespace {
constexpr std::size_t kMaxSignatures = 64;
constexpr std::size_t kMaxSignatureBytes = 4096;
} // namespace

base::ByteVector preAuthEncoding(std::string_view payloadType, base::ByteView payload) {
    base::ByteWriter writer;
    writer.putText(fmt::format("DSSEv1 {} {} {} ", payloadType.size(), payloadType, payload.size()));
    writer.putBytes(payload);
    return writer.take();
}

Result<void> signEnvelope(Envelope& envelope, const PrivateKey& key) {
    ASSAY_TRY(publicKey, key.publicKey());
    ASSAY_TRY(signature, key.sign(preAuthEncoding(envelope.payloadType, envelope.payload)));
    envelope.signatures.push_back({publicKey.keyId(), base::ByteVector(signature.begin(), signature.end())});
    return {};
}

SignatureCheck verifyEnvelope(const Envelope& envelope, const PublicKey& key) {
    if (envelope.signatures.empty()) {
        return SignatureCheck::notChecked;
    }
    const auto message = preAuthEncoding(envelope.payloadType, envelope.payload);
    for (const auto& signature : envelope.signatures) {
        if (key.verify(message, signature.signature) == SignatureCheck::valid) {
            return SignatureCheck::valid;
        }
    }
    return SignatureCheck::invalid;
}

std::string serialiseEnvelope(const Envelope& envelope) {
    json signatures = json::array();
    for (const auto& signature : envelope.signatures) {
        signatures.push_back({{"keyid", signature.keyId}, {"sig", base::toBase64(signature.signature)}});
    }
    const json object = {
        {"payload", base::toBase64(envelope.payload)}, {"payloadType", envelope.payloadType}, {"signatures", signatures}};
    return object.dump() + "\n";
}

Result<Envelope> parseEnvelope(std::string_view text) {
    ASSAY_TRY(object, parseStrictJson(text, kMaxEnvelopeBytes));
    ASSAY_CHECK(expectMembers(object, {"payload", "payloadType", "signatures"}, "envelope"));
    Envelope envelope;
    ASSAY_TRY(type, stringMember(object, "payloadType", 256));
    envelope.payloadType = type;
    ASSAY_TRY(payload, stringMember(object, "payload", kMaxEnvelopeBytes));
    ASSAY_TRY(bytes, base::fromBase64(payload));
    envelope.payload = std::move(bytes);
    const auto& signatures = object["signatures"];
    if (!signatures.is_array() || signatures.size() > kMaxSignatures) {
        return fail(ErrorCode::malformed, fmt::format("envelope: expected at most {} signatures in an array", kMaxSignatures));
    }
    for (const auto& item : signatures) {
        ASSAY_CHECK(expectMembers(item, {"keyid", "sig"}, "signature"));
        EnvelopeSignature signature;
        ASSAY_TRY(keyId, stringMember(item, "keyid", 256));
        signature.keyId = keyId;
        ASSAY_TRY(coded, stringMember(item, "sig", kMaxSignatureBytes));
        ASSAY_TRY(raw, base::fromBase64(coded));
        signature.signature = std::move(raw);
        envelope.signatures.push_back(std::move(signature));
    }
    return envelope;
}

} // namespace assay::crypto
