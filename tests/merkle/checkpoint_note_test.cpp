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

TEST(CheckpointNote, HostileTexts) {
    const auto body = checkpointBody(sample());
    EXPECT_TRUE(parseCheckpoint(body));
    const std::string bad[] = {"", "\n", "a\n1\n", "a\n01\n" + base::toBase64(Digest{}.bytes) + "\n", body + "x\n", body + "\n",
                               body + "\nno dash\n", body + "\n\xe2\x80\x94 name ====\n", body.substr(0, body.size() - 1),
                               "a\n-1\n" + base::toBase64(Digest{}.bytes) + "\n", std::string(100000, 'a')};
    for (const auto& text : bad) {
        EXPECT_FALSE(parseCheckpoint(text)) << text.substr(0, 60);
    }
    const auto key = PrivateKey::generate().value();
    EXPECT_FALSE(signCheckpoint(sample(), "two words", key));
    EXPECT_FALSE(signCheckpoint(sample(), "a+b", key));
}

} // namespace
} // namespace assay::merkle
