// SPDX-License-Identifier: Apache-2.0
#include "core/engine/replay_step.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/crypto/sha256.h"
#include "core/numerics/log_codec.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t kOffencesReported = 20; ///< findings per step; all are counted

ReplayFinding leafFinding(const format::StepRecord& record, std::string_view part, std::string text) {
    ReplayFinding finding;
    finding.where.source = "leaf";
    finding.where.step = record.leaf.step;
    finding.where.part = std::string(part);
    finding.text = std::move(text);
    return finding;
}

ReplayFinding offenceFinding(const Session& session, std::uint64_t step, const SiteOffence& offence) {
    const auto& site = session.sites()[offence.site];
    ReplayFinding finding;
    auto& where = finding.where;
    where.source = "log";
    where.step = step;
    where.part = "log_root";
    where.site = site.name;
    if (site.operatorIndex != kNone) {
        where.operatorName = session.program().operators[site.operatorIndex].name;
    }
    where.element = offence.offence.index;
    where.computedValue = offence.offence.own;
    where.claimedValue = offence.offence.logged;
    finding.text = fmt::format("step {}, site \"{}\", element {}: {} in the rounding log", step, site.name,
                               offence.offence.index, numerics::toString(offence.offence.kind));
    return finding;
}

ReplayFinding partFinding(const Session& session, const format::StepRecord& record, const ReplayedStep& replayed,
                          std::string_view part) {
    const auto& claimed = record.leaf;
    const auto& own = replayed.outcome.leaf;
    auto finding = leafFinding(record, part, {});
    auto& where = finding.where;
    const auto floats = [&](std::uint32_t theirs, std::uint32_t ours, std::string_view what) {
        where.claimedValue = std::bit_cast<float>(theirs);
        where.computedValue = std::bit_cast<float>(ours);
        finding.text = fmt::format("step {}: the {} is claimed to be {}, the replay gives {}", claimed.step, what,
                                   *where.claimedValue, *where.computedValue);
    };
    if (part == "batch") {
        where.claimedText = claimed.batch.toHex();
        where.computedText = own.batch.toHex();
        finding.text = fmt::format("step {}: trained on other samples than the order demands", claimed.step);
    } else if (part == "learning_rate") {
        floats(claimed.learningRateBits, own.learningRateBits, "learning rate");
    } else if (part == "loss") {
        floats(claimed.lossBits, own.lossBits, "loss");
    } else if (part == "log_root") {
        where.claimedText = claimed.logRoot.toHex();
        where.computedText = own.logRoot.toHex();
        finding.text = fmt::format("step {}: the rounding log is not the one that the leaf commits to", claimed.step);
    } else if (part == "evaluation") {
        if (claimed.evaluationBits && own.evaluationBits) {
            floats(*claimed.evaluationBits, *own.evaluationBits,
                   session.order().metric == "accuracy" ? "accuracy" : "held-out loss");
        } else {
            finding.text = fmt::format("step {}: {} evaluation value in the leaf", claimed.step,
                                       own.evaluationBits ? "no" : "an undue");
        }
    } else if (claimed.diverged != own.diverged || claimed.divergedSite != own.divergedSite) {
        finding.text = own.diverged
                           ? fmt::format("step {}: the replay meets a non-finite value at \"{}\", the claim {}",
                                         claimed.step, own.divergedSite,
                                         claimed.diverged ? fmt::format("at \"{}\"", claimed.divergedSite) : "does not")
                           : fmt::format("step {}: the run is claimed to have diverged at \"{}\", the replay does not",
                                         claimed.step, claimed.divergedSite);
        if (own.diverged) {
            where.site = own.divergedSite;
        }
    } else {
        finding.text =
            fmt::format("step {}: the leaf does not follow the one before, or answers another order", claimed.step);
    }
    return finding;
}

} // namespace

namespace {

/// More than the canonical log of a step can have. Per value: 32 bits of payload, about 2 for its place among the
/// others and among the wholes; the fixed fields of a section are below 64 bytes.
std::uint64_t largestLog(const Session& session, std::uint64_t step) {
    constexpr std::uint64_t kHeader = 64;
    constexpr std::uint64_t kPerSection = 64;
    constexpr std::uint64_t kPerValue = 8;
    const auto sections = session.sectionsOf(step);
    std::uint64_t bytes = kHeader;
    for (const auto& site : session.sites()) {
        if (site.product && site.section < sections) {
            bytes += kPerSection + kPerValue * site.values;
        }
    }
    return bytes;
}

} // namespace

