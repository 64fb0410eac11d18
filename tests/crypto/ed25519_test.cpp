// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/ed25519.h"

#include <filesystem>
#include <iterator>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "core/base/process.h"

namespace assay::crypto {
namespace {

TEST(Ed25519, Rfc8032Vectors) {
    struct Vector {
        const char *seed, *publicKey, *message, *signature;
    };
    // RFC 8032 section 7.1, TEST 1 to 3 and TEST SHA(abc).
    const Vector vectors[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                               "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                               "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e397"
                               "01cf9b46bd25bf5f0595bbe24655141438e7a100b"},
                              {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                               "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                               "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f361"
                               "3d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
                              {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                               "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                               "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f76"
                               "0984dc6594a7c15e9716ed28dc027beceea1ec40a"},
                              {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
                               "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
                               "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c2"
                               "3a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                               "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c"
                               "66431e0303dca179c138ac17ad9bef1177331a704"}};
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

TEST(Ed25519, EveryFlippedBitOfAKeyOrMessageFails) {
    const auto key = PrivateKey::generate().value();
    const auto raw = key.publicKey().value().bytes();
    base::ByteVector message{1, 2, 3, 4, 5, 6, 7, 8};
    const auto signature = key.sign(message).value();
    for (std::size_t bit = 0; bit < 256; ++bit) {
        auto changed = raw;
        changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1u << (bit % 8)));
        if (const auto other = PublicKey::fromBytes(changed)) {
            ASSERT_EQ(other->verify(message, signature), SignatureCheck::invalid) << bit;
        }
    }
    for (std::size_t bit = 0; bit < 64; ++bit) {
        auto changed = message;
        changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1u << (bit % 8)));
        ASSERT_EQ(key.publicKey().value().verify(changed, signature), SignatureCheck::invalid) << bit;
    }
}

TEST(Ed25519, NothingIsGoodByDefault) {
    EXPECT_EQ(SignatureCheck{}, SignatureCheck::notChecked);
    // The all-zero key is a point of order 4: with R the neutral element and S = 0 about every fourth message would
    // verify.
    Signature forged{};
    forged[0] = 1;
    for (std::uint8_t i = 0; i < 64; ++i) {
        ASSERT_EQ(PublicKey{}.verify({&i, 1}, forged), SignatureCheck::invalid) << int{i};
    }
    EXPECT_FALSE(PrivateKey{}.sign({}));
    EXPECT_FALSE(PrivateKey{}.publicKey());
    EXPECT_FALSE(PrivateKey{}.toPem());
}

TEST(Ed25519, KeysOfSmallOrderAreRefused) {
    // The points of order 1, 2, 4 and 8, and the encodings of 0 and 1 that are not reduced; each with both signs.
    const char* const points[] = {"0100000000000000000000000000000000000000000000000000000000000000",
                                  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                                  "0000000000000000000000000000000000000000000000000000000000000000",
                                  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                                  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
                                  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                                  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};
    for (const char* point : points) {
        auto raw = base::fromHex(point).value();
        EXPECT_FALSE(PublicKey::fromBytes(raw)) << point;
        raw[31] |= 0x80;
        EXPECT_FALSE(PublicKey::fromBytes(raw)) << point;
    }
}

TEST(Ed25519, ASignatureCannotBeChangedIntoAnother) {
    // S plus the order of the group satisfies the same equation; RFC 8032 demands S < L.
    const auto order = base::fromHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").value();
    const auto key = PrivateKey::generate().value();
    auto signature = key.sign(base::asBytes("message")).value();
    unsigned carry = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        carry += static_cast<unsigned>(signature[32 + i]) + order[i];
        signature[32 + i] = static_cast<std::uint8_t>(carry);
        carry >>= 8;
    }
    ASSERT_EQ(carry, 0u);
    EXPECT_EQ(key.publicKey().value().verify(base::asBytes("message"), signature), SignatureCheck::invalid);
}

TEST(Ed25519, KeyFiles) {
    const auto folder = base::TemporaryFolder::create().value();
    const auto key = PrivateKey::generate().value();
    const auto path = folder.path() / "key.pem";
    ASSERT_TRUE(writePrivateKey(path, key));
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(std::distance(base::fs::directory_iterator(folder.path()), {}), 1); // no temporary file left
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
    // Two keys in one file, and a file without end.
    EXPECT_EQ(PublicKey::fromPem(pem + pem).error().code, base::ErrorCode::malformed);
    EXPECT_EQ(PrivateKey::fromPem(key.toPem().value() + pem).error().code, base::ErrorCode::malformed);
    EXPECT_EQ(PublicKey::fromPem(pem + std::string(64 << 10, '\n')).error().code, base::ErrorCode::malformed);
    EXPECT_FALSE(PublicKey::fromBytes(base::ByteVector(31)));
    EXPECT_FALSE(PrivateKey::fromSeed(base::ByteVector(33)));
}

