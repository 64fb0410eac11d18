// SPDX-License-Identifier: Apache-2.0
#include "core/engine/trainer.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/crypto/ed25519.h"
#include "core/engine/site_digests.h"
#include "core/format/program.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

class Stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

Result<base::ByteVector> readNamed(const base::fs::path& path, std::uint64_t limit) {
    auto bytes = base::readFile(path, limit);
    return bytes ? std::move(bytes) : fail(bytes.error().inFile(path.string()));
}

bool isEmptyOrMissing(const base::fs::path& folder) {
    std::error_code code;
    return !base::fs::exists(folder, code) || base::fs::is_empty(folder, code);
}

/// Opens the folder for writing: a new submission, or the one that was interrupted.
Result<format::SubmissionWriter> openWriter(const TrainRequest& request, base::ByteView orderBytes) {
    if (request.resume && !isEmptyOrMissing(request.out)) {
        ASSAY_TRY(writer, format::SubmissionWriter::resume(request.out, request.profileText));
        ASSAY_TRY(order, format::parseOrder(orderBytes));
        if (const auto differences = format::describeDifferences(order, writer.order()); !differences.empty()) {
            const auto& first = differences.front();
            return fail(
                base::Error{ErrorCode::usage,
                            fmt::format("the submission answers another order: {} is {} there, {} in the order given",
                                        first.field, first.b, first.a),
                            request.out.string(), std::nullopt, "give the order that the training was started with"});
        }
        return std::move(writer);
    }
    const auto folder = request.orderFile.parent_path();
    ASSAY_TRY(program, readNamed(folder / format::kProgramName, format::kMaxProgramBytes));
    return format::SubmissionWriter::create(request.out, orderBytes, program, folder / format::kInitName,
                                            request.profileText);
}

void warnAboutKey(const TrainRequest& request, const format::Order& order, const TrainEvents& events) {
    if (!events.warning) {
        return;
    }
    if (request.keyPem.empty()) {
        events.warning(order.trainerKeys.empty()
                           ? "no key: the submission will not be signed"
                           : "no key: the submission will not be signed, though the order names the trainer's key");
        return;
    }
    const auto key = crypto::PrivateKey::fromPem(request.keyPem);
    const auto publicKey = key ? key->publicKey() : Result<crypto::PublicKey>(fail(key.error()));
    if (publicKey && !order.trainerKeys.empty() &&
        std::find(order.trainerKeys.begin(), order.trainerKeys.end(), publicKey->toHex()) == order.trainerKeys.end()) {
        events.warning("the key is none of those that the order names: verification will reject the signature");
    }
}

Result<TrainingState> checkpointState(const format::SubmissionWriter& writer, std::uint64_t step) {
    const auto path = writer.folder() / (step == 0 ? std::string(format::kInitName) : format::checkpointName(step));
    const auto named = [&](base::Error error) { return fail(error.inFile(path.string())); };
    auto file = format::Safetensors::open(path);
    if (!file) {
        return named(file.error());
    }
    auto state = step == 0 ? TrainingState::initial(writer.program(), writer.order().optimizer, *file)
                           : TrainingState::load(writer.program(), writer.order().optimizer, *file, step);
    return state ? std::move(state) : named(state.error());
}

std::string differenceText(const format::LeafData& committed, const format::LeafData& computed) {
    const auto parts = format::differingParts(committed, computed);
    return parts.empty() ? "nothing" : parts.front();
}

/// First and last loss of the whole training, however many times it was interrupted, and the checkpoints that it owes.
Result<void> summarise(const format::SubmissionWriter& writer, TrainResult& result) {
    const std::uint64_t last = result.steps - (result.diverged ? 1 : 0);
    if (last > 0) {
        ASSAY_TRY(first, writer.step(1));
        ASSAY_TRY(final, writer.step(last));
        result.firstLoss = std::bit_cast<float>(first.leaf.lossBits);
        result.lastLoss = std::bit_cast<float>(final.leaf.lossBits);
    }
    for (std::uint64_t step = 1; step <= last; ++step) {
        const auto path = writer.folder() / format::checkpointName(step);
        std::error_code code;
        if (format::checkpointDue(writer.order(), step) && !base::fs::exists(path, code)) {
            return fail(base::Error{ErrorCode::environment,
                                    "the checkpoint of this step, which was written, is missing", path.string(),
                                    std::nullopt, "the folder was changed: put it back, or train anew"});
        }
    }
    return {};
}

} // namespace

Result<StepReport> commitStep(format::SubmissionWriter& writer, const TrainingState& state, StepOutcome& outcome) {
    auto& leaf = outcome.leaf;
    leaf.previous = writer.lastLeafHash();
    StepReport report;
    report.outcome = &outcome;
    report.checkpoint = !leaf.diverged && leaf.step != 0 && format::checkpointDue(writer.order(), leaf.step);
    if (report.checkpoint) {
        const auto views = state.views();
        ASSAY_CHECK(writer.writeCheckpoint(views));
    }
    ASSAY_CHECK(writer.append(leaf, outcome.tensorRoots, outcome.log));
    report.leafHash = writer.lastLeafHash();
    report.logBytes = outcome.log.size();
    return report;
}