base::Digest ReplayedStep::fingerprint() const {
    base::ByteWriter all;
    all.putBytes(format::serialiseLeaf(outcome.leaf));
    for (const auto value : {outcome.entries, outcome.correctionCount, outcome.offenceCount, outcome.freedom}) {
        all.put(value);
    }
    for (const auto& offence : outcome.offences) {
        all.put(offence.site);
        all.put(offence.offence.index);
        all.put(static_cast<std::uint8_t>(offence.offence.kind));
        all.put(offence.offence.own);
    }
    return crypto::sha256(all.bytes());
}

Result<ReplayedStep> replayStep(Session& session, const format::Dataset& data, const format::Submission& submission,
                                const format::StepRecord& record, TrainingState& state, bool ignoreLog,
                                std::span<SiteHook* const> hooks) {
    const std::uint64_t step = record.leaf.step;
    ReplayedStep result;
    ASSAY_TRY(inputs, session.inputsOf(step));
    const auto batch = format::batchDigest(inputs.indices, data.sampleDigests(inputs.indices));
    result.otherInputs =
        batch != record.leaf.batch || std::bit_cast<std::uint32_t>(inputs.learningRate) != record.leaf.learningRateBits;

    base::ByteVector bytes;
    numerics::StepLogFile log;
    const numerics::StepLogFile* enforced = nullptr;
    std::optional<base::Digest> fileRoot;
    const auto* listed = submission.manifest().find(format::logName(step));
    const auto limit = largestLog(session, step);
    if (!record.leaf.diverged && listed != nullptr && listed->size > limit) {
        // Not read: it may be any number of gigabytes, and no part of it can be used.
        result.logBytes = listed->size;
        result.logCommitted = true;
        result.logFault =
            fmt::format("it has {} bytes, the sites of the program cannot need more than {}", listed->size, limit);
        fileRoot = record.leaf.logRoot;
    } else if (!record.leaf.diverged) {
        ASSAY_TRY(file, submission.log(step));
        bytes = std::move(file);
        result.logBytes = bytes.size();
        auto decoded = numerics::decodeStepLog(bytes);
        if (!decoded) {
            return fail(decoded.error().inFile((submission.folder() / format::logName(step)).string()));
        }
        log = std::move(*decoded);
        std::vector<base::ByteView> sections;
        for (const auto& section : log.sections) {
            sections.push_back(section.bytes);
        }
        fileRoot = format::logRoot(sections);
        result.logCommitted = *fileRoot == record.leaf.logRoot;
        if (log.order != session.orderDigest() || log.step != step) {
            result.logFault = log.step != step ? fmt::format("it says that it belongs to step {}", log.step)
                                               : "it belongs to another order";
        } else if (log.sections.size() != session.sectionsOf(step)) {
            result.logFault = fmt::format("it has {} sections, the program demands {}", log.sections.size(),
                                          session.sectionsOf(step));
        } else if (!result.otherInputs) {
            enforced = &log;
        }
    }
    auto outcome = session.enforce(state, data, inputs, enforced, ignoreLog, hooks);
    if (!outcome) {
        return fail(enforced != nullptr ? outcome.error().inFile((submission.folder() / format::logName(step)).string())
                                        : outcome.error());
    }
    result.outcome = std::move(*outcome);
    if (fileRoot && !result.outcome.leaf.diverged) {
        result.outcome.leaf.logRoot = *fileRoot;
    }
    result.outcome.leaf.previous = submission.leafHash(step - 1);
    return result;
}

Divergence stateRootDivergence(const TrainingState& state, const format::StepRecord& record,
                               const format::StateCommitment& own) {
    Divergence where;
    where.source = "leaf";
    where.step = record.leaf.step;
    where.part = "state_root";
    where.computedText = own.root.toHex();
    if (record.leaf.stateRoot) {
        where.claimedText = record.leaf.stateRoot->toHex();
    }
    // The claimed tensor roots only count if they are what the claimed state root commits to.
    if (record.tensorRoots.size() != own.tensorRoots.size() ||
        record.leaf.stateRoot != format::stateRootFrom(state.views(), record.tensorRoots)) {
        return where;
    }
    const auto names = state.sortedNames();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (record.tensorRoots[i] != own.tensorRoots[i]) {
            where.source = "tensor";
            where.tensor = names[i];
            where.claimedText = record.tensorRoots[i].toHex();
            where.computedText = own.tensorRoots[i].toHex();
            break;
        }
    }
    return where;
}

