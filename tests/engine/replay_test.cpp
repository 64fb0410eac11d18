// SPDX-License-Identifier: Apache-2.0
// The auditor: other kernels, the log obeyed and ignored, ranges, resumption, and how it accuses.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "core/format/state_tree.h"

#include "tests/engine/engine_orders.h"

namespace assay::test {
namespace {

/// Trains under the plain profile and returns the digests of all sites.
std::vector<std::string> trainedDigests(const OrderFolder& order, const base::fs::path& out) {
    const auto file = order.data() / "digests.txt";
    const auto result = trainTo(order, out, {.siteDigests = file});
    EXPECT_TRUE(result) << result.error().toString();
    std::vector<std::string> lines;
    auto text = *base::readTextFile(file, 1 << 28);
    std::replace(text.begin(), text.end(), '\t', ' ');
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

class EveryKernel : public testing::TestWithParam<const char*> {};

TEST_P(EveryKernel, GivesTheSameBitsAtEverySite) {
    for (const auto* kind : {"mlp", "cnn", "gpt"}) {
        auto order = makeStandardOrder(kind);
        const auto digests = trainedDigests(order, order.sub("a"));
        const auto replayed = replayOf(order, order.sub("a"), {.profile = GetParam()});
        EXPECT_FALSE(replayed.result.mismatch)
            << kind << ": " << (replayed.result.findings.empty() ? "" : replayed.result.findings[0].text);
        EXPECT_EQ(replayed.result.stepsChecked, 6u) << kind;
        EXPECT_EQ(replayed.digests, digests) << kind;
        EXPECT_TRUE(replayed.result.finalState.has_value());
    }
}
INSTANTIATE_TEST_SUITE_P(Profiles, EveryKernel,
                         testing::Values("threads=1", "threads=2", "reversed,threads=1", "splitk,threads=1",
                                         "noise=0.9,threads=1"),
                         [](const auto& name) {
                             std::string text = name.param;
                             std::replace_if(
                                 text.begin(), text.end(),
                                 [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                             return text;
                         });

TEST(Replay, NoiseNeedsTheLogAndWithoutItTheSitesDiffer) {
    auto order = makeOrderWithEntries();
    const auto digests = trainedDigests(order, order.sub("a"));
    const auto obeyed = replayOf(order, order.sub("a"), {.profile = "noise=0.9,threads=1"});
    EXPECT_FALSE(obeyed.result.mismatch);
    EXPECT_EQ(obeyed.digests, digests);
    EXPECT_GT(obeyed.result.entries, 0u);
    EXPECT_GT(obeyed.result.corrections, 0u);
    EXPECT_LE(obeyed.result.corrections, obeyed.result.entries);
    EXPECT_GT(obeyed.result.freedom, 0u);
    const auto ignored = replayOf(order, order.sub("a"), {.profile = "noise=0.9,threads=1", .ignoreLog = true});
    EXPECT_NE(ignored.digests, digests);
    EXPECT_EQ(ignored.digests.size(), digests.size()); // it goes on, to show how far the runs drift
    for (const auto& finding : ignored.result.findings) {
        EXPECT_FALSE(finding.failure); // and accuses nobody
    }
    const auto plain = replayOf(order, order.sub("a"), {.ignoreLog = true});
    EXPECT_EQ(plain.digests, digests); // the trainer's own kernel needs no log
}

TEST(Replay, ARangeStartsAtTheNearestCheckpoint) {
    auto order = makeStandardOrder("gpt");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto from = [&](std::vector<engine::StepSpan> spans) {
        return replayOf(order, order.sub("a"), {.spans = std::move(spans)});
    };
    const auto exact = from({{5, 6}});
    EXPECT_EQ(exact.steps, (std::vector<std::uint64_t>{5, 6}));
    EXPECT_EQ(exact.result.stepsChecked, 2u);
    EXPECT_TRUE(exact.result.finalState.has_value());
    const auto between = from({{4, 4}});
    EXPECT_EQ(between.steps, (std::vector<std::uint64_t>{3, 4})); // step 3 is on the way
    EXPECT_EQ(between.result.stepsChecked, 1u);
    EXPECT_FALSE(between.result.finalState.has_value());
    const auto several = from({{1, 2}, {5, 5}});
    EXPECT_EQ(several.steps, (std::vector<std::uint64_t>{1, 2, 5}));
    EXPECT_EQ(several.result.stepsChecked, 3u);
}

TEST(Replay, ResumesBehindWhatWasVerified) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto at = [&](std::uint64_t verified) {
        return replayOf(order, order.sub("a"), {.verifiedThrough = verified});
    };
    EXPECT_EQ(at(0).steps.front(), 1u);
    EXPECT_EQ(at(1).steps.front(), 1u);
    EXPECT_EQ(at(4).steps, (std::vector<std::uint64_t>{5, 6}));
    EXPECT_EQ(at(5).steps, (std::vector<std::uint64_t>{5, 6}));
    EXPECT_TRUE(at(6).steps.empty());
    for (std::uint64_t verified = 0; verified <= 6; ++verified) {
        EXPECT_EQ(at(verified).result.stepsChecked, 6u) << verified;
        EXPECT_FALSE(at(verified).result.mismatch);
    }
}

/// Whatever steps.bin says: a record counts only at its own place and as its leaf commits to it. The files of a folder
/// may change while an audit runs, here between opening and replaying.
TEST(Replay, RecordsThatTheLeavesDoNotCommitToAreNeverReplayed) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    std::vector<format::StepRecord> honest;
    {
        const auto submission = *format::Submission::open(order.sub("a"));
        for (std::uint64_t step = 0; step < submission.leaves(); ++step) {
            honest.push_back(*submission.step(step));
        }
    }
    struct Case {
        const char* name;
        std::uint64_t step;
        std::function<void(std::vector<format::StepRecord>&)> change;
    };
    const std::vector<Case> cases{
        {"two records exchanged", 2, [](auto& all) { std::swap(all[2], all[3]); }},
        {"a step repeated", 5, [](auto& all) { all[5] = all[4]; }},
        {"a step that does not exist", 6, [](auto& all) { all[6].leaf.step = 1ULL << 63; }},
        {"a step number of zero", 0, [](auto& all) { all[0].leaf.lossBits = 1; }},
        {"another loss", 3, [](auto& all) { all[3].leaf.lossBits ^= 1; }},
        {"another state", 4, [](auto& all) { all[4].leaf.stateRoot = base::Digest{}; }},
    };
    for (const auto& plant : cases) {
        auto records = honest;
        plant.change(records);
        base::ByteWriter steps;
        for (const auto& record : records) {
            steps.putBytes(format::serialiseStepRecord(record));
        }
        const auto submission = *format::Submission::open(order.sub("a"));
        const auto path = order.sub("a") / format::kStepsName;
        const auto before = *base::readFile(path, 1 << 20);
        ASSERT_EQ(steps.bytes().size(), before.size()) << plant.name;
        { // in place: the open submission sees it
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.write(reinterpret_cast<const char*>(steps.bytes().data()),
                       static_cast<std::streamsize>(steps.bytes().size()));
        }
        const auto data = *format::Dataset::open(order.order.data, order.data());
        auto session = *engine::Session::create(order.order, order.program, profileOf("threads=1"));
        engine::RunControl control;
        engine::ReplayRequest request;
        request.spans = {{1, 6}};
        const auto result = engine::replay(session, data, submission, request, {}, control);
        ASSERT_TRUE(result) << plant.name << ": " << result.error().toString();
        EXPECT_TRUE(result->mismatch) << plant.name;
        EXPECT_EQ(firstFailure(*result).part, "chain") << plant.name;
        EXPECT_EQ(firstFailure(*result).step, plant.step) << plant.name;
        std::ofstream(path, std::ios::binary | std::ios::in)
            .write(reinterpret_cast<const char*>(before.data()), static_cast<std::streamsize>(before.size()));
    }
}

/// leaves.bin is read once: what was committed cannot change under an audit.
TEST(Replay, LeavesAreKeptAsTheyWereWhenTheSubmissionWasOpened) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = *format::Submission::open(order.sub("a"));
    const auto before = submission.leafHash(1);
    const auto path = order.sub("a") / format::kLeavesName;
    std::ofstream(path, std::ios::binary | std::ios::in) << std::string(submission.leafHashes().size(), 'x');
    EXPECT_EQ(submission.leafHash(1), before);
}

/// A log beyond anything its sites could need is refused by its size, before any of it is read.
TEST(Replay, AnAbsurdlyLargeLogIsRejectedUnread) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto log = order.sub("a") / format::logName(4);
    base::fs::resize_file(log, 1ULL << 35); // sparse
    // The manifest says so too, without the digest: that check has its own test.
    auto manifest = *format::parseManifest(*base::readFile(order.sub("a") / format::kManifestName, 1 << 20));
    for (auto& entry : manifest.files) {
        entry.size = entry.name == format::logName(4) ? 1ULL << 35 : entry.size;
    }
    ASSERT_TRUE(base::writeFileAtomic(order.sub("a") / format::kManifestName, format::serialiseManifest(manifest)));
    const auto replayed = replayOf(order, order.sub("a"));
    EXPECT_EQ(firstFailure(replayed.result).part, "log_root");
    EXPECT_EQ(firstFailure(replayed.result).step, 4u);
    EXPECT_EQ(replayed.result.stepsChecked, 3u);
}

/// The client's order counts, not the submission's.
TEST(Replay, TakesEveryValueFromTheClientsOrder) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto partWith = [&](auto change) {
        auto client = order.order;
        change(client);
        return firstFailure(replayOf(order, order.sub("a"), {.order = &client}).result).part;
    };
    EXPECT_EQ(partWith([](format::Order& o) { o.optimizer.learningRate *= 2; }), "learning_rate");
    EXPECT_EQ(partWith([](format::Order& o) { o.seed += 1; }), "batch");
    EXPECT_NE(partWith([](format::Order& o) { o.optimizer.weightDecay = 0.1f; }), "");
}