Result<TrainingState> restoreState(Session& session, const format::Dataset& data, format::SubmissionWriter& writer,
                                   std::uint64_t step, std::span<SiteHook* const> hooks, const TrainEvents& events,
                                   RunControl& control) {
    std::uint64_t start = 0;
    for (std::uint64_t s = step; s > 0 && start == 0; --s) {
        std::error_code code;
        if (format::checkpointDue(writer.order(), s) &&
            base::fs::exists(writer.folder() / format::checkpointName(s), code)) {
            start = s;
        }
    }
    const auto irreproducible = [&](std::uint64_t at, const std::string& part) {
        return fail(
            base::Error{ErrorCode::environment,
                        fmt::format("step {} of the interrupted training cannot be reproduced: {} differs", at, part),
                        writer.folder().string(), std::nullopt,
                        "the folder was changed, or this machine computes wrongly: train anew"});
    };
    ASSAY_TRY(state, checkpointState(writer, start));
    ASSAY_TRY(startRecord, writer.step(start));
    if (startRecord.leaf.stateRoot != state.commit(static_cast<unsigned>(session.threads())).root) {
        return irreproducible(start, "the state of the checkpoint");
    }
    for (std::uint64_t s = start + 1; s <= step; ++s) {
        if (control.shouldStop()) {
            return fail(ErrorCode::cancelled, fmt::format("stopped while repeating step {}", s), "resume to go on");
        }
        const Stopwatch watch;
        ASSAY_TRY(record, writer.step(s));
        ASSAY_TRY(bytes, writer.log(s));
        ASSAY_TRY(log, numerics::decodeStepLog(bytes));
        if (log.sections.size() != session.sectionsOf(s)) {
            return irreproducible(s, "the number of log sections");
        }
        ASSAY_TRY(inputs, session.inputsOf(s));
        ASSAY_TRY(outcome, session.enforce(state, data, inputs, &log, false, hooks));
        outcome.leaf.previous = record.leaf.previous;
        if (outcome.offenceCount != 0 || !(outcome.leaf == record.leaf)) {
            return irreproducible(s, outcome.offenceCount != 0 ? "its own log"
                                                               : differenceText(record.leaf, outcome.leaf));
        }
        if (events.step) {
            StepReport report;
            report.outcome = &outcome;
            report.seconds = watch.seconds();
            report.replayed = true;
            report.checkpoint = format::checkpointDue(writer.order(), s);
            report.leafHash = format::leafHash(outcome.leaf);
            report.logBytes = bytes.size();
            events.step(report);
        }
    }
    return std::move(state);
}

Result<TrainResult> train(const TrainRequest& request, const TrainEvents& events, RunControl& control) {
    ASSAY_TRY(orderBytes, readNamed(request.orderFile, format::kMaxOrderBytes));
    auto order = format::parseOrder(orderBytes);
    if (!order) {
        return fail(order.error().inFile(request.orderFile.string()));
    }
    auto dataFolder = request.dataFolder.empty() ? request.orderFile.parent_path() : request.dataFolder;
    dataFolder = dataFolder.empty() ? base::fs::path(".") : dataFolder;
    ASSAY_TRY(data, format::Dataset::open(order->data, dataFolder, events.progress, control.stopToken()));
    ASSAY_TRY(writer, openWriter(request, orderBytes));
    warnAboutKey(request, *order, events);
    ASSAY_TRY(session, Session::create(writer.order(), writer.program(), request.profile));

    TrainResult result;
    result.order = session.orderDigest();
    result.profile = request.profileText;
    const std::uint64_t committed = writer.leaves(); // 0: nothing yet; otherwise steps 0 .. committed - 1
    std::unique_ptr<SiteDigestFile> digests;
    std::vector<SiteHook*> hooks;
    if (!request.siteDigests.empty()) {
        ASSAY_TRY(file, SiteDigestFile::open(request.siteDigests, writer.lastCheckpoint().value_or(0)));
        digests = std::move(file);
        hooks.push_back(digests.get());
    }
    if (events.started) {
        events.started(session);
    }
    if (committed == 0) {
        ASSAY_TRY(initial, checkpointState(writer, 0));
        auto outcome = session.initialOutcome(initial);
        ASSAY_CHECK(commitStep(writer, initial, outcome));
    }
    const auto finish = [&]() -> Result<TrainResult> {
        const std::uint64_t steps = writer.leaves() - 1;
        result.steps = steps;
        result.diverged = writer.diverged();
        if (result.diverged) {
            ASSAY_TRY(record, writer.step(steps));
            result.divergedSite = record.leaf.divergedSite;
        }
        ASSAY_CHECK(summarise(writer, result));
        const auto folder = writer.folder();
        ASSAY_CHECK(writer.finish(request.keyPem, request.engineVersion));
        ASSAY_TRY(submission, format::Submission::open(folder));
        result.root = submission.commitment().root;
        result.logBytes = submission.logBytes();
        return result;
    };
    if (writer.diverged()) {
        return finish();
    }
    auto restored = restoreState(session, data, writer, writer.leaves() - 1, hooks, events, control);
    if (!restored) {
        if (restored.error().code == ErrorCode::cancelled) {
            result.cancelled = true;
            result.steps = writer.leaves() - 1;
            return result;
        }
        return fail(std::move(restored).error());
    }
    auto& state = *restored;
    for (std::uint64_t step = writer.leaves(); step <= session.order().loop.steps && !writer.diverged(); ++step) {
        if (control.shouldStop()) {
            ASSAY_CHECK(writer.sync());
            result.cancelled = true;
            result.steps = step - 1;
            return result;
        }
        const Stopwatch watch;
        ASSAY_TRY(inputs, session.inputsOf(step));
        ASSAY_TRY(outcome, session.record(state, data, inputs, hooks));
        if (digests) {
            ASSAY_CHECK(digests->flush());
        }
        ASSAY_TRY(report, commitStep(writer, state, outcome));
        report.seconds = watch.seconds();
        result.entries += outcome.entries;
        if (events.step) {
            events.step(report);
        }
    }
    return finish();
}

} // namespace assay::engine