namespace {

/// The state after the step differs: which tensor, and which element if there is a checkpoint file that holds what the
/// leaf claims.
Result<ReplayFinding> stateFinding(const Session& session, const format::Submission& submission,
                                   const format::StepRecord& record, const ReplayedStep& replayed,
                                   const TrainingState& state) {
    const std::uint64_t step = record.leaf.step;
    ReplayFinding finding;
    const format::StateCommitment own{replayed.outcome.leaf.stateRoot.value_or(base::Digest{}),
                                      replayed.outcome.tensorRoots};
    finding.where = stateRootDivergence(state, record, own);
    finding.text = finding.where.tensor
                       ? fmt::format("step {}: tensor \"{}\" after the step is not what the replay gives", step,
                                     *finding.where.tensor)
                       : fmt::format("step {}: the state after the step is not what the replay gives", step);
    const auto& checkpoints = submission.checkpoints();
    if (!record.leaf.stateRoot || !std::binary_search(checkpoints.begin(), checkpoints.end(), step)) {
        return finding;
    }
    const auto file = submission.checkpoint(step);
    if (!file ||
        format::commitState(file->tensors(), static_cast<unsigned>(session.threads())).root != *record.leaf.stateRoot) {
        return finding; // the file is not what the leaf commits to, so it says nothing about the claim
    }
    ASSAY_TRY(element, compareCheckpoint(*file, state));
    if (element) {
        element->part = "state_root";
        finding.where = *element;
        finding.text =
            element->element
                ? fmt::format("step {}: tensor \"{}\", element {}: the checkpoint holds {}, the replay gives {}", step,
                              *element->tensor, *element->element, *element->claimedValue, *element->computedValue)
                : fmt::format("step {}: tensor \"{}\" in the checkpoint is not what the replay gives", step,
                              *element->tensor);
    }
    return finding;
}

} // namespace

Result<std::vector<ReplayFinding>> compareStep(const Session& session, const format::Submission& submission,
                                               const format::StepRecord& record, const ReplayedStep& replayed,
                                               const TrainingState& state) {
    const auto& own = replayed.outcome.leaf;
    const std::uint64_t step = record.leaf.step;
    auto parts = format::differingParts(record.leaf, own);
    const auto differs = [&](std::string_view part) {
        return std::find(parts.begin(), parts.end(), part) != parts.end();
    };
    // What counts: the first part in the order of the format. Two exceptions, because the parts in between are then not
    // comparable: a log that is not the committed one, and a run that ended on one side only.
    std::string main;
    if (differs("batch") || differs("learning_rate")) {
        main = parts.front();
    } else if (record.leaf.diverged != own.diverged || record.leaf.divergedSite != own.divergedSite) {
        main = "chain";
    } else if (!replayed.logCommitted || replayed.logFault) {
        main = "log_root";
    } else if (differs("loss")) {
        main = "loss";
    } else if (replayed.outcome.offenceCount != 0) {
        main = "log_root";
    } else if (!parts.empty()) {
        main = parts.front();
    }
    std::vector<ReplayFinding> findings;
    const auto add = [&](ReplayFinding finding) {
        finding.failure = finding.where.part == main;
        findings.push_back(std::move(finding));
    };
    if (replayed.logFault) {
        auto finding = leafFinding(record, "log_root",
                                   fmt::format("step {}: the log cannot be used: {}", step, *replayed.logFault));
        finding.where.source = "log";
        add(std::move(finding));
    }
    std::size_t reported = 0;
    for (const auto& offence : replayed.outcome.offences) {
        if (reported++ < kOffencesReported) {
            add(offenceFinding(session, step, offence));
        }
    }
    for (const auto& part : parts) {
        if (part == "state_root" && own.stateRoot && !record.leaf.diverged) {
            ASSAY_TRY(finding, stateFinding(session, submission, record, replayed, state));
            add(std::move(finding));
        } else {
            add(partFinding(session, record, replayed, part));
        }
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const auto& a, const auto& b) { return a.failure && !b.failure; });
    return findings;
}

} // namespace assay::engine