TEST(Replay, StopsAtTheFirstStepThatDiffersAndNamesTensorAndElement) {
    // A checkpoint in the middle is exchanged together with everything that commits to it: only the replay can tell.
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = *format::Submission::open(order.sub("a"));
    const auto file = *submission.checkpoint(4);
    auto tensors = file.tensors();
    std::vector<float> values;
    for (auto& tensor : tensors) {
        if (tensor.name == "head.bias") {
            values = *format::floatsOf(tensor);
            values[3] += 1.0f;
            tensor.bytes = format::bytesOf(values);
        }
    }
    const auto commitment = format::commitState(tensors);
    // Rewrite the submission with that state at step 4.
    auto writer = *format::SubmissionWriter::create(order.sub("b"), *base::readFile(order.file(), 1 << 20),
                                                    *base::readFile(order.data() / "program.json", 1 << 20),
                                                    order.data() / "init.safetensors", "x");
    for (std::uint64_t step = 0; step <= 6; ++step) {
        auto record = *submission.step(step);
        record.leaf.previous = writer.lastLeafHash();
        if (step == 4) {
            record.leaf.stateRoot = commitment.root;
            record.tensorRoots = commitment.tensorRoots;
        }
        if (step > 0 && step % 2 == 0) {
            const auto state = *submission.checkpoint(step);
            ASSERT_TRUE(writer.writeCheckpoint(step == 4 ? tensors : state.tensors()));
        }
        ASSERT_TRUE(
            writer.append(record.leaf, record.tensorRoots, step == 0 ? base::ByteVector{} : *submission.log(step)));
    }
    ASSERT_TRUE(writer.finish(testKey(), "test"));
    const auto replayed = replayOf(order, order.sub("b"));
    const auto where = firstFailure(replayed.result);
    EXPECT_EQ(where.part, "state_root");
    EXPECT_EQ(where.source, "checkpoint");
    EXPECT_EQ(where.step, 4u);
    EXPECT_EQ(where.tensor, "head.bias");
    EXPECT_EQ(where.element, 3u);
    ASSERT_TRUE(where.claimedValue && where.computedValue);
    EXPECT_EQ(*where.claimedValue, values[3]);
    EXPECT_EQ(replayed.steps, (std::vector<std::uint64_t>{1, 2, 3, 4}));
    EXPECT_EQ(replayed.result.stepsChecked, 3u);
    EXPECT_FALSE(replayed.result.auditorAtFault);
    // A range that starts there trusts the checkpoint, as it must, and finds that step 5 does not follow from it.
    const auto later = replayOf(order, order.sub("b"), {.spans = {{5, 6}}});
    EXPECT_TRUE(later.result.mismatch);
    EXPECT_EQ(firstFailure(later.result).step, 5u);
}

