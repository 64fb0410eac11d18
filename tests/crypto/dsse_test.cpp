// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/dsse.h"

#include <gtest/gtest.h>

#include "core/crypto/statement.h"

namespace assay::crypto {
namespace {

Envelope signedEnvelope(const PrivateKey& key) {
    Envelope envelope;
    envelope.payloadType = kInTotoPayloadType;
    const auto text = base::asBytes("{\"a\":1}");
    envelope.payload.assign(text.begin(), text.end());
    EXPECT_TRUE(signEnvelope(envelope, key));
    return envelope;
}

TEST(Dsse, RoundTripAndCheck) {
    const auto key = PrivateKey::generate().value();
    const auto publicKey = key.publicKey().value();
    const auto envelope = parseEnvelope(serialiseEnvelope(signedEnvelope(key))).value();
    EXPECT_EQ(verifyEnvelope(envelope, publicKey), SignatureCheck::valid);
    EXPECT_EQ(envelope.signatures.at(0).keyId, publicKey.keyId());
    const auto stranger = PrivateKey::generate().value();
    EXPECT_EQ(verifyEnvelope(envelope, stranger.publicKey().value()), SignatureCheck::invalid);
    auto changed = envelope;
    changed.payloadType = "text/plain"; // the same payload under another type
    EXPECT_EQ(verifyEnvelope(changed, publicKey), SignatureCheck::invalid);
    changed = envelope;
    changed.payload[0] ^= 1;
    EXPECT_EQ(verifyEnvelope(changed, publicKey), SignatureCheck::invalid);
    changed = envelope;
    changed.signatures.clear();
    EXPECT_EQ(verifyEnvelope(changed, publicKey), SignatureCheck::notChecked);
    // A second signer does not disturb the first, whatever the order.
    changed = envelope;
    ASSERT_TRUE(signEnvelope(changed, stranger));
    std::swap(changed.signatures[0], changed.signatures[1]);
    EXPECT_EQ(verifyEnvelope(changed, publicKey), SignatureCheck::valid);
    EXPECT_EQ(verifyEnvelope(changed, stranger.publicKey().value()), SignatureCheck::valid);
}

TEST(Dsse, HostileEnvelopes) {
    const std::string good = serialiseEnvelope(signedEnvelope(PrivateKey::generate().value()));
    ASSERT_TRUE(parseEnvelope(good));
    std::string manySignatures = R"({"payload":"","payloadType":"x","signatures":[)";
    for (int i = 0; i < 65; ++i) {
        manySignatures += std::string(i > 0 ? "," : "") + R"({"keyid":"","sig":""})";
    }
    const std::string bad[] = {"",
                               "[]",
                               "{}",
                               good + "{}",
                               R"({"payload":"","payloadType":"x","signatures":[],"extra":1})",
                               R"({"payload":"","payload":"","payloadType":"x","signatures":[]})",
                               R"({"payload":"*","payloadType":"x","signatures":[]})",
                               R"({"payload":1,"payloadType":"x","signatures":[]})",
                               R"({"payload":"","payloadType":"x","signatures":{}})",
                               R"({"payload":"","payloadType":"x","signatures":[{"sig":""}]})",
                               manySignatures + "]}",
                               std::string(100000, '['),
                               R"({"payload":"","payloadType":"x","signatures":)" + std::string(40, '[') + std::string(40, ']') + "}"};
    for (const auto& text : bad) {
        const auto parsed = parseEnvelope(text);
        ASSERT_FALSE(parsed) << text.substr(0, 80);
        EXPECT_EQ(parsed.error().code, base::ErrorCode::malformed);
    }
    for (std::size_t cut = 0; cut + 2 < good.size(); ++cut) {
        ASSERT_FALSE(parseEnvelope(good.substr(0, cut))) << cut;
    }
}

TEST(Statement, RoundTripAndHostileTexts) {
    const Statement statement{{{"root", {{"sha256", "00ff"}}}, {"order", {{"sha256", "abcd"}}}}, "https://example.org/p", R"({"a":[1],"b":"x"})"};
    const auto text = serialiseStatement(statement).value();
    EXPECT_EQ(parseStatement(text).value(), statement);
    EXPECT_EQ(serialiseStatement(parseStatement(text).value()).value(), text);
    const auto replace = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        changed.replace(changed.find(from), from.size(), to);
        return changed;
    };
    for (const auto& bad : {replace("00ff", "00FF"), replace("00ff", "0"), replace("v1", "v0"), replace("predicateType", "predicatetype"),
                            replace("\"subject\":[", "\"subject\":[1,"), std::string("{}"), text + "x"}) {
        EXPECT_FALSE(parseStatement(bad)) << bad;
    }
    EXPECT_FALSE(serialiseStatement({{}, "t", "[]"}));
}

} // namespace
} // namespace assay::crypto
