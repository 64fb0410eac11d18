// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/dsse.h"

#include <gtest/gtest.h>

#include "core/crypto/statement.h"
#include "core/crypto/strict_json.h"
#include "core/crypto/utf8.h"

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

TEST(Dsse, EncodingOfTheProtocol) {
    // protocol.md, test vectors; lengths count bytes, not characters.
    EXPECT_EQ(base::asText(preAuthEncoding("http://example.com/HelloWorld", base::asBytes("hello world"))),
              "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    EXPECT_EQ(base::asText(preAuthEncoding("", {})), "DSSEv1 0  0 ");
    EXPECT_EQ(base::asText(preAuthEncoding("\xc3\xa9", base::asBytes("\xe2\x82\xac"))),
              "DSSEv1 2 \xc3\xa9 3 \xe2\x82\xac");
    // Nothing can move between type and payload without changing the encoding.
    EXPECT_NE(preAuthEncoding("a 1 b", base::asBytes("c")), preAuthEncoding("a", base::asBytes("b 1 c")));
}

TEST(Dsse, TheEnvelopeOfTheProtocolIsRead) {
    // protocol.md, test vectors: no key id, spaces and line ends between members. (Its signature is of another kind
    // than Ed25519.)
    const auto envelope =
        parseEnvelope("{\"payload\": \"aGVsbG8gd29ybGQ=\",\n \"payloadType\": \"http://example.com/HelloWorld\",\n"
                      " \"signatures\": [{\"sig\": \"A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJ"
                      "PcIAriEGAHTVeCUjW2JIZA==\"}]}")
            .value();
    EXPECT_EQ(base::asText(envelope.payload), "hello world");
    ASSERT_EQ(envelope.signatures.size(), 1u);
    EXPECT_EQ(envelope.signatures[0].keyId, "");
    EXPECT_EQ(envelope.signatures[0].signature.size(), 64u);
    EXPECT_EQ(verifyEnvelope(envelope, PrivateKey::generate().value().publicKey().value()), SignatureCheck::invalid);
}

TEST(Dsse, BothAlphabetsButNotMixed) {
    const auto with = [](const std::string& payload) {
        return parseEnvelope(R"({"payload":")" + payload + R"(","payloadType":"x","signatures":[]})");
    };
    EXPECT_EQ(with("+/+/").value().payload, with("-_-_").value().payload);
    for (const char* bad :
         {"+_+/", "+/+", "+/+/=", "QQ", "QR==", "Q===", "====", "QQ==QQ==", " QQ==", "QQ==\\n", "Q\\u0000=="}) {
        const auto parsed = with(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().code, base::ErrorCode::malformed);
        EXPECT_NE(parsed.error().message.find("payload"), std::string::npos);
    }
}

TEST(Dsse, EveryChangedByteIsRefusedUnverifiedOrMeansTheSame) {
    const auto key = PrivateKey::generate().value();
    const auto original = signedEnvelope(key);
    const auto text = serialiseEnvelope(original);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (const unsigned bit : {0u, 1u, 2u, 5u, 7u}) {
            auto changed = text;
            changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ (1u << bit));
            const auto parsed = parseEnvelope(changed);
            if (!parsed || verifyEnvelope(*parsed, key.publicKey().value()) != SignatureCheck::valid) {
                ++refused;
                continue;
            }
            // Only the unsigned hint, or white space, may differ.
            EXPECT_EQ(parsed->payload, original.payload) << i;
            EXPECT_EQ(parsed->payloadType, original.payloadType) << i;
            EXPECT_EQ(parsed->signatures.at(0).signature, original.signatures[0].signature) << i;
        }
    }
    EXPECT_GT(refused, text.size() * 2);
}

TEST(Dsse, SigningRefusesWhatCouldNotBeReadBack) {
    const auto key = PrivateKey::generate().value();
    Envelope envelope;
    envelope.payloadType = "\xff";
    EXPECT_EQ(signEnvelope(envelope, key).error().code, base::ErrorCode::usage);
    envelope.payloadType = std::string(257, 'x');
    EXPECT_EQ(signEnvelope(envelope, key).error().code, base::ErrorCode::usage);
    envelope.payloadType = "x";
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(signEnvelope(envelope, key));
    }
    EXPECT_TRUE(parseEnvelope(serialiseEnvelope(envelope)));
    EXPECT_EQ(signEnvelope(envelope, key).error().code, base::ErrorCode::usage);
}

