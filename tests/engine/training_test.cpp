// SPDX-License-Identifier: Apache-2.0
// The trainer: learns, is deterministic, stops and resumes, ends in a diverged leaf where it must.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/engine/executor.h"
#include "core/engine/site_digests.h"
#include "tests/engine/engine_orders.h"

namespace assay::test {
namespace {

using base::ErrorCode;

/// Loss of the program on a batch with one parameter element moved, with plain rounding.
class LossProbe {
public:
    LossProbe(const OrderFolder& order, const format::Dataset& data)
        : m_order(order), m_data(data),
          m_session(*engine::Session::create(order.order, order.program, profileOf("threads=1"))),
          m_init(*format::Safetensors::open(order.folder.path() / "init.safetensors")) {}

    engine::TrainingState state() {
        return *engine::TrainingState::initial(m_order.program, m_order.order.optimizer, m_init);
    }
    double lossAt(std::size_t tensor, std::size_t element, float value) {
        auto moved = state();
        moved.tensors()[tensor].values()[element] = value;
        return runOn(moved).loss();
    }
    engine::StepOutcome runOn(engine::TrainingState& state) {
        return *m_session.enforce(state, m_data, *m_session.inputsOf(1), nullptr, false);
    }

private:
    const OrderFolder& m_order;
    const format::Dataset& m_data;
    engine::Session m_session;
    format::Safetensors m_init;
};

/// Plain SGD moves a weight by -lr * gradient: that gradient against a central difference of the loss. Shows that the
/// graph is wired right (residual sums, shared values, parameter slots), not only the single operators.
TEST(Training, GradientsAreThoseOfTheLoss) {
    for (const auto* kind : {"mlp", "cnn", "gpt"}) {
        OrderWish wish;
        wish.kind = kind;
        wish.order = [](format::Order& order) {
            order.optimizer = {};
            order.optimizer.learningRate = 1.0f;
            order.loop.batch = 8;
        };
        const auto order = makeOrder(wish);
        const auto data = format::Dataset::open(order.order.data, order.data());
        ASSERT_TRUE(data);
        LossProbe probe(order, *data);
        auto before = probe.state();
        auto after = probe.state();
        static_cast<void>(probe.runOn(after));
        std::size_t compared = 0;
        for (std::size_t t = 0; t < before.tensors().size(); ++t) {
            if (order.program.tensors[t].role != "parameter") {
                continue;
            }
            const auto old = before.tensors()[t].values();
            std::size_t best = 0;
            for (std::size_t i = 0; i < old.size(); ++i) {
                const auto step = [&](std::size_t k) { return std::abs(old[k] - after.tensors()[t].values()[k]); };
                best = step(i) > step(best) ? i : best;
            }
            const double gradient =
                static_cast<double>(old[best]) - static_cast<double>(after.tensors()[t].values()[best]);
            if (std::abs(gradient) < 5e-3) {
                continue; // too small against the rounding of an FP32 loss
            }
            // A wider step would cross kinks of ReLU and max-pool. The loss lies in [4, 8), where FP32 values are 2^-21
            // apart: two roundings are off by up to 2^-21 together, over 2h that is 2.4e-4. The relative part covers
            // what kinks remain and the third derivative.
            const float h = 1e-3f;
            const float up = old[best] + h;
            const float down = old[best] - h;
            const double slope = (probe.lossAt(t, best, up) - probe.lossAt(t, best, down)) /
                                 (static_cast<double>(up) - static_cast<double>(down));
            EXPECT_NEAR(gradient, slope, 2.5e-4 + 0.02 * std::abs(slope))
                << kind << ", " << order.program.tensors[t].name << ", element " << best;
            ++compared;
        }
        EXPECT_GE(compared, 4u) << kind;
    }
}

TEST(Training, LowersTheLossAndEndsWithAVerifiableSubmission) {
    for (const auto* kind : {"mlp", "cnn", "gpt"}) {
        auto order = makeStandardOrder(kind);
        const auto result = trainTo(order, order.sub("a"));
        ASSERT_TRUE(result) << result.error().toString();
        EXPECT_EQ(result->steps, 6u);
        EXPECT_FALSE(result->diverged);
        if (std::string_view(kind) != "cnn") { // six steps on tiny batches do not bring the CNN's loss down reliably
            EXPECT_LT(result->lastLoss, result->firstLoss) << kind;
        }
        const auto submission = format::Submission::open(order.sub("a"));
        ASSERT_TRUE(submission) << submission.error().toString();
        EXPECT_EQ(submission->commitment().root, *result->root);
        EXPECT_EQ(submission->checkpoints(), (std::vector<std::uint64_t>{2, 4, 6}));
        const auto files = submission->verifyFiles();
        ASSERT_TRUE(files);
        EXPECT_TRUE(files->empty());
    }
}

TEST(Training, TheSameProfileGivesTheSameBytes) {
    for (const auto* kind : {"mlp", "gpt"}) {
        auto order = makeStandardOrder(kind);
        ASSERT_TRUE(trainTo(order, order.sub("a")));
        ASSERT_TRUE(trainTo(order, order.sub("b")));
        EXPECT_EQ(contentOf(order.sub("a")), contentOf(order.sub("b")));
    }
}

TEST(Training, AStoppedTrainerResumesToTheSameBytes) {
    for (const std::uint64_t stop : {1u, 2u, 3u, 5u}) {
        auto order = makeStandardOrder("gpt");
        ASSERT_TRUE(trainTo(order, order.sub("whole"), {.siteDigests = order.data() / "whole.txt"}));
        const auto digests = order.data() / "parts.txt";
        const auto first = trainTo(order, order.sub("parts"), {.stopAfter = stop, .siteDigests = digests});
        ASSERT_TRUE(first) << first.error().toString();
        EXPECT_TRUE(first->cancelled);
        EXPECT_EQ(first->steps, stop);
        EXPECT_FALSE(format::Submission::open(order.sub("parts"))); // unfinished
        const auto second = trainTo(order, order.sub("parts"), {.resume = true, .siteDigests = digests});
        ASSERT_TRUE(second) << second.error().toString();
        EXPECT_EQ(contentOf(order.sub("whole")), contentOf(order.sub("parts"))) << "stopped after " << stop;
        const auto whole = base::readTextFile(order.data() / "whole.txt", 1 << 28);
        const auto parts = base::readTextFile(digests, 1 << 28);
        EXPECT_EQ(*whole, *parts);
    }
}

TEST(Training, AnotherProfileMayResumeAndIsRecorded) {
    auto order = makeOrderWithEntries();
    ASSERT_TRUE(trainTo(order, order.sub("a"), {.stopAfter = 3}));
    const auto result = trainTo(order, order.sub("a"), {.profile = "reversed,threads=2,noise=0.5", .resume = true});
    ASSERT_TRUE(result) << result.error().toString();
    const auto submission = format::Submission::open(order.sub("a"));
    ASSERT_TRUE(submission);
    const auto& profiles = submission->attestation().profiles;
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_EQ(profiles[0].lastStep, 3u);
    EXPECT_EQ(profiles[1].firstStep, 4u);
    EXPECT_NE(profiles[1].profile.find("noise"), std::string::npos);
    const auto replayed = replayOf(order, order.sub("a"));
    EXPECT_FALSE(replayed.result.mismatch);
    EXPECT_EQ(replayed.result.stepsChecked, 4u);
}

TEST(Training, ResumingWithAnotherOrderIsRefused) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a"), {.stopAfter = 2}));
    OrderWish wish;
    wish.order = [](format::Order& o) { o.optimizer.learningRate = 0.06f; };
    const auto other = makeOrder(wish);
    const auto result = trainTo(other, order.sub("a"), {.resume = true});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::usage);
    EXPECT_FALSE(trainTo(order, order.sub("a"))); // taken, and not asked to resume
}

