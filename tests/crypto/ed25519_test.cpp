// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/ed25519.h"

#include <cstdlib>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "core/base/process.h"

namespace assay::crypto {
namespace {

TEST(Ed25519, Rfc8032Vectors) {
    struct Vector {
        const char *seed, *publicKey, *message, *signature;
    };
    // RFC 8032 section 7.1, TEST 1 to 3.
    const Vector vectors[] = {
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
        {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"}};
    for (const auto& vector : vectors) {
        const auto key = PrivateKey::fromSeed(base::fromHex(vector.seed).value()).value();
        const auto publicKey = key.publicKey().value();
        const auto message = base::fromHex(vector.message).value();
        EXPECT_EQ(publicKey.toHex(), vector.publicKey);
        EXPECT_EQ(base::toHex(key.sign(message).value()), vector.signature);
        EXPECT_EQ(publicKey.verify(message, base::fromHex(vector.signature).value()), SignatureCheck::valid);
    }
}

TEST(Ed25519, EveryFlippedBitOfASignatureFails) {
    const auto key = PrivateKey::generate().value();
    const auto publicKey = key.publicKey().value();
    auto signature = key.sign(base::asBytes("message")).value();
    for (std::size_t bit = 0; bit < 512; ++bit) {
        signature[bit / 8] = static_cast<std::uint8_t>(signature[bit / 8] ^ (1u << (bit % 8)));
        ASSERT_EQ(publicKey.verify(base::asBytes("message"), signature), SignatureCheck::invalid) << bit;
        signature[bit / 8] = static_cast<std::uint8_t>(signature[bit / 8] ^ (1u << (bit % 8)));
    }
    EXPECT_EQ(publicKey.verify(base::asBytes("massage"), signature), SignatureCheck::invalid);
    EXPECT_EQ(publicKey.verify(base::asBytes("message"), {}), SignatureCheck::invalid);
    EXPECT_EQ(publicKey.verify(base::asBytes("message"), base::ByteView(signature).first(63)), SignatureCheck::invalid);
}

TEST(Ed25519, KeyFiles) {
    const auto folder = base::TemporaryFolder::create().value();
    const auto key = PrivateKey::generate().value();
    const auto path = folder.path() / "key.pem";
    ASSERT_TRUE(writePrivateKey(path, key));
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(writePrivateKey(path, key).error().code, base::ErrorCode::usage);
    EXPECT_EQ(readPrivateKey(path).value().publicKey().value(), key.publicKey().value());
    EXPECT_EQ(readPublicKey(path).value(), key.publicKey().value());
    const auto pem = key.publicKey().value().toPem().value();
    EXPECT_EQ(PublicKey::fromPem(pem).value(), key.publicKey().value());
    EXPECT_EQ(readPrivateKey(folder.path() / "none").error().code, base::ErrorCode::unreadable);
    for (const char* bad : {"", "garbage", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
        EXPECT_EQ(PrivateKey::fromPem(bad).error().code, base::ErrorCode::malformed);
        EXPECT_EQ(PublicKey::fromPem(bad).error().code, base::ErrorCode::malformed);
    }
    EXPECT_FALSE(PublicKey::fromBytes(base::ByteVector(31)));
    EXPECT_FALSE(PrivateKey::fromSeed(base::ByteVector(33)));
}

int shell(const std::string& command) {
    base::ProcessRequest request;
    request.arguments = {"/bin/sh", "-c", command};
    request.inheritStderr = false;
    return base::runProcess(request).value().exitCode;
}

TEST(Ed25519, AgreesWithTheOpensslCommandLine) {
    if (shell("command -v openssl >/dev/null") != 0) {
        GTEST_SKIP() << "the openssl command line is not installed";
    }
    const auto folder = base::TemporaryFolder::create().value();
    const auto dir = folder.path().string();
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "message", std::string_view("to be signed")));
    // Ours there.
    const auto key = PrivateKey::generate().value();
    ASSERT_TRUE(writePrivateKey(folder.path() / "ours.pem", key));
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "ours.pub", key.publicKey().value().toPem().value()));
    const auto signature = key.sign(base::asBytes("to be signed")).value();
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "ours.sig", base::ByteView(signature)));
    const auto verify = "cd " + dir + " && openssl pkeyutl -verify -pubin -inkey ours.pub -rawin -in message -sigfile ours.sig";
    EXPECT_EQ(shell(verify), 0);
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "message", std::string_view("to be signeD")));
    EXPECT_NE(shell(verify), 0);
    // Theirs here.
    ASSERT_EQ(shell("cd " + dir + " && openssl genpkey -algorithm ed25519 -out theirs.pem && openssl pkey -in theirs.pem -pubout "
                    "-out theirs.pub && openssl pkeyutl -sign -inkey theirs.pem -rawin -in message -out theirs.sig"),
              0);
    const auto theirs = readPublicKey(folder.path() / "theirs.pub").value();
    EXPECT_EQ(theirs, readPublicKey(folder.path() / "theirs.pem").value());
    const auto theirSignature = base::readFile(folder.path() / "theirs.sig", 1000).value();
    EXPECT_EQ(theirs.verify(base::asBytes("to be signeD"), theirSignature), SignatureCheck::valid);
    EXPECT_EQ(theirs.verify(base::asBytes("to be signed"), theirSignature), SignatureCheck::invalid);
}

} // namespace
} // namespace assay::crypto