TEST(Ed25519, AKeyFileIsPrivateWhateverTheMaskAndNeverHalfWritten) {
    const auto folder = base::TemporaryFolder::create().value();
    const auto key = PrivateKey::generate().value();
    const auto old = ::umask(0);
    const auto written = writePrivateKey(folder.path() / "open.pem", key);
    ::umask(old);
    ASSERT_TRUE(written);
    struct stat info {};
    ASSERT_EQ(::stat((folder.path() / "open.pem").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    // An existing file stays as it is, and nothing else appears.
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "taken", std::string_view("mine")));
    EXPECT_EQ(writePrivateKey(folder.path() / "taken", key).error().code, base::ErrorCode::usage);
    EXPECT_EQ(base::readTextFile(folder.path() / "taken", 100).value(), "mine");
    EXPECT_EQ(std::distance(base::fs::directory_iterator(folder.path()), {}), 2);
    const auto nowhere = writePrivateKey(folder.path() / "no" / "such" / "folder.pem", key);
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().toString().find("folder.pem"), std::string::npos);
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
    const auto verify =
        "cd " + dir + " && openssl pkeyutl -verify -pubin -inkey ours.pub -rawin -in message -sigfile ours.sig";
    EXPECT_EQ(shell(verify), 0);
    ASSERT_TRUE(base::writeFileAtomic(folder.path() / "message", std::string_view("to be signeD")));
    EXPECT_NE(shell(verify), 0);
    // Theirs here.
    ASSERT_EQ(shell("cd " + dir +
                    " && openssl genpkey -algorithm ed25519 -out theirs.pem && openssl pkey -in theirs.pem -pubout "
                    "-out theirs.pub && openssl pkeyutl -sign -inkey theirs.pem -rawin -in message -out theirs.sig"),
              0);
    const auto theirs = readPublicKey(folder.path() / "theirs.pub").value();
    EXPECT_EQ(theirs, readPublicKey(folder.path() / "theirs.pem").value());
    const auto theirSignature = base::readFile(folder.path() / "theirs.sig", 1000).value();
    EXPECT_EQ(theirs.verify(base::asBytes("to be signeD"), theirSignature), SignatureCheck::valid);
    EXPECT_EQ(theirs.verify(base::asBytes("to be signed"), theirSignature), SignatureCheck::invalid);
}

TEST(Ed25519, WritesKeysAsOpensslWritesThem) {
    if (shell("command -v openssl >/dev/null") != 0) {
        GTEST_SKIP() << "the openssl command line is not installed";
    }
    const auto folder = base::TemporaryFolder::create().value();
    const auto key = PrivateKey::generate().value();
    ASSERT_TRUE(writePrivateKey(folder.path() / "key.pem", key));
    ASSERT_EQ(shell("cd " + folder.path().string() +
                    " && openssl pkey -in key.pem -out again.pem && openssl pkey -in key.pem -pubout -out pub"),
              0);
    EXPECT_EQ(base::readTextFile(folder.path() / "again.pem", 10000).value(), key.toPem().value());
    EXPECT_EQ(base::readTextFile(folder.path() / "pub", 10000).value(), key.publicKey().value().toPem().value());
}

TEST(Ed25519, OtherKindsOfKeysAreRefused) {
    if (shell("command -v openssl >/dev/null") != 0) {
        GTEST_SKIP() << "the openssl command line is not installed";
    }
    const auto folder = base::TemporaryFolder::create().value();
    for (const char* kind :
         {"-algorithm x25519", "-algorithm ed448", "-algorithm ec -pkeyopt ec_paramgen_curve:P-256",
          "-algorithm ed25519 -aes256 -pass pass:x"}) { // the last one must not ask for a pass phrase either
        const auto command = std::string("openssl genpkey ") + kind +
                             " -out key.pem && openssl pkey -in key.pem -passin pass:x -pubout -out key.pub";
        ASSERT_EQ(shell("cd " + folder.path().string() + " && rm -f key.pem && " + command + " 2>/dev/null"), 0)
            << kind;
        EXPECT_EQ(readPrivateKey(folder.path() / "key.pem").error().code, base::ErrorCode::malformed) << kind;
        if (std::string_view(kind).find("ed25519") == std::string_view::npos) {
            EXPECT_EQ(readPublicKey(folder.path() / "key.pub").error().code, base::ErrorCode::malformed) << kind;
        }
    }
}

} // namespace
} // namespace assay::crypto
