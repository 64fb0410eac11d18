// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/audit/detail/outcome.h"
#include "core/audit/static_checks.h"
#include "core/format/state_tree.h"
#include "core/merkle/checkpoint_note.h"
#include "core/merkle/tree.h"

namespace assay::audit {

namespace {

using detail::Outcome;

FirstDivergence at(std::uint64_t step) {
    FirstDivergence where;
    where.source = Source::leaf;
    where.step = step;
    return where;
}

FirstDivergence at(std::uint64_t step, const base::Digest& claimed, const base::Digest& computed) {
    auto where = at(step);
    where.claimed = claimed.toHex();
    where.computed = computed.toHex();
    return where;
}

/// Checks the leaves one after the other. What it needs of the leaf before is kept.
class LeafChecker {
public:
    LeafChecker(Outcome& outcome, const format::Submission& submission, const format::Order& order,
                const format::Safetensors* state)
        : m_outcome(outcome), m_submission(submission), m_order(order), m_state(state) {}

    base::Result<void> check(std::uint64_t step) {
        ASSAY_TRY(bytes, m_submission.leafBytes(step));
        ASSAY_TRY(record, m_submission.step(step));
        const auto listed = m_submission.leafHash(step);
        const auto own = format::leafHash(base::ByteView(bytes));
        if (listed != own) {
            m_outcome.fail(Part::chain, at(step, listed, own),
                           fmt::format("step {}: the leaf in leaves.bin is not the hash of the step's record", step));
        }
        checkChain(step, record.leaf);
        checkDue(step, record.leaf);
        checkCheckpoint(step, record.leaf);
        checkLog(step, record);
        checkTensorRoots(step, record);
        m_previous = listed;
        return {};
    }

private:
    void checkChain(std::uint64_t step, const format::LeafData& leaf) {
        if (leaf.step != step) {
            m_outcome.fail(Part::chain, at(step),
                           fmt::format("the record at place {} says that it is step {}", step, leaf.step));
        }
        if (leaf.order != m_submission.orderDigest()) {
            m_outcome.fail(Part::chain, at(step, leaf.order, m_submission.orderDigest()),
                           fmt::format("step {} belongs to another order", step));
        }
        if (leaf.previous != m_previous) {
            m_outcome.fail(Part::chain, at(step, leaf.previous, m_previous),
                           fmt::format("step {} does not continue the step before it", step));
        }
        const bool isLast = step + 1 == m_submission.leaves();
        if (leaf.diverged && (!isLast || step == 0)) {
            m_outcome.fail(Part::chain, at(step),
                           fmt::format("step {} says that the run broke down, but it went on", step));
        }
        if (isLast && leaf.diverged != m_submission.commitment().diverged) {
            m_outcome.fail(Part::chain, at(step),
                           "commitment.json and the last step disagree about whether the run broke down");
        }
        if (step == 0 && (leaf.batch != format::batchDigest({}, {}) || leaf.logRoot != format::logRoot({}) ||
                          leaf.learningRateBits != 0 || leaf.lossBits != 0)) {
            m_outcome.fail(Part::chain, at(step), "the leaf of the initial state holds values of a training step");
        }
    }

    void checkDue(std::uint64_t step, const format::LeafData& leaf) {
        const bool rootDue = !leaf.diverged && format::stateRootDue(m_order, step);
        if (leaf.stateRoot.has_value() != rootDue) {
            m_outcome.fail(Part::stateRoot, at(step),
                           fmt::format("step {} {} a state root", step, rootDue ? "lacks" : "must not have"));
        }
        const bool evaluationDue = !leaf.diverged && format::evaluationDue(m_order, step);
        if (leaf.evaluationBits.has_value() != evaluationDue) {
            m_outcome.fail(
                Part::evaluation, at(step),
                fmt::format("step {} {} an evaluation value", step, evaluationDue ? "lacks" : "must not have"));
        }
    }

    /// Exactly the checkpoints of the order: an auditor's segments lie between them, and the client is owed them. The
    /// last step's is another check's business.
    void checkCheckpoint(std::uint64_t step, const format::LeafData& leaf) {
        const auto& all = m_submission.checkpoints();
        const bool there = std::binary_search(all.begin(), all.end(), step);
        const bool due = !leaf.diverged && format::checkpointDue(m_order, step);
        if (there == due || (due && step == m_order.loop.steps)) {
            return;
        }
        auto where = at(step);
        where.source = Source::checkpoint;
        m_outcome.fail(Part::stateRoot, where,
                       fmt::format("step {} {} a checkpoint file", step, due ? "lacks" : "must not have"));
    }

    void checkLog(std::uint64_t step, const format::StepRecord& record) {
        const auto* file = m_submission.manifest().find(format::logName(step));
        const bool due = step > 0 && !record.leaf.diverged;
        auto where = at(step);
        where.source = Source::log;
        if (!due) {
            if (file != nullptr || record.logBytes != 0 || record.logSha256 != base::Digest{}) {
                m_outcome.fail(Part::logRoot, where, fmt::format("step {} must not have a rounding log", step));
            }
            return;
        }
        if (file == nullptr) {
            m_outcome.fail(Part::logRoot, where, fmt::format("the rounding log of step {} is missing", step));
            return;
        }
        if (file->size != record.logBytes || file->sha256 != record.logSha256) {
            where.claimed = record.logSha256.toHex();
            where.computed = file->sha256.toHex();
            m_outcome.fail(
                Part::logRoot, where,
                fmt::format("the rounding log of step {} ({} bytes) is not the one that the step recorded ({} bytes)",
                            step, file->size, record.logBytes));
        }
    }

