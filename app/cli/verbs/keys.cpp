// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/cli/input.h"
#include "app/cli/json_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/crypto/self_test.h"
#include "core/format/submission.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::uint64_t kMaxSigned = 1ULL << 30;

struct KeygenOptions {
    std::string out;
    std::string publicOut;
};

Result<int> runKeygen(Session& session, const KeygenOptions& options) {
    ASSAY_CHECK(crypto::selfTest());
    ASSAY_CHECK(refuseExisting(options.out));
    if (!options.publicOut.empty()) {
        ASSAY_CHECK(refuseExisting(options.publicOut));
    }
    ASSAY_TRY(key, crypto::PrivateKey::generate());
    ASSAY_TRY(publicKey, key.publicKey());
    ASSAY_CHECK(crypto::writePrivateKey(options.out, key));
    if (!options.publicOut.empty()) {
        ASSAY_TRY(pem, publicKey.toPem());
        ASSAY_CHECK(base::writeFileAtomic(options.publicOut, pem));
    }
    if (session.json) {
        JsonObject json("assay.key");
        json.add("private_file", options.out).add("public_key", publicKey.toHex()).add("key_id", publicKey.keyId());
        session.console.printLine(json.text());
        return 0;
    }
    session.console.print(alignColumns({{"private key", options.out + " (keep it secret; only you can read it)"},
                                        {"public key", publicKey.toHex()},
                                        {"key id", publicKey.keyId()}},
                                       ""));
    return 0;
}

struct SignOptions {
    std::string file;
    std::string key;
    std::string type = "application/octet-stream";
    std::string out;
    bool raw = false;
};

/// The envelope file of a submission folder, if `path` is one.
std::optional<fs::path> envelopeOf(const std::string& path) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
        return fs::path(path) / format::kAttestationName;
    }
    return std::nullopt;
}

Result<crypto::Envelope> readEnvelope(const std::string& file) {
    ASSAY_TRY(text, readInput(file, crypto::kMaxEnvelopeBytes));
    auto envelope = crypto::parseEnvelope(text);
    if (!envelope) {
        return fail(std::move(envelope).error().inFile(file));
    }
    return envelope;
}

Result<int> runSign(Session& session, const SignOptions& options) {
    ASSAY_CHECK(crypto::selfTest());
    ASSAY_TRY(key, crypto::readPrivateKey(options.key));
    ASSAY_TRY(publicKey, key.publicKey());
    const auto attestation = envelopeOf(options.file);
    crypto::Envelope envelope;
    if (attestation) {
        if (options.raw || !options.out.empty()) {
            return fail(ErrorCode::usage, "a submission is signed in place: --raw and --out make no sense here",
                        "leave them out");
        }
        ASSAY_TRY(present, readEnvelope(attestation->string()));
        envelope = std::move(present);
        if (crypto::verifyEnvelope(envelope, publicKey) == crypto::SignatureCheck::valid) {
            session.console.note("this key has signed the submission already");
            return 0;
        }
    } else {
        ASSAY_TRY(text, readInput(options.file, kMaxSigned));
        const auto bytes = base::asBytes(text);
        if (options.raw) {
            ASSAY_TRY(signature, key.sign(bytes));
            if (options.out.empty()) {
                session.console.printLine(base::toHex(signature));
                return 0;
            }
            ASSAY_CHECK(refuseExisting(options.out));
            ASSAY_CHECK(base::writeFileAtomic(options.out, base::ByteView(signature)));
            return 0;
        }
        envelope.payloadType = options.type;
        envelope.payload.assign(bytes.begin(), bytes.end());
    }
    ASSAY_CHECK(crypto::signEnvelope(envelope, key));
    const auto text = crypto::serialiseEnvelope(envelope);
    if (attestation) {
        ASSAY_CHECK(base::writeFileAtomic(*attestation, text));
        session.console.note(fmt::format("signed {} with key {}", options.file, publicKey.keyId()));
    } else if (options.out.empty()) {
        session.console.print(text.ends_with('\n') ? text : text + "\n");
    } else {
        ASSAY_CHECK(refuseExisting(options.out));
        ASSAY_CHECK(base::writeFileAtomic(options.out, text));
    }
    return 0;
}

struct VerifyOptions {
    std::string file;
    std::string key;
    std::string signature;
    std::string pae;
    std::string signatureOut;
};

int report(Session& session, bool valid, std::string_view what, const crypto::PublicKey& key,
           const std::string& payloadType) {
    if (session.json) {
        JsonObject json("assay.signature");
        json.add("valid", valid).add("reason", what).add("key_id", key.keyId()).add("public_key", key.toHex());
        payloadType.empty() ? json.raw("payload_type", "null") : json.add("payload_type", payloadType);
        session.console.printLine(json.text());
    } else {
        const auto word =
            valid ? session.console.toned(Tone::good, "valid:") : session.console.toned(Tone::bad, "invalid:");
        session.console.printLine(fmt::format("{} {} (key {})", word, what, key.keyId()));
    }
    return valid ? 0 : 1;
}

