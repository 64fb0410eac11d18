// SPDX-License-Identifier: Apache-2.0
#include "core/format/order.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

std::string textOf(const Order& order) {
    auto text = serialiseOrder(order);
    EXPECT_TRUE(text) << text.error().toString();
    return text ? *text : "";
}

TEST(Order, RoundTrip) {
    auto order = test::tinyOrder();
    order.trainerKeys = {std::string(64, '0'), std::string(64, 'a')};
    order.optimizer.schedule = "cosine";
    order.optimizer.warmup = 2;
    order.title = "with \"quotes\" and \xE2\x82\xAC";
    const auto text = textOf(order);
    const auto back = parseOrder(base::asBytes(text));
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(*back, order);
    EXPECT_EQ(textOf(*back), text);
    EXPECT_EQ(orderDigest(order), crypto::sha256(base::asBytes(text)));
}

struct Change {
    const char* field;
    std::function<void(Order&)> apply;
};

/// One change per field; each must keep the order valid, change the digest and be found by describeDifferences.
const std::vector<Change>& changes() {
    static const std::vector<Change> kChanges{
        {"bound_exceeded_budget", [](Order& o) { o.boundExceededBudget = 3; }},
        {"checkpoint_every", [](Order& o) { o.checkpointEvery = 4; }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = "other"; }},
        {"data.files.0.sha256", [](Order& o) { o.data.files[0].sha256.bytes[0] ^= 1; }},
        {"data.files.0.size", [](Order& o) { o.data.files[0].size = 51; }},
        {"data.held_out", [](Order& o) { o.data.heldOut = 1; }},
        {"data.image_shape.1", [](Order& o) { o.data.imageShape[1] = 4; }},
        {"data.sample_root", [](Order& o) { o.data.sampleRoot.bytes[31] ^= 1; }},
        {"data.samples", [](Order& o) { o.data.samples = 9; }},
        {"evaluate_every", [](Order& o) { o.evaluateEvery = 1; }},
        {"initial_state", [](Order& o) { o.initialState.bytes[5] ^= 1; }},
        {"initialiser", [](Order& o) { o.initialiser = "x"; }},
        {"loop.batch", [](Order& o) { o.loop.batch = 3; }},
        {"loop.steps", [](Order& o) { o.loop.steps = 5; }},
        {"metric", [](Order& o) { o.metric = "loss"; }},
        {"numerics.block", [](Order& o) { o.numerics.block = 128; }},
        {"numerics.bound", [](Order& o) { o.numerics.bound = "empirical"; }},
        {"optimizer.beta1", [](Order& o) { o.optimizer.beta1 = 0.5f; }},
        {"optimizer.beta2", [](Order& o) { o.optimizer.beta2 = 0.5f; }},
        {"optimizer.clip_norm", [](Order& o) { o.optimizer.clipNorm = 1.0f; }},
        {"optimizer.epsilon", [](Order& o) { o.optimizer.epsilon = 1e-8f; }},
        {"optimizer.learning_rate", [](Order& o) { o.optimizer.learningRate = std::nextafter(0.1f, 1.0f); }},
        {"optimizer.min_learning_rate", [](Order& o) { o.optimizer.minLearningRate = 0.01f; }},
        {"optimizer.momentum", [](Order& o) { o.optimizer.momentum = 0.8f; }},
        {"optimizer.nesterov", [](Order& o) { o.optimizer.nesterov = true; }},
        {"optimizer.schedule", [](Order& o) { o.optimizer.schedule = "cosine"; }},
        {"optimizer.warmup", [](Order& o) { o.optimizer.warmup = 1; }},
        {"optimizer.weight_decay", [](Order& o) { o.optimizer.weightDecay = 0.1f; }},
        {"program", [](Order& o) { o.program.bytes[0] ^= 1; }},
        {"seed", [](Order& o) { o.seed = (1ULL << 53) - 1; }},
        {"state_root_every", [](Order& o) { o.stateRootEvery = 2; }},
        {"title", [](Order& o) { o.title = ""; }},
        {"trainer_keys", [](Order& o) { o.trainerKeys = {std::string(64, 'b')}; }},
    };
    return kChanges;
}

TEST(Order, EveryFieldIsBoundAndNamed) {
    const auto order = test::tinyOrder();
    std::set<base::Digest> digests{orderDigest(order)};
    for (const auto& change : changes()) {
        auto changed = order;
        change.apply(changed);
        EXPECT_TRUE(digests.insert(orderDigest(changed)).second) << change.field;
        const auto back = parseOrder(base::asBytes(textOf(changed)));
        ASSERT_TRUE(back) << change.field << ": " << back.error().toString();
        EXPECT_EQ(*back, changed) << change.field;
        const auto differences = describeDifferences(order, changed);
        ASSERT_EQ(differences.size(), 1U) << change.field;
        EXPECT_EQ(differences[0].field, change.field);
        EXPECT_NE(differences[0].a, differences[0].b);
    }
    EXPECT_TRUE(describeDifferences(order, order).empty());
}