    void checkTensorRoots(std::uint64_t step, const format::StepRecord& record) {
        if (!record.leaf.stateRoot) {
            if (!record.tensorRoots.empty()) {
                m_outcome.fail(Part::stateRoot, at(step),
                               fmt::format("step {} lists tensors without a state root", step));
            }
            return;
        }
        if (m_state == nullptr) {
            return;
        }
        const auto& tensors = m_state->tensors();
        if (record.tensorRoots.size() != tensors.size()) {
            m_outcome.fail(Part::stateRoot, at(step),
                           fmt::format("step {} lists {} tensors, the checkpoint holds {}", step,
                                       record.tensorRoots.size(), tensors.size()));
            return;
        }
        const auto root = format::stateRootFrom(tensors, record.tensorRoots);
        if (root != *record.leaf.stateRoot) {
            m_outcome.fail(Part::stateRoot, at(step, *record.leaf.stateRoot, root),
                           fmt::format("the tensors listed for step {} do not give its state root", step));
        }
    }

    Outcome& m_outcome;
    const format::Submission& m_submission;
    const format::Order& m_order;
    const format::Safetensors* m_state;
    base::Digest m_previous; ///< listed hash of the leaf before; zero before leaf 0
};

void checkCommitment(Outcome& outcome, const format::Submission& submission, const format::Order& order) {
    const auto& commitment = submission.commitment();
    const auto leaves = submission.leaves();
    if (commitment.order != submission.orderDigest()) {
        outcome.fail(Part::chain, {}, "commitment.json belongs to another order");
    }
    if (commitment.leaves != leaves) {
        outcome.fail(
            Part::chain, {},
            fmt::format("commitment.json speaks of {} leaves, leaves.bin holds {}", commitment.leaves, leaves));
    }
    std::vector<base::Digest> hashes(leaves);
    for (std::uint64_t i = 0; i < leaves; ++i) {
        hashes[i] = submission.leafHash(i);
    }
    if (const auto root = merkle::rootOf(hashes); root != commitment.root) {
        FirstDivergence where;
        where.claimed = commitment.root.toHex();
        where.computed = root.toHex();
        outcome.fail(Part::chain, where, "the committed root is not the root of the leaves");
    }
    const auto note = merkle::parseCheckpoint(commitment.checkpointNote);
    if (!note) {
        outcome.fail(Part::chain, {}, fmt::format("the checkpoint note cannot be read: {}", note.error().message));
    } else if (note->checkpoint.root != commitment.root || note->checkpoint.size.value != commitment.leaves) {
        outcome.fail(Part::chain, {}, "the checkpoint note and commitment.json state different roots or sizes");
    } else if (const auto origin = fmt::format("assay/training/{}", submission.orderDigest().toHex());
               note->checkpoint.origin != origin) {
        FirstDivergence where;
        where.claimed = note->checkpoint.origin;
        where.computed = origin;
        outcome.fail(Part::chain, where, "the checkpoint note belongs to another training");
    }
    const auto steps = leaves - 1;
    if (steps < order.loop.steps && !commitment.diverged) {
        outcome.fail(Part::chain, at(steps + 1),
                     fmt::format("the order demands {} steps, the submission ends after {}", order.loop.steps, steps));
    } else if (steps > order.loop.steps) {
        outcome.fail(Part::chain, at(order.loop.steps + 1),
                     fmt::format("the order demands {} steps, the submission has {}", order.loop.steps, steps));
    }
}

} // namespace

base::Result<CheckOutcome> checkMerkle(const format::Submission& submission, const AuditorInputs& inputs,
                                       const base::ProgressFn& progress, std::stop_token stop) {
    Outcome outcome(Check::merkle);
    const auto& order = inputs.order(submission);
    const auto leaves = submission.leaves();
    if (leaves == 0) {
        outcome.fail(Part::chain, {}, "the submission commits to nothing");
        return outcome.finish({});
    }
    checkCommitment(outcome, submission, order);
    // Names and shapes of the state come from the last checkpoint: init.safetensors need not hold what the optimizer
    // adds.
    std::optional<format::Safetensors> state;
    if (!submission.checkpoints().empty()) {
        ASSAY_TRY(last, submission.checkpoint(submission.checkpoints().back()));
        state = std::move(last);
    }
    LeafChecker checker(outcome, submission, order, state ? &*state : nullptr);
    for (std::uint64_t step = 0; step < leaves; ++step) {
        if (stop.stop_requested()) {
            return base::fail(base::ErrorCode::cancelled, "stopped while the leaves were checked");
        }
        ASSAY_CHECK(checker.check(step));
        if (progress && (step % 256 == 255 || step + 1 == leaves)) {
            progress({"merkle", step + 1, leaves, "leaves"});
        }
    }
    return outcome.finish(
        fmt::format("{} leaves form an unbroken chain with root {}", leaves, submission.commitment().root.shortHex()));
}

} // namespace assay::audit