TEST(Training, AChangedLogOfAnInterruptedRunIsNoticed) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a"), {.stopAfter = 3}));
    auto bytes = *base::readFile(order.sub("a") / "checkpoints/000002.safetensors", 1 << 20);
    bytes.back() ^= 1;
    ASSERT_TRUE(base::writeFileAtomic(order.sub("a") / "checkpoints/000002.safetensors", bytes));
    const auto result = trainTo(order, order.sub("a"), {.resume = true});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().code, ErrorCode::internal) << result.error().toString();
}

TEST(Training, ANonFiniteValueEndsTheRunOnBothSides) {
    OrderWish wish;
    wish.order = [](format::Order& order) { order.optimizer.learningRate = 1e30f; };
    auto order = makeOrder(wish);
    const auto result = trainTo(order, order.sub("a"));
    ASSERT_TRUE(result) << result.error().toString();
    EXPECT_TRUE(result->diverged);
    EXPECT_FALSE(result->divergedSite.empty());
    EXPECT_LT(result->steps, 6u);
    for (const auto* profile : {"threads=1", "reversed,threads=2", "splitk,noise=0.9"}) {
        const auto replayed = replayOf(order, order.sub("a"), {.profile = profile});
        EXPECT_FALSE(replayed.result.mismatch) << profile;
        EXPECT_TRUE(replayed.result.diverged) << profile;
        EXPECT_EQ(replayed.result.divergedSite, result->divergedSite) << profile;
        EXPECT_EQ(replayed.result.stepsChecked, result->steps) << profile;
    }
}