/// An auditor that computes wrongly now and then must not accuse: a hook breaks one element in the first pass only.
TEST(Replay, AnAuditorThatContradictsItselfAccusesNobody) {
    struct Glitch final : engine::SiteHook {
        base::Result<void> completed(std::uint64_t step, const engine::Site& site, std::span<float> values) override {
            if (step == 5 && site.name == "head / y") {
                values[0] += 1.0f;
            }
            return {};
        }
    };
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = *format::Submission::open(order.sub("a"));
    const auto data = *format::Dataset::open(order.order.data, order.data());
    auto session = *engine::Session::create(order.order, order.program, profileOf("threads=1"));
    Glitch glitch; // hooks watch the first pass; the repetition runs without them
    engine::ReplayRequest request;
    request.spans = {{1, 6}};
    request.hooks = {&glitch};
    engine::RunControl control;
    const auto result = *engine::replay(session, data, submission, request, {}, control);
    EXPECT_TRUE(result.auditorAtFault);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_FALSE(result.faultText.empty());
}

TEST(Replay, StopsOnRequest) {
    auto order = makeStandardOrder("mlp");
    ASSERT_TRUE(trainTo(order, order.sub("a")));
    const auto submission = *format::Submission::open(order.sub("a"));
    const auto data = *format::Dataset::open(order.order.data, order.data());
    auto session = *engine::Session::create(order.order, order.program, profileOf("threads=1"));
    engine::RunControl control;
    engine::ReplayEvents events;
    events.step = [&](const engine::ReplayStep& step) {
        if (step.step == 2) {
            control.requestStop();
        }
    };
    engine::ReplayRequest request;
    request.spans = {{1, 6}};
    const auto result = *engine::replay(session, data, submission, request, events, control);
    EXPECT_TRUE(result.cancelled);
    EXPECT_EQ(result.stepsChecked, 2u);
}

} // namespace
} // namespace assay::test
