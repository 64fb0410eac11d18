// SPDX-License-Identifier: Apache-2.0
// The examples of core/format/FORMAT.md against the product. The same examples are made by vectors.py from the prose
// alone.
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/crypto/dsse.h"
#include "core/format/dataset.h"
#include "core/format/json.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

/// Text of every "```vector NAME" block.
const std::map<std::string, std::string>& documentVectors() {
    static const std::map<std::string, std::string> kVectors = [] {
        std::map<std::string, std::string> vectors;
        const auto text = *base::readTextFile(std::string(ASSAY_SOURCE_FOLDER) + "/core/format/FORMAT.md", 1 << 20);
        constexpr std::string_view kOpen = "```vector ";
        for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at + 1)) {
            const auto line = text.find('\n', at);
            const auto end = text.find("```", line);
            vectors[text.substr(at + kOpen.size(), line - at - kOpen.size())] = text.substr(line + 1, end - line - 1);
        }
        return vectors;
    }();
    return kVectors;
}

std::string vectorText(const std::string& name) {
    const auto found = documentVectors().find(name);
    EXPECT_NE(found, documentVectors().end()) << name;
    return found != documentVectors().end() ? found->second : "";
}

std::string vectorHex(const std::string& name) {
    auto text = vectorText(name);
    std::erase(text, '\n');
    return text;
}

base::Digest digestOf(std::string_view text) {
    return crypto::sha256(base::asBytes(text));
}

TEST(Vectors, AllOfTheDocumentAreUsed) {
    EXPECT_EQ(documentVectors().size(), 22U) << "a new example needs a line in this test";
}

TEST(Vectors, Json) {
    const JsonValue value =
        JsonValue::Object{{"z", JsonValue::Array{std::int64_t{0}, std::int64_t{-1}, kMaxJsonInteger, true, false}},
                          {"a", "quote \" line\n bell\x07 euro \xE2\x82\xAC"},
                          {"", JsonValue::Object{}}};
    EXPECT_EQ(writeJson(value) + "\n", vectorText("json"));
}

TEST(Vectors, OrderAndProgram) {
    const auto order = test::tinyOrder();
    EXPECT_EQ(*serialiseOrder(order), vectorText("order"));
    EXPECT_EQ(orderDigest(order).toHex(), vectorHex("order-digest"));
    EXPECT_EQ(*serialiseProgram(test::tinyProgram()), vectorText("program"));
    EXPECT_EQ(parseOrder(base::asBytes(vectorText("order"))).value_or(Order{}), order);
    EXPECT_EQ(parseProgram(base::asBytes(vectorText("program"))).value_or(Program{}), test::tinyProgram());
}

TEST(Vectors, Samples) {
    EXPECT_EQ(sampleDigestOf(base::asBytes("abc"), 7).toHex(), vectorHex("sample-digest"));
    EXPECT_EQ(sampleDigestOf(base::asBytes("abc"), kNoLabel).toHex(), vectorHex("sample-digest-text"));
    std::string text;
    for (std::uint64_t step = 1; step <= 8; ++step) {
        text += fmt::format("step {}: {}\n", step, fmt::join(batchIndices(test::tinyOrder(), step), " "));
    }
    EXPECT_EQ(text, vectorText("sample-order"));
    const std::vector<std::uint64_t> indices{1, 2};
    const std::vector<base::Digest> digests{digestOf("1"), digestOf("2")};
    EXPECT_EQ(batchDigest(indices, digests).toHex(), vectorHex("batch-digest"));
}

TEST(Vectors, SafetensorsAndTrees) {
    EXPECT_EQ(base::toHex(test::tinyInit()), vectorHex("safetensors"));
    const test::TinyState tiny(1);
    const auto state = commitState(tiny.all());
    std::string roots;
    for (const auto& root : state.tensorRoots) {
        roots += root.toHex() + "\n";
    }
    EXPECT_EQ(roots, vectorText("tensor-roots"));
    EXPECT_EQ(state.root.toHex(), vectorHex("state-root"));
    base::ByteVector bytes(100'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(i % 251);
    }
    EXPECT_EQ(tensorRoot(bytes).toHex(), vectorHex("tensor-root-100000"));
    const base::ByteVector section{1, 2, 3};
    const std::vector<base::ByteView> sections{section, {}};
    EXPECT_EQ(logRoot(sections).toHex(), vectorHex("log-root"));
}

TEST(Vectors, Leaves) {
    LeafData leaf;
    leaf.order = digestOf("order");
    leaf.step = 3;
    leaf.batch = digestOf("batch");
    leaf.learningRateBits = 0x3dcccccd;
    leaf.lossBits = 0x40000000;
    leaf.logRoot = digestOf("log");
    leaf.stateRoot = digestOf("state");
    leaf.evaluationBits = 0x3f000000;
    leaf.previous = digestOf("previous");
    EXPECT_EQ(base::toHex(serialiseLeaf(leaf)), vectorHex("leaf"));
    EXPECT_EQ(leafHash(leaf).toHex(), vectorHex("leaf-hash"));
    LeafData diverged;
    diverged.order = leaf.order;
    diverged.step = 9;
    diverged.batch = leaf.batch;
    diverged.learningRateBits = leaf.learningRateBits;
    diverged.previous = leaf.previous;
    diverged.diverged = true;
    diverged.divergedSite = "blocks.0.attn.qkv / dW";
    EXPECT_EQ(base::toHex(serialiseLeaf(diverged)), vectorHex("diverged-leaf"));
    EXPECT_EQ(leafHash(diverged).toHex(), vectorHex("diverged-leaf-hash"));
}

TEST(Vectors, Submission) {
    const auto folder = base::TemporaryFolder::create();
    ASSERT_TRUE(folder);
    const auto written = test::tinySubmission(folder->path() / "s");
    ASSERT_TRUE(written) << written.error().toString();
    const auto read = [&](std::string_view name) { return *base::readFile(folder->path() / "s" / name, 1 << 20); };
    const auto index = read(kStepsIndexName);
    const auto steps = read(kStepsName);
    const auto begin = base::loadLe<std::uint64_t>(index.data());
    const auto end = base::loadLe<std::uint64_t>(index.data() + 8);
    EXPECT_EQ(base::toHex(base::ByteView(steps).subspan(begin, end - begin)), vectorHex("step-record"));
    EXPECT_EQ(base::toHex(index), vectorHex("steps-index"));
    EXPECT_EQ(base::asText(read(kCommitmentName)), vectorText("commitment"));
    EXPECT_EQ(base::asText(read(kManifestName)), vectorText("manifest"));
    const auto envelope = crypto::parseEnvelope(base::asText(read(kAttestationName)));
    ASSERT_TRUE(envelope);
    EXPECT_EQ(std::string(base::asText(envelope->payload)) + "\n", vectorText("statement"));
}

} // namespace
} // namespace assay::format
