// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/self_test.h"

#include <fmt/format.h>

#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/crypto/sha256.h"

namespace assay::crypto {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<void> expect(bool holds, std::string_view what) {
    if (!holds) {
        return fail(ErrorCode::environment,
                    fmt::format("self test failed: {} gives a wrong answer on this machine", what),
                    "reinstall the package libssl3");
    }
    return {};
}

} // namespace

Result<void> selfTest() {
    // FIPS 180-4 examples ("abc", two blocks) and the empty message.
    const std::pair<std::string_view, std::string_view> hashes[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (const auto& [message, digest] : hashes) {
        ASSAY_CHECK(expect(sha256(base::asBytes(message)).toHex() == digest, "SHA-256"));
    }
    // RFC 8032 section 7.1, TEST 2.
    ASSAY_TRY(seed, base::fromHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
    ASSAY_TRY(key, PrivateKey::fromSeed(seed));
    ASSAY_TRY(publicKey, key.publicKey());
    ASSAY_CHECK(
        expect(publicKey.toHex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "Ed25519"));
    const base::ByteVector message{0x72};
    ASSAY_TRY(signature, key.sign(message));
    ASSAY_CHECK(expect(base::toHex(signature) == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                                                 "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
                       "Ed25519 signing"));
    ASSAY_CHECK(expect(publicKey.verify(message, signature) == SignatureCheck::valid, "Ed25519 verification"));
    signature[7] ^= 1;
    ASSAY_CHECK(expect(publicKey.verify(message, signature) == SignatureCheck::invalid, "Ed25519 refusal"));
    const auto encoded = preAuthEncoding("http://example.com/HelloWorld", base::asBytes("hello world"));
    return expect(base::asText(encoded) == "DSSEv1 29 http://example.com/HelloWorld 11 hello world", "DSSE encoding");
}

} // namespace assay::crypto