TEST(Training, EvaluationValuesAreSitesWithLogsOfTheirOwn) {
    OrderWish wish;
    wish.kind = "cnn";
    wish.textBytes = 6500;
    wish.order = [](format::Order& order) {
        order.evaluateEvery = 2;
        order.metric = "loss";
        order.loop.batch = 64;
        order.loop.steps = 4;
    };
    auto order = makeOrder(wish);
    ASSERT_GT(order.order.data.heldOut % 64, 0u); // a last batch that is not full
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = format::Submission::open(order.sub("a"));
    ASSERT_TRUE(submission) << submission.error().toString();
    std::uint32_t first = 0;
    for (const std::uint64_t step : {1u, 2u, 3u, 4u}) {
        const auto record = submission->step(step);
        ASSERT_TRUE(record);
        EXPECT_EQ(record->leaf.evaluationBits.has_value(), step % 2 == 0) << step;
        if (step == 2) {
            first = *record->leaf.evaluationBits;
        }
    }
    EXPECT_LT(std::bit_cast<float>(*submission->step(4)->leaf.evaluationBits), std::bit_cast<float>(first));
    const auto replayed = replayOf(order, order.sub("a"), {.profile = "reversed,noise=0.9"});
    EXPECT_FALSE(replayed.result.mismatch);
    EXPECT_EQ(replayed.result.stepsChecked, 4u);
}

TEST(Training, AFullCheckpointIsLoadedStrictly) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = format::Submission::open(order.sub("a"));
    ASSERT_TRUE(submission);
    const auto file = submission->checkpoint(2);
    ASSERT_TRUE(file);
    const auto& optimizer = order.order.optimizer;
    EXPECT_TRUE(engine::TrainingState::load(order.program, optimizer, *file, 2));
    EXPECT_FALSE(engine::TrainingState::load(order.program, optimizer, *file, 3)); // the counter says 2
    const auto broken = [&](auto change) {
        auto tensors = file->tensors();
        change(tensors);
        const auto bytes = format::serialiseSafetensors(tensors);
        if (!bytes) {
            return true;
        }
        const auto parsed = format::Safetensors::parse(*bytes);
        return !parsed || !engine::TrainingState::load(order.program, optimizer, *parsed, 2);
    };
    EXPECT_FALSE(broken([](auto&) {}));
    EXPECT_TRUE(broken([](auto& tensors) { tensors.pop_back(); }));
    EXPECT_TRUE(broken([](auto& tensors) { tensors.back().name += "x"; }));
    for (const float bad : {-0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> values;
        EXPECT_TRUE(broken([&](auto& tensors) {
            for (auto& tensor : tensors) {
                if (tensor.dtype == "F32") {
                    values = *format::floatsOf(tensor);
                    values[0] = bad;
                    tensor.bytes = format::bytesOf(values);
                    return;
                }
            }
        })) << bad;
    }
}

} // namespace
} // namespace assay::test