/// 64 raw bytes, or their hex digits.
Result<crypto::Signature> readSignature(const std::string& file) {
    ASSAY_TRY(bytes, base::readFile(file, 4096));
    crypto::Signature signature{};
    if (bytes.size() != signature.size()) {
        std::string text(base::asText(bytes));
        text.erase(text.find_last_not_of(" \r\n\t") + 1);
        auto decoded = base::fromHex(text);
        if (!decoded || decoded->size() != signature.size()) {
            return fail(
                Error{ErrorCode::malformed, "neither 64 bytes nor 128 hex digits, as an Ed25519 signature must be",
                      file, std::nullopt, "openssl pkeyutl -sign -rawin -inkey KEY -in FILE -out SIGNATURE makes one"});
        }
        bytes = std::move(*decoded);
    }
    std::copy(bytes.begin(), bytes.end(), signature.begin());
    return signature;
}

Result<int> runVerify(Session& session, const VerifyOptions& options) {
    ASSAY_CHECK(crypto::selfTest());
    ASSAY_TRY(key, crypto::readPublicKey(options.key));
    if (!options.signature.empty()) {
        if (!options.pae.empty() || !options.signatureOut.empty()) {
            return fail(ErrorCode::usage, "--pae and --signature-out belong to envelopes, --signature to plain files",
                        "use one or the other");
        }
        ASSAY_TRY(text, readInput(options.file, kMaxSigned));
        ASSAY_TRY(signature, readSignature(options.signature));
        const bool valid = key.verify(base::asBytes(text), signature) == crypto::SignatureCheck::valid;
        return report(session, valid,
                      valid ? "the signature is over this file"
                            : "the signature is not over this file, or not by this key",
                      key, {});
    }
    const auto attestation = envelopeOf(options.file);
    ASSAY_TRY(envelope, readEnvelope(attestation ? attestation->string() : options.file));
    if (!options.pae.empty()) {
        ASSAY_CHECK(
            base::writeFileAtomic(options.pae, crypto::preAuthEncoding(envelope.payloadType, envelope.payload)));
    }
    if (!options.signatureOut.empty()) {
        if (envelope.signatures.empty()) {
            return fail(
                Error{ErrorCode::notApplicable, "the envelope holds no signature", options.file, std::nullopt, {}});
        }
        const base::ByteVector* chosen = &envelope.signatures.front().signature;
        for (const auto& signature : envelope.signatures) {
            if (signature.keyId == key.keyId()) {
                chosen = &signature.signature;
            }
        }
        ASSAY_CHECK(base::writeFileAtomic(options.signatureOut, base::ByteView(*chosen)));
    }
    const auto check = crypto::verifyEnvelope(envelope, key);
    const bool valid = check == crypto::SignatureCheck::valid;
    return report(session, valid,
                  valid ? "the envelope is signed by this key"
                  : check == crypto::SignatureCheck::notChecked
                      ? "the envelope holds no signature"
                      : "no signature in the envelope is by this key over this payload",
                  key, envelope.payloadType);
}

} // namespace

void addKeys(VerbSpec& root, Session& session) {
    {
        auto& verb = root.verb("keygen", "Make an Ed25519 key pair for signing submissions");
        auto options = std::make_shared<KeygenOptions>();
        verb.path("--out", "FILE", "private key (PKCS#8 PEM, readable by you only)", options->out).needed();
        verb.path("--public-out", "FILE", "public key (PEM) for those who check", options->publicOut);
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runKeygen(s, *options); });
        verb.example("assay keygen --out trainer.pem --public-out trainer.pub", "openssl reads both files");
    }
    {
        auto& verb = root.verb("sign", "Sign a file as a DSSE envelope, or a submission in place");
        auto options = std::make_shared<SignOptions>();
        verb.argument("FILE", "file to sign, - for standard input, or the folder of a submission", options->file);
        verb.path("--key", "PEM", "private key", options->key).needed();
        verb.text("--type", "TYPE", "media type of the payload, signed with it", options->type)
            .byDefault(options->type);
        verb.path("--out", "FILE", "where the envelope goes", options->out).byDefault("standard output");
        verb.flag("--raw", "a plain Ed25519 signature over the file instead of an envelope", options->raw);
        verb.action([options](Session& s) { return runSign(s, *options); });
    }
    {
        auto& verb =
            root.verb("verify-sig", "Verify a DSSE envelope, a submission's attestation, or a plain signature");
        verb.about("Exit code 0 if the signature is valid, 1 if not. With --pae and --signature-out the openssl "
                   "command line can check "
                   "the same signature: openssl pkeyutl -verify -pubin -inkey PUB -rawin -in PAE -sigfile SIGNATURE");
        auto options = std::make_shared<VerifyOptions>();
        verb.argument("FILE", "envelope, folder of a submission, or with --signature any file", options->file);
        verb.path("--key", "PEM", "public key of the signer (the private one works too)", options->key).needed();
        verb.path("--signature", "FILE", "plain Ed25519 signature over FILE, 64 bytes or hex", options->signature);
        verb.path("--pae", "OUT", "write the bytes that were really signed", options->pae);
        verb.path("--signature-out", "OUT", "write the envelope's signature, 64 bytes", options->signatureOut);
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runVerify(s, *options); });
    }
}

} // namespace assay::cli
