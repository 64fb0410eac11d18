// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/dsse.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/crypto/strict_json.h"
#include "core/crypto/utf8.h"

namespace assay::crypto {

using base::ErrorCode;
using base::fail;
using base::Result;
using nlohmann::json;

namespace {
constexpr std::size_t kMaxSignatures = 64;
constexpr std::size_t kMaxSignatureText = 4096;
constexpr std::size_t kMaxTypeBytes = 256;

/// The protocol lets signers use the standard or the URL-safe alphabet; one text must keep to one of them.
Result<base::ByteVector> decode(std::string text, std::string_view what) {
    if (text.find_first_of("-_") != std::string::npos) {
        if (text.find_first_of("+/") != std::string::npos) {
            return fail(ErrorCode::malformed, fmt::format("{}: two base64 alphabets in one text", what));
        }
        std::replace(text.begin(), text.end(), '-', '+');
        std::replace(text.begin(), text.end(), '_', '/');
    }
    auto bytes = base::fromBase64(text);
    if (!bytes) { // its offset counts from the start of this member, which would mislead
        return fail(ErrorCode::malformed, fmt::format("{}: {}", what, bytes.error().message));
    }
    return bytes;
}
} // namespace

base::ByteVector preAuthEncoding(std::string_view payloadType, base::ByteView payload) {
    base::ByteWriter writer;
    writer.putText(fmt::format("DSSEv1 {} {} {} ", payloadType.size(), payloadType, payload.size()));
    writer.putBytes(payload);
    return writer.take();
}

Result<void> signEnvelope(Envelope& envelope, const PrivateKey& key) {
    if (envelope.payloadType.size() > kMaxTypeBytes || !isUtf8(envelope.payloadType)) {
        return fail(ErrorCode::usage, fmt::format("a payload type is UTF-8 text of at most {} bytes", kMaxTypeBytes));
    }
    if (envelope.signatures.size() >= kMaxSignatures) {
        return fail(ErrorCode::usage, fmt::format("an envelope takes at most {} signatures", kMaxSignatures));
    }
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
    const json object = {{"payload", base::toBase64(envelope.payload)},
                         {"payloadType", envelope.payloadType},
                         {"signatures", signatures}};
    // Text that is not UTF-8 cannot get here through signEnvelope or parseEnvelope; replaced, it would no longer
    // verify.
    return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Envelope> parseEnvelope(std::string_view text) {
    ASSAY_TRY(object, parseStrictJson(text, kMaxEnvelopeBytes));
    ASSAY_CHECK(expectMembers(object, {"payload", "payloadType", "signatures"}, "envelope"));
    Envelope envelope;
    ASSAY_TRY(type, stringMember(object, "payloadType", kMaxTypeBytes));
    envelope.payloadType = type;
    ASSAY_TRY(payload, stringMember(object, "payload", kMaxEnvelopeBytes));
    ASSAY_TRY(bytes, decode(std::move(payload), "payload"));
    envelope.payload = std::move(bytes);
    const auto& signatures = object["signatures"];
    if (!signatures.is_array() || signatures.size() > kMaxSignatures) {
        return fail(ErrorCode::malformed,
                    fmt::format("envelope: expected at most {} signatures in an array", kMaxSignatures));
    }
    for (const auto& item : signatures) {
        EnvelopeSignature signature;
        if (item.is_object() && !item.contains("keyid")) { // optional in the protocol, and a hint anyway
            ASSAY_CHECK(expectMembers(item, {"sig"}, "signature"));
        } else {
            ASSAY_CHECK(expectMembers(item, {"keyid", "sig"}, "signature"));
            ASSAY_TRY(keyId, stringMember(item, "keyid", 256));
            signature.keyId = keyId;
        }
        ASSAY_TRY(coded, stringMember(item, "sig", kMaxSignatureText));
        ASSAY_TRY(raw, decode(std::move(coded), "signature"));
        signature.signature = std::move(raw);
        envelope.signatures.push_back(std::move(signature));
    }
    return envelope;
}

} // namespace assay::crypto