TEST(Dsse, HostileEnvelopes) {
    const std::string good = serialiseEnvelope(signedEnvelope(PrivateKey::generate().value()));
    ASSERT_TRUE(parseEnvelope(good));
    std::string manySignatures = R"({"payload":"","payloadType":"x","signatures":[)";
    for (int i = 0; i < 65; ++i) {
        manySignatures += std::string(i > 0 ? "," : "") + R"({"keyid":"","sig":""})";
    }
    std::string many; // two bytes a value, many times that in memory
    for (std::size_t i = 0; i < (std::size_t{1} << 20); ++i) {
        many += "0,";
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
                               R"({"payload":"","payloadType":"x","signatures":[{"sig":"","keyid":1}]})",
                               R"({"payload":"","payloadType":"x","signatures":[{"sig":"","keyId":""}]})",
                               R"({"payload":"","payloadType":"x","signatures":[{"sig":"","keyid":"","more":""}]})",
                               R"({"payload":"","payloadType":"x","signatures":[{"keyid":""}]})",
                               R"({"payload":"","payloadType":"x","signatures":[1]})",
                               R"({"payload":"","payloadType":")" + std::string(257, 'x') + R"(","signatures":[]})",
                               "{\"payload\":\"\",\"payloadType\":\"\xff\",\"signatures\":[]}",
                               good + std::string(1, '\0'),
                               good + std::string("\0{}", 3),
                               std::string("\0", 1) + good,
                               "\xef\xbb\xbf" + good,
                               good + "x",
                               "[" + std::string(std::size_t{2} << 20, '0') + "]",
                               "[" + many + "0]",
                               std::string((std::size_t{16} << 20) + 1, ' '),
                               manySignatures + "]}",
                               std::string(100000, '['),
                               R"({"payload":"","payloadType":"x","signatures":)" + std::string(40, '[') +
                                   std::string(40, ']') + "}"};
    for (const auto& text : bad) {
        const auto parsed = parseEnvelope(text);
        ASSERT_FALSE(parsed) << text.substr(0, 80);
        EXPECT_EQ(parsed.error().code, base::ErrorCode::malformed);
    }
    for (std::size_t cut = 0; cut + 2 < good.size(); ++cut) {
        ASSERT_FALSE(parseEnvelope(good.substr(0, cut))) << cut;
    }
}

TEST(StrictJson, RefusesWhatTheLibraryWouldTake) {
    const auto refused = [](const std::string& text) {
        const auto parsed = parseStrictJson(text, 100u << 20);
        return !parsed && parsed.error().code == base::ErrorCode::malformed;
    };
    EXPECT_EQ(parseStrictJson(R"({"b":[1,2],"a":{"a":null}})", 100).value().dump(), R"({"a":{"a":null},"b":[1,2]})");
    EXPECT_EQ(parseStrictJson(" [] \n", 100).value().dump(), "[]");
    EXPECT_TRUE(parseStrictJson(std::string(32, '[') + std::string(32, ']'), 100));
    EXPECT_TRUE(refused(std::string(33, '[') + std::string(33, ']')));
    EXPECT_TRUE(refused(std::string(std::size_t{1} << 20, '[')));
    std::string objects;
    for (int i = 0; i < 33; ++i) {
        objects += R"({"a":)";
    }
    EXPECT_TRUE(refused(objects + "1" + std::string(33, '}')));
    EXPECT_TRUE(refused(R"({"a":1,"b":2,"a":1})"));
    EXPECT_TRUE(refused(R"([{"x":{"a":1,"\u0061":2}}])")); // the same name spelt otherwise
    EXPECT_TRUE(parseStrictJson(R"({"a":{"a":1},"b":{"a":1}})", 100));
    for (const char* bad : {"",
                            " ",
                            "{",
                            "[1,]",
                            "{\"a\":1,}",
                            "{a:1}",
                            "'a'",
                            "01",
                            "+1",
                            ".5",
                            "1.",
                            "NaN",
                            "Infinity",
                            "1e999",
                            "[1] [2]",
                            "// c\n1",
                            "/**/1",
                            "\"\t\"",
                            "\"\\x\"",
                            "\"\\ud800\"",
                            "\"\xc0\x80\"",
                            "\"\xed\xa0\x80\"",
                            "tru"}) {
        EXPECT_TRUE(refused(bad)) << bad;
    }
    const auto error = parseStrictJson("[1,2,x]", 100).error();
    EXPECT_EQ(error.offset, 5u);
    EXPECT_EQ(parseStrictJson(std::string("[1]\0", 4), 100).error().offset, 3u);
    EXPECT_EQ(parseStrictJson("[1,2]", 4).error().offset, 4u);
    EXPECT_FALSE(dumpStrictJson(nlohmann::json("\xff")));
}

