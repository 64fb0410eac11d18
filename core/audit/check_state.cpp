// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/audit/detail/outcome.h"
#include "core/audit/static_checks.h"
#include "core/base/words.h"
#include "core/crypto/sha256.h"
#include "core/format/state_tree.h"

namespace assay::audit {

namespace {

using detail::Outcome;

unsigned hashingThreads() {
    return std::max(1U, std::thread::hardware_concurrency());
}

/// Compares a checkpoint's tensors with what the leaf of its step commits to.
base::Result<void> compareCheckpoint(Outcome& outcome, const format::Submission& submission, std::uint64_t step,
                                     Part part) {
    ASSAY_TRY(state, submission.checkpoint(step));
    ASSAY_TRY(record, submission.step(step));
    FirstDivergence where;
    where.source = Source::checkpoint;
    where.step = step;
    if (!record.leaf.stateRoot) {
        outcome.fail(part, where,
                     fmt::format("step {} has a checkpoint file but no state root to compare it with", step));
        return {};
    }
    const auto own = format::commitState(state.tensors(), hashingThreads());
    if (own.root == *record.leaf.stateRoot) {
        return {};
    }
    // Without a tensor to name, the roots themselves are what differs.
    where.claimed = record.leaf.stateRoot->toHex();
    where.computed = own.root.toHex();
    std::string text =
        fmt::format("{} does not hold the state that step {} committed to", format::checkpointName(step), step);
    if (record.tensorRoots.size() == own.tensorRoots.size()) {
        for (std::size_t i = 0; i < own.tensorRoots.size(); ++i) {
            if (own.tensorRoots[i] != record.tensorRoots[i]) {
                where.tensor = state.tensors()[i].name;
                where.claimed = record.tensorRoots[i].toHex();
                where.computed = own.tensorRoots[i].toHex();
                text += fmt::format("; the first tensor that differs is {}", *where.tensor);
                break;
            }
        }
    }
    outcome.fail(part, where, std::move(text));
    return {};
}

} // namespace

base::Result<CheckOutcome> checkInitialState(const format::Submission& submission, const AuditorInputs& inputs) {
    Outcome outcome(Check::initialState);
    const auto& order = inputs.order(submission);
    ASSAY_TRY(initial, submission.checkpoint(0));
    FirstDivergence where;
    where.source = Source::checkpoint;
    where.step = 0;
    if (const auto digest = crypto::sha256(initial.fileBytes()); digest != order.initialState) {
        where.claimed = digest.toHex();
        where.computed = order.initialState.toHex();
        outcome.fail(Part::initialState, where, "init.safetensors is not the initial state of the order");
    }

    // Leaf 0 commits to the whole state. What the optimizer adds to it starts at zero; its names and shapes are in the
    // checkpoints.
    std::vector<format::TensorView> tensors = initial.tensors();
    std::optional<format::Safetensors> last;
    base::ByteVector zeros;
    if (!submission.checkpoints().empty()) {
        ASSAY_TRY(opened, submission.checkpoint(submission.checkpoints().back()));
        last = std::move(opened);
        std::size_t longest = 0;
        for (const auto& tensor : last->tensors()) {
            longest = initial.find(tensor.name) == nullptr ? std::max(longest, tensor.bytes.size()) : longest;
        }
        zeros.assign(longest, 0);
        for (const auto& tensor : last->tensors()) {
            if (initial.find(tensor.name) == nullptr) {
                tensors.push_back(
                    {tensor.name, tensor.dtype, tensor.shape, base::ByteView(zeros).first(tensor.bytes.size())});
            }
        }
    }
    ASSAY_TRY(record, submission.step(0));
    if (!record.leaf.stateRoot) {
        outcome.fail(Part::initialState, where, "leaf 0 does not commit to an initial state");
        return outcome.finish({});
    }
    // A run that broke down before its first checkpoint shows no optimizer state; its leaf 0 is compared by the replay
    // instead.
    const bool stateKnown = last.has_value() || record.tensorRoots.size() == tensors.size();
    if (stateKnown) {
        const auto own = format::commitState(tensors, hashingThreads());
        if (own.root != *record.leaf.stateRoot) {
            where.claimed = record.leaf.stateRoot->toHex();
            where.computed = own.root.toHex();
            outcome.fail(Part::initialState, where, "leaf 0 does not commit to the state in init.safetensors");
        }
    } else {
        outcome.warn(
            "leaf 0 was left to the replay: the submission has no checkpoint that shows the optimizer's state");
    }
    return outcome.finish(fmt::format("{} tensors, digest of the order{}", initial.tensors().size(),
                                      stateKnown ? ", committed by leaf 0" : ""));
}

base::Result<CheckOutcome> checkFinalCheckpoint(const format::Submission& submission, const base::ProgressFn& progress,
                                                std::stop_token stop) {
    Outcome outcome(Check::finalCheckpoint);
    const auto& checkpoints = submission.checkpoints();
    const auto last = submission.steps();
    const bool diverged = submission.commitment().diverged;
    if (!diverged && (checkpoints.empty() || checkpoints.back() != last)) {
        FirstDivergence where;
        where.source = Source::checkpoint;
        where.step = last;
        outcome.fail(Part::finalFile, where,
                     fmt::format("the checkpoint file of the last step ({}) is missing", format::checkpointName(last)));
    }
    for (std::size_t i = 0; i < checkpoints.size(); ++i) {
        if (stop.stop_requested()) {
            return base::fail(base::ErrorCode::cancelled, "stopped while the checkpoint files were checked");
        }
        if (checkpoints[i] > last) {
            FirstDivergence where;
            where.source = Source::checkpoint;
            where.step = checkpoints[i];
            outcome.fail(
                Part::finalFile, where,
                fmt::format("there is a checkpoint of step {}, but the last step is {}", checkpoints[i], last));
            continue;
        }
        ASSAY_CHECK(compareCheckpoint(outcome, submission, checkpoints[i],
                                      checkpoints[i] == last ? Part::finalFile : Part::stateRoot));
        if (progress) {
            progress({"checkpoints", i + 1, checkpoints.size(), "files"});
        }
    }
    return outcome.finish(checkpoints.empty()
                              ? std::string("the run broke down before its first checkpoint")
                              : base::counted(checkpoints.size(), "checkpoint file holds", "checkpoint files hold") +
                                    " the committed " + (checkpoints.size() == 1 ? "state" : "states"));
}

} // namespace assay::audit
