// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/crypto/sha256.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/format/state_tree.h"
#include "core/format/submission.h"

/// A tiny, fixed training: small enough for golden bytes, complete enough for every file of a submission. Nothing is
/// really computed: the "state" of step t is a simple function of t.
namespace assay::test {

/// Temporary folders of these tests lie in memory where possible: what is tested is the logic, not the disk's fsync.
inline const bool kInMemory = [] {
    std::error_code code;
    return std::filesystem::is_directory("/dev/shm", code) && setenv("TMPDIR", "/dev/shm", 0) == 0;
}();

inline format::Program tinyProgram() {
    format::Program program;
    program.title = "tiny";
    program.batch = {{"image", "f32", {0, 1, 2, 2}, "parameter", ""}, {"label", "i64", {0}, "parameter", ""}};
    program.tensors = {{"head.weight", "f32", {3, 4}, "parameter", "normal 3d4ccccd"},
                       {"head.bias", "f32", {3}, "parameter", "zeros"}};
    program.operators = {
        {"flatten", "reshape", {"image"}, {"flatten"}, {{"shape", std::vector<std::int64_t>{0, -1}}}, ""},
        {"head", "linear", {"flatten", "head.weight", "head.bias"}, {"head"}, {}, "tiny.py:7"},
        {"drop", "dropout", {"head"}, {"drop"}, {{"p", 0.5f}}, ""},
        {"loss", "cross_entropy", {"drop", "label"}, {"loss"}, {}, ""},
    };
    program.loss = "loss";
    program.logits = "head";
    return program;
}

/// Values of the tiny program's parameters after `step` steps.
struct TinyState {
    std::vector<float> weight, bias;
    std::vector<std::int64_t> counter;

    explicit TinyState(std::uint64_t step) {
        for (int i = 0; i < 12; ++i) {
            weight.push_back(0.25f * static_cast<float>(i) + static_cast<float>(step));
        }
        bias = {0.0f, 1.0f, -2.0f * static_cast<float>(step + 1)};
        counter = {static_cast<std::int64_t>(step)};
    }
    [[nodiscard]] std::vector<format::TensorView> parameters() const {
        return {{"head.weight", "F32", {3, 4}, format::bytesOf(weight)},
                {"head.bias", "F32", {3}, format::bytesOf(bias)}};
    }
    /// Parameters and a counter, as a checkpoint holds them.
    [[nodiscard]] std::vector<format::TensorView> all() const {
        auto views = parameters();
        views.push_back({"optimizer.step", "I64", {}, {reinterpret_cast<const std::uint8_t*>(counter.data()), 8}});
        return views;
    }
};

inline base::ByteVector tinyInit() {
    return *format::serialiseSafetensors(TinyState(0).parameters());
}

inline format::Order tinyOrder(std::uint64_t steps = 4, std::uint64_t checkpointEvery = 2) {
    format::Order order;
    order.title = "tiny";
    order.program = format::programDigest(tinyProgram());
    order.initialState = crypto::sha256(tinyInit());
    order.initialiser = "philox-normal/1";
    order.data.reader = "bytes";
    order.data.files = {{"data.txt", 50, crypto::sha256(base::asBytes("data"))}};
    order.data.samples = 8;
    order.data.heldOut = 2;
    order.data.imageShape = {1, 2, 2};
    order.data.classes = 256;
    order.data.task = "classification";
    order.data.sampleRoot = crypto::sha256(base::asBytes("samples"));
    order.data.transform = "unit/1";
    order.loop.steps = steps;
    order.loop.batch = 2;
    order.optimizer.learningRate = 0.1f;
    order.optimizer.momentum = 0.9f;
    order.checkpointEvery = checkpointEvery;
    order.seed = 7;
    order.metric = "accuracy";
    return order;
}

/// Not a real log, which is another folder's business: some bytes that differ from step to step.
inline base::ByteVector tinyLog(std::uint64_t step) {
    base::ByteVector log{'l', 'o', 'g'};
    for (std::uint64_t i = 0; i < 5 + step % 3; ++i) {
        log.push_back(static_cast<std::uint8_t>(step * 31 + i));
    }
    return log;
}

inline format::LeafData tinyLeaf(const format::Order& order, std::uint64_t step, const base::Digest& previous,
                                 const format::StateCommitment& state) {
    format::LeafData leaf;
    leaf.order = format::orderDigest(order);
    leaf.step = step;
    leaf.previous = previous;
    if (step == 0) {
        leaf.batch = format::batchDigest({}, {});
        leaf.logRoot = format::logRoot({});
    } else {
        const std::vector<std::uint64_t> indices = format::batchIndices(order, step);
        std::vector<base::Digest> digests;
        for (const auto index : indices) {
            digests.push_back(crypto::sha256(base::asBytes(std::to_string(index))));
        }
        leaf.batch = format::batchDigest(indices, digests);
        leaf.learningRateBits = std::bit_cast<std::uint32_t>(0.1f);
        leaf.lossBits = std::bit_cast<std::uint32_t>(2.0f / static_cast<float>(step));
        const auto log = tinyLog(step);
        const std::vector<base::ByteView> sections{log};
        leaf.logRoot = format::logRoot(sections);
    }
    if (format::stateRootDue(order, step)) {
        leaf.stateRoot = state.root;
    }
    return leaf;
}

/// Appends the next step of the tiny training.
inline base::Result<void> tinyStep(format::SubmissionWriter& writer) {
    const auto step = writer.leaves();
    const TinyState state(step);
    const auto commitment = format::commitState(state.all());
    if (format::checkpointDue(writer.order(), step)) {
        ASSAY_CHECK(writer.writeCheckpoint(state.all()));
    }
    const auto leaf = tinyLeaf(writer.order(), step, writer.lastLeafHash(), commitment);
    return writer.append(leaf, commitment.tensorRoots, step == 0 ? base::ByteVector{} : tinyLog(step));
}

/// Starts a tiny training in `folder`, whose init file goes beside it.
inline base::Result<format::SubmissionWriter> tinyWriter(const base::fs::path& folder, const format::Order& order,
                                                         const std::string& profile = "haswell") {
    const auto beside = folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
    const auto init = beside / "tiny-init.safetensors";
    ASSAY_CHECK(base::writeFileAtomic(init, tinyInit()));
    ASSAY_TRY(orderText, format::serialiseOrder(order));
    ASSAY_TRY(programText, format::serialiseProgram(tinyProgram()));
    return format::SubmissionWriter::create(folder, base::asBytes(orderText), base::asBytes(programText), init,
                                            profile);
}

inline base::Result<void> finishTiny(format::SubmissionWriter& writer, std::string_view keyPem = {}) {
    while (writer.leaves() <= writer.order().loop.steps) {
        ASSAY_CHECK(tinyStep(writer));
    }
    return writer.finish(keyPem, "0.1.0");
}

inline base::Result<void> tinySubmission(const base::fs::path& folder, const format::Order& order = tinyOrder(),
                                         std::string_view keyPem = {}) {
    ASSAY_TRY(writer, tinyWriter(folder, order));
    return finishTiny(writer, keyPem);
}

} // namespace assay::test