TEST(Utf8, WellFormedOnly) {
    for (const char* good : {"", "plain", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                             "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
                             "a\xe2\x82\xac"
                             "b"}) {
        EXPECT_TRUE(isUtf8(good)) << good;
    }
    for (const char* bad : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2",
                            "\xc2"
                            "a",
                            "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x82", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xf0\x90\x80"}) {
        EXPECT_FALSE(isUtf8(bad));
    }
    // Every two-byte text, against the definition.
    for (unsigned a = 0; a < 256; ++a) {
        for (unsigned b = 0; b < 256; ++b) {
            const char text[] = {static_cast<char>(a), static_cast<char>(b)};
            const bool expected = (a < 0x80 && b < 0x80) || (a >= 0xc2 && a <= 0xdf && (b & 0xc0) == 0x80);
            ASSERT_EQ(isUtf8({text, 2}), expected) << a << " " << b;
        }
    }
}

TEST(Statement, RoundTripAndHostileTexts) {
    const Statement statement{{{"root", {{"sha256", "00ff"}}}, {"order", {{"sha256", "abcd"}}}},
                              "https://example.org/p",
                              R"({"a":[1],"b":"x"})"};
    const auto text = serialiseStatement(statement).value();
    EXPECT_EQ(parseStatement(text).value(), statement);
    EXPECT_EQ(serialiseStatement(parseStatement(text).value()).value(), text);
    const auto replace = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        changed.replace(changed.find(from), from.size(), to);
        return changed;
    };
    for (const auto& bad :
         {replace("00ff", "00FF"), replace("00ff", "0"), replace("v1", "v0"), replace("predicateType", "predicatetype"),
          replace("\"subject\":[", "\"subject\":[1,"), std::string("{}"), text + "x", text + std::string(1, '\0'),
          replace("order", "root"), replace("\"00ff\"", "1"), replace("\"sha256\":\"00ff\"", ""),
          replace("{\"a\":[1],\"b\":\"x\"}", "[]"), replace("\"name\":\"root\"", "\"name\":\"root\",\"uri\":\"u\""),
          replace("\"_type\"", "\"_type\":1,\"_type\""), replace("\"name\":\"root\"", "\"name\":7")}) {
        EXPECT_FALSE(parseStatement(bad)) << bad;
    }
    // What our own reader would refuse is not written either.
    const Statement bad[] = {{statement.subjects, "t", "[]"},
                             {statement.subjects, "t", "{\"a\":1"},
                             {statement.subjects, "\xff", "{}"},
                             {{}, "t", "{}"},
                             {{{"a", {}}}, "t", "{}"},
                             {{{"a", {{"sha256", "XY"}}}}, "t", "{}"},
                             {{{"a", {{"sha256", "00"}}}, {"a", {{"sha256", "01"}}}}, "t", "{}"},
                             {{{"\xff", {{"sha256", "00"}}}}, "t", "{}"}};
    for (const auto& item : bad) {
        EXPECT_FALSE(serialiseStatement(item));
    }
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        ASSERT_FALSE(parseStatement(text.substr(0, cut))) << cut;
    }
}

} // namespace
} // namespace assay::crypto