TEST(Order, DifferencesShowDecimalAndBits) {
    auto a = test::tinyOrder();
    auto b = a;
    b.optimizer.learningRate = 0.25f;
    const auto differences = describeDifferences(a, b);
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(differences[0].a, "0.1 (3dcccccd)");
    EXPECT_EQ(differences[0].b, "0.25 (3e800000)");
}

TEST(Order, BrokenRulesNameTheField) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Change> broken{
        {"semantics", [](Order& o) { o.semantics = 2; }},
        {"kind", [](Order& o) { o.kind = "inference"; }},
        {"title", [](Order& o) { o.title = "\xFF"; }},
        {"title", [](Order& o) { o.title = std::string(1025, 'a'); }},
        {"loop.steps", [](Order& o) { o.loop.steps = 0; }},
        {"loop.sample_order", [](Order& o) { o.loop.sampleOrder = "sequential"; }},
        {"loop.batch", [](Order& o) { o.loop.batch = 0; }},
        {"loop.batch", [](Order& o) { o.loop.batch = 9; }},
        {"loop.batch",
         [](Order& o) {
             o.data.samples = 1ULL << 40;
             o.loop.batch = (1ULL << 24) + 1;
         }},
        {"data.reader", [](Order& o) { o.data.reader = "npy"; }},
        {"data.samples", [](Order& o) { o.data.samples = 0; }},
        {"data.files", [](Order& o) { o.data.files.clear(); }},
        {"data.files", [](Order& o) { o.data.files.push_back(o.data.files[0]); }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = "../secret"; }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = ".."; }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = "/etc/passwd"; }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = ""; }},
        {"data.files.0.name", [](Order& o) { o.data.files[0].name = "a\nb"; }},
        {"data.files.0.size", [](Order& o) { o.data.files[0].size = 0; }},
        {"data.task", [](Order& o) { o.data.task = "next-token"; }},
        {"data.transform", [](Order& o) { o.data.transform = "none/1"; }},
        {"data.context", [](Order& o) { o.data.context = 5; }},
        {"data.image_shape", [](Order& o) { o.data.imageShape = {4}; }},
        {"data.image_shape",
         [](Order& o) {
             o.data.imageShape = {1, 0, 4};
         }},
        {"data.image_shape",
         [](Order& o) {
             o.data.imageShape = {1, -1, 4};
         }},
        {"data.image_shape",
         [](Order& o) {
             o.data.imageShape = {3, 2, 2};
         }},
        {"data.classes", [](Order& o) { o.data.classes = 10; }},
        {"optimizer.kind", [](Order& o) { o.optimizer.kind = "adam"; }},
        {"optimizer.schedule", [](Order& o) { o.optimizer.schedule = "step"; }},
        {"optimizer.learning_rate", [nan](Order& o) { o.optimizer.learningRate = nan; }},
        {"optimizer.learning_rate", [](Order& o) { o.optimizer.learningRate = -0.0f; }},
        {"optimizer.learning_rate", [](Order& o) { o.optimizer.learningRate = -1.0f; }},
        {"optimizer.learning_rate",
         [](Order& o) { o.optimizer.learningRate = std::numeric_limits<float>::infinity(); }},
        {"optimizer.min_learning_rate", [](Order& o) { o.optimizer.minLearningRate = 1.0f; }},
        {"optimizer.momentum", [](Order& o) { o.optimizer.momentum = 1.5f; }},
        {"optimizer.epsilon", [](Order& o) { o.optimizer.kind = "adamw"; }},
        {"optimizer.nesterov",
         [](Order& o) {
             o.optimizer.momentum = 0;
             o.optimizer.nesterov = true;
         }},
        {"optimizer.warmup", [](Order& o) { o.optimizer.warmup = 5; }},
        {"numerics.mode", [](Order& o) { o.numerics.mode = "exact"; }},
        {"numerics.bound", [](Order& o) { o.numerics.bound = "none"; }},
        {"numerics.block", [](Order& o) { o.numerics.block = 0; }},
        {"state_root_every", [](Order& o) { o.stateRootEvery = 0; }},
        {"checkpoint_every",
         [](Order& o) {
             o.stateRootEvery = 2;
             o.checkpointEvery = 3;
         }},
        {"evaluate_every",
         [](Order& o) {
             o.evaluateEvery = 1;
             o.metric = "";
         }},
        {"evaluate_every",
         [](Order& o) {
             o.evaluateEvery = 1;
             o.data.heldOut = 0;
         }},
        {"metric", [](Order& o) { o.metric = "bleu"; }},
        {"seed", [](Order& o) { o.seed = 1ULL << 53; }},
        {"trainer_keys", [](Order& o) { o.trainerKeys = {"abc"}; }},
        {"trainer_keys", [](Order& o) { o.trainerKeys = {std::string(64, 'B')}; }},
        {"trainer_keys",
         [](Order& o) {
             o.trainerKeys = {std::string(64, 'b'), std::string(64, 'a')};
         }},
        {"trainer_keys",
         [](Order& o) {
             o.trainerKeys = {std::string(64, 'b'), std::string(64, 'b')};
         }},
    };
    for (const auto& change : broken) {
        auto order = test::tinyOrder();
        change.apply(order);
        const auto text = serialiseOrder(order);
        ASSERT_FALSE(text) << change.field;
        EXPECT_EQ(text.error().code, base::ErrorCode::malformed);
        EXPECT_TRUE(text.error().message.starts_with(change.field)) << change.field << " -> " << text.error().message;
    }
}

