// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/checkpoint_note.h"

#include <gtest/gtest.h>

namespace assay::merkle {
namespace {

using crypto::PrivateKey;
using crypto::SignatureCheck;

Checkpoint sample() {
    return {"assay/training/abc", TreeSize{21}, leafHash(base::asBytes("x"))};
}

TEST(CheckpointNote, SignParseVerify) {
    const auto key = PrivateKey::generate().value();
    const auto note = signCheckpoint(sample(), "trainer", key).value();
    const auto parsed = parseCheckpoint(note).value();
    EXPECT_EQ(parsed.checkpoint, sample());
    EXPECT_EQ(verifyCheckpoint(parsed, "trainer", key.publicKey().value()), SignatureCheck::valid);
    EXPECT_EQ(verifyCheckpoint(parsed, "other", key.publicKey().value()), SignatureCheck::notChecked);
    const auto stranger = PrivateKey::generate().value().publicKey().value();
    EXPECT_EQ(verifyCheckpoint(parsed, "trainer", stranger), SignatureCheck::notChecked);
}

TEST(CheckpointNote, EveryChangedByteIsRefusedOrUnverified) {
    const auto key = PrivateKey::generate().value();
    const auto publicKey = key.publicKey().value();
    const auto note = signCheckpoint(sample(), "trainer", key).value();
    for (std::size_t i = 0; i < note.size(); ++i) {
        auto changed = note;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        const auto parsed = parseCheckpoint(changed);
        if (parsed) {
            EXPECT_NE(verifyCheckpoint(*parsed, "trainer", publicKey), SignatureCheck::valid) << i;
        }
    }
}

// A checkpoint that sum.golang.org published, and its verifier key sum.golang.org+033de0ae+Ac4z..., as the tests of
// github.com/transparency-dev/formats list them (log/checkpoint_test.go).
TEST(CheckpointNote, APublishedOneVerifies) {
    const std::string text =
        "go.sum database tree\n6476701\nmb8QLQIs0Z0yP5Cstq6guj87oXWeC9gEM8oVikmm9Wk=\n\n\xe2\x80\x94 sum.golang.org "
        "Az3grsLX85Gz+s1SiTbgkuqxgItqFq7gsMUEyVnrsa9LM7Us9S+1xbFIGu95949rj4nPRYfvimWEPWL+o3GeoWwOoAw=\n";
    const auto typed = base::fromBase64("Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8").value(); // 0x01, then the key
    ASSERT_EQ(typed.at(0), 1);
    const auto key = crypto::PublicKey::fromBytes(base::ByteView(typed).subspan(1)).value();
    const auto note = parseCheckpoint(text).value();
    EXPECT_EQ(note.checkpoint.origin, "go.sum database tree");
    EXPECT_EQ(note.checkpoint.size.value, 6476701u);
    EXPECT_EQ(base::toHex(base::ByteView(note.signatures.at(0).bytes).first(4)), "033de0ae");
    EXPECT_EQ(verifyCheckpoint(note, "sum.golang.org", key), SignatureCheck::valid);
    auto changed = note;
    changed.body.replace(changed.body.find("6476701"), 7, "6476702");
    EXPECT_EQ(verifyCheckpoint(changed, "sum.golang.org", key), SignatureCheck::invalid);
}

/// The signature line of a note that signCheckpoint made.
std::string lineOf(const std::string& note) {
    return note.substr(note.find("\n\n") + 2);
}

TEST(CheckpointNote, LinesOfOthersAreIgnoredAndABadLineSpoilsTheNote) {
    const auto key = PrivateKey::generate().value();
    const auto publicKey = key.publicKey().value();
    const auto note = signCheckpoint(sample(), "trainer", key).value();
    const auto witness = lineOf(signCheckpoint(sample(), "witness", PrivateKey::generate().value()).value());
    auto other = sample();
    other.size.value = 22;
    const auto foreign = lineOf(signCheckpoint(other, "trainer", key).value()); // our key, but over another tree
    EXPECT_EQ(verifyCheckpoint(parseCheckpoint(note + witness).value(), "trainer", publicKey), SignatureCheck::valid);
    EXPECT_EQ(verifyCheckpoint(parseCheckpoint(checkpointBody(sample()) + "\n" + witness + lineOf(note)).value(),
                               "trainer", publicKey),
              SignatureCheck::valid);
    for (const auto& lines : {lineOf(note) + foreign, foreign + lineOf(note), foreign}) {
        EXPECT_EQ(
            verifyCheckpoint(parseCheckpoint(checkpointBody(sample()) + "\n" + lines).value(), "trainer", publicKey),
            SignatureCheck::invalid);
    }
    // Right name and key hash, but the signature is cut short or missing.
    for (std::size_t bytes = 0; bytes < 68; ++bytes) {
        auto parsed = parseCheckpoint(note).value();
        parsed.signatures[0].bytes.resize(bytes);
        EXPECT_NE(verifyCheckpoint(parsed, "trainer", publicKey), SignatureCheck::valid) << bytes;
    }
    EXPECT_EQ(verifyCheckpoint(parseCheckpoint(checkpointBody(sample())).value(), "trainer", publicKey),
              SignatureCheck::notChecked);
    std::string sixteen = checkpointBody(sample()) + "\n";
    for (int i = 0; i < 16; ++i) {
        sixteen += witness;
    }
    EXPECT_TRUE(parseCheckpoint(sixteen));
    EXPECT_FALSE(parseCheckpoint(sixteen + witness));
}

TEST(CheckpointNote, HostileTexts) {
    const auto body = checkpointBody(sample());
    EXPECT_TRUE(parseCheckpoint(body));
    const std::string bad[] = {"",
                               "\n",
                               "a\n1\n",
                               "a\n01\n" + base::toBase64(Digest{}.bytes) + "\n",
                               body + "x\n",
                               body + "\n",
                               body + "\nno dash\n",
                               body + "\n\xe2\x80\x94 name ====\n",
                               body.substr(0, body.size() - 1),
                               "\n1\n" + base::toBase64(Digest{}.bytes) + "\n",
                               "a\n18446744073709551616\n" + base::toBase64(Digest{}.bytes) + "\n",
                               "a\n+1\n" + base::toBase64(Digest{}.bytes) + "\n",
                               "a\n\n" + base::toBase64(Digest{}.bytes) + "\n",
                               "a\n1 \n" + base::toBase64(Digest{}.bytes) + "\n",
                               "a\n1\n" + base::toBase64(base::ByteView(Digest{}.bytes).first(31)) + "\n",
                               "\xff" + body,
                               body + std::string(1, '\0'),
                               body + "\n\xe2\x80\x94  AAAAAAAA\n",
                               body + "\n\xe2\x80\x94 a+b AAAAAAAA\n",
                               body + "\n\xe2\x80\x94 name AAAA\n",
                               body + "\n\xe2\x80\x94 name AAAAAAAA",
                               body + "\n\xe2\x80\x94 name AAAAAAAA\nmore\n",
                               "a\n-1\n" + base::toBase64(Digest{}.bytes) + "\n",
                               std::string(200000, 'a')};
    for (const auto& text : bad) {
        const auto parsed = parseCheckpoint(text);
        ASSERT_FALSE(parsed) << text.substr(0, 60);
        EXPECT_EQ(parsed.error().code, base::ErrorCode::malformed);
    }
    EXPECT_TRUE(parseCheckpoint("a\n18446744073709551615\n" + base::toBase64(Digest{}.bytes) + "\n"));
    EXPECT_TRUE(parseCheckpoint("a\n0\n" + base::toBase64(emptyRoot().bytes) + "\n"));
    EXPECT_TRUE(parseCheckpoint(body + "\n\xe2\x80\x94 name AAAAAAAA\n")); // of an unknown kind, ignored when verifying
    const auto key = PrivateKey::generate().value();
    EXPECT_FALSE(signCheckpoint(sample(), "two words", key));
    for (const char* name : {"", "a+b", "a\tb",
                             "a\xc2\xa0"
                             "b",
                             "a\xe2\x80\x83"
                             "b",
                             "a\xe3\x80\x80", "\xff", "a\nb"}) {
        EXPECT_FALSE(signCheckpoint(sample(), name, key)) << name;
    }
    for (const char* origin : {"", "two\nlines", "bell\a", "\xff"}) {
        auto checkpoint = sample();
        checkpoint.origin = origin;
        EXPECT_FALSE(signCheckpoint(checkpoint, "trainer", key)) << origin;
    }
    auto unicode = sample();
    unicode.origin = "pr\xc3\xbc"
                     "fung \xe2\x80\x94 eins";
    EXPECT_EQ(parseCheckpoint(signCheckpoint(unicode,
                                             "pr\xc3\xbc"
                                             "fer",
                                             key)
                                  .value())
                  .value()
                  .checkpoint,
              unicode);
}

} // namespace
} // namespace assay::merkle