TEST(Order, ReaderRefusesForeignBytes) {
    const auto text = textOf(test::tinyOrder());
    const auto refuse = [&](std::string from, std::string to, std::string_view words) {
        auto changed = text;
        const auto at = changed.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        const auto order = parseOrder(base::asBytes(changed));
        ASSERT_FALSE(order) << to;
        EXPECT_NE(order.error().message.find(words), std::string::npos) << to << " -> " << order.error().message;
    };
    refuse("\"seed\":7", "\"seed\":\"7\"", "seed: expected an integer");
    refuse("\"seed\":7", "\"seed\":-7", "seed: expected an integer of 0 or more");
    refuse("\"seed\":7,", "", "seed: missing");
    refuse("\"seed\":7", "\"seed\":7,\"seef\":1", "unknown field");
    refuse("\"batch\":2", "\"batch\":[]", "loop.batch: expected an integer");
    refuse("\"learning_rate_f32\":\"3dcccccd\"", "\"learning_rate_f32\":\"3DCCCCCD\"",
           "optimizer.learning_rate_f32: expected 8 lower-case");
    refuse("\"learning_rate_f32\":\"3dcccccd\"", "\"learning_rate_f32\":\"7fc00000\"",
           "optimizer.learning_rate: expected a finite");
    refuse("\"format\":\"assay/order/1\"", "\"format\":\"assay/order/2\"", "format: expected assay/order/1");
    refuse("\"semantics\":1", "\"semantics\":2", "this release knows 1 to 1");
    refuse("\"loop\":{", "\"loop\":[{", "expected");
    EXPECT_FALSE(parseOrder(base::asBytes("[]\n")));
    EXPECT_FALSE(parseOrder(base::asBytes("{}\n")));
    EXPECT_FALSE(parseOrder(base::asBytes(text.substr(0, text.size() - 1))));
    EXPECT_FALSE(parseOrder(base::asBytes(text + " ")));
    EXPECT_FALSE(parseOrder(base::asBytes(std::string(kMaxOrderBytes + 1, ' '))));
}

TEST(Order, BatchesAreAPermutationPerEpoch) {
    auto order = test::tinyOrder(20, 0);
    order.data.samples = 11;
    order.loop.batch = 3; // three steps an epoch, two samples left out of each
    std::vector<std::vector<std::uint64_t>> epochs(3);
    for (std::uint64_t step = 1; step <= 9; ++step) {
        const auto indices = batchIndices(order, step);
        ASSERT_EQ(indices.size(), 3U);
        auto& epoch = epochs[(step - 1) / 3];
        epoch.insert(epoch.end(), indices.begin(), indices.end());
    }
    for (const auto& epoch : epochs) {
        EXPECT_EQ(std::set<std::uint64_t>(epoch.begin(), epoch.end()).size(), 9U);
        EXPECT_LT(*std::max_element(epoch.begin(), epoch.end()), 11U);
    }
    EXPECT_NE(epochs[0], epochs[1]);
    auto other = order;
    other.seed = 8;
    EXPECT_NE(batchIndices(order, 1), batchIndices(other, 1));
    EXPECT_EQ(batchIndices(order, 4), batchIndices(order, 4));
}

TEST(Order, DueSteps) {
    auto order = test::tinyOrder(10, 4);
    order.stateRootEvery = 2;
    order.evaluateEvery = 5;
    std::string roots;
    std::string checkpoints;
    std::string evaluations;
    for (std::uint64_t step = 0; step <= 10; ++step) {
        roots += stateRootDue(order, step) ? 'x' : '.';
        checkpoints += checkpointDue(order, step) ? 'x' : '.';
        evaluations += evaluationDue(order, step) ? 'x' : '.';
    }
    EXPECT_EQ(roots, "x.x.x.x.x.x");
    EXPECT_EQ(checkpoints, "....x...x.x");
    EXPECT_EQ(evaluations, ".....x....x");
    order = test::tinyOrder(3, 0);
    order.stateRootEvery = 5;
    EXPECT_FALSE(stateRootDue(order, 2));
    EXPECT_TRUE(stateRootDue(order, 3));
    EXPECT_TRUE(checkpointDue(order, 3));
}

} // namespace
} // namespace assay::format
