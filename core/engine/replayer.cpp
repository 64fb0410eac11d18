// SPDX-License-Identifier: Apache-2.0
#include "core/engine/replayer.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/engine/replay_step.h"
#include "core/numerics/log_codec.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

std::uint64_t checkpointAtOrBefore(const format::Submission& submission, std::uint64_t step) {
    const auto& all = submission.checkpoints();
    const auto after = std::upper_bound(all.begin(), all.end(), step);
    return after == all.begin() ? 0 : *(after - 1);
}

Result<TrainingState> stateOf(const Session& session, const format::Submission& submission, std::uint64_t step) {
    ASSAY_TRY(file, submission.checkpoint(step));
    const auto& optimizer = session.order().optimizer;
    auto state = step == 0 ? TrainingState::initial(session.program(), optimizer, file)
                           : TrainingState::load(session.program(), optimizer, file, step);
    return state ? std::move(state) : fail(state.error().inFile(submission.checkpointPath(step).string()));
}

Result<std::optional<Divergence>> compareCheckpoint(const format::Safetensors& claimed, const TrainingState& state) {
    auto views = state.views();
    std::sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& own : views) {
        const auto* other = claimed.find(own.name);
        if (other != nullptr && other->bytes.size() == own.bytes.size() &&
            std::memcmp(other->bytes.data(), own.bytes.data(), own.bytes.size()) == 0) {
            continue;
        }
        Divergence where;
        where.source = "checkpoint";
        where.step = state.step();
        where.part = "final_file";
        where.tensor = own.name;
        if (other == nullptr || other->dtype != own.dtype || other->shape != own.shape || own.dtype != "F32") {
            return where;
        }
        for (std::uint64_t i = 0; i < own.bytes.size() / sizeof(float); ++i) {
            const auto theirs = base::loadLe<std::uint32_t>(other->bytes.data() + i * sizeof(float));
            const auto ours = base::loadLe<std::uint32_t>(own.bytes.data() + i * sizeof(float));
            if (theirs != ours) {
                where.element = i;
                where.claimedValue = std::bit_cast<float>(theirs);
                where.computedValue = std::bit_cast<float>(ours);
                return where;
            }
        }
    }
    return std::optional<Divergence>{};
}

namespace {

class Replay {
public:
    Replay(Session& session, const format::Dataset& data, const format::Submission& submission,
           const ReplayRequest& request, const ReplayEvents& events, RunControl& control)
        : m_session(session), m_data(data), m_submission(submission), m_request(request), m_events(events),
          m_control(control) {}

    Result<ReplayResult> run() {
        if (m_events.started) {
            m_events.started(m_session);
        }
        for (const auto& span : m_request.spans) {
            ASSAY_CHECK(runSpan(span));
            if (m_finished) {
                break;
            }
        }
        const bool atEnd =
            m_state && m_state->step() == m_submission.steps() && !m_result.mismatch && !m_result.diverged;
        if (atEnd) {
            m_result.finalState = std::move(m_state);
        }
        return std::move(m_result);
    }

private:
    Result<void> runSpan(StepSpan span) {
        m_span = span;
        const std::uint64_t last = std::min({span.last, m_submission.steps(), m_session.order().loop.steps});
        std::uint64_t from = span.first - 1; // replay must cover from + 1 on
        if (m_request.verifiedThrough >= span.first) {
            from = std::min(m_request.verifiedThrough, last);
            if (m_submission.commitment().diverged && from == m_submission.steps()) {
                --from; // how the run ended is part of the verdict, so that step is always replayed
            }
            const std::uint64_t known = checkpointAtOrBefore(m_submission, from);
            from = from == last ? last : std::max(known, span.first - 1);
            m_result.stepsChecked += from - (span.first - 1);
            m_result.resumedFrom = from;
        }
        if (from >= last) {
            m_result.lastStep = std::max(m_result.lastStep, last);
            return {};
        }
        const std::uint64_t start = checkpointAtOrBefore(m_submission, from);
        if (!m_state || m_state->step() < start || m_state->step() > from) {
            ASSAY_CHECK(startAt(start));
        }
        while (!m_finished && m_state->step() < last) {
            if (m_control.shouldStop()) {
                m_result.cancelled = true;
                m_finished = true;
                break;
            }
            ASSAY_CHECK(runStep(m_state->step() + 1));
        }
        return {};
    }

    /// Loads a checkpoint and compares its state root with the claimed leaf.
    Result<void> startAt(std::uint64_t step) {
        ASSAY_TRY(state, stateOf(m_session, m_submission, step));
        ASSAY_TRY(record, m_submission.step(step));
        if (!isCommitted(step, record)) {
            accuseRecord(step, record);
            m_result.lastStep = step;
            return {};
        }
        const auto commitment = state.commit(static_cast<unsigned>(m_session.threads()));
        if (record.leaf.stateRoot != commitment.root) {
            ReplayFinding finding;
            finding.where = stateRootDivergence(state, record, commitment);
            finding.where.part = step == 0 ? "initial_state" : "state_root";
            finding.text =
                step == 0 ? "the initial state is not the one that leaf 0 commits to"
                          : fmt::format("the checkpoint of step {} is not the state that its leaf commits to", step);
            accuse({finding});
            m_result.lastStep = step;
            return {};
        }
        m_state = std::move(state);
        beginSegment(step);
        return {};
    }

    /// A record counts only if it is the one that the leaf of its place commits to: what follows relies on its step,
    /// and steps.bin can change while the audit runs.
    [[nodiscard]] bool isCommitted(std::uint64_t step, const format::StepRecord& record) const {
        return record.leaf.step == step && format::leafHash(record.leaf) == m_submission.leafHash(step);
    }
    void accuseRecord(std::uint64_t step, const format::StepRecord& record) {
        ReplayFinding finding;
        finding.where.source = "leaf";
        finding.where.step = step;
        finding.where.part = "chain";
        finding.where.claimedText = m_submission.leafHash(step).toHex();
        finding.where.computedText = format::leafHash(record.leaf).toHex();
        finding.text = record.leaf.step == step
                           ? fmt::format("step {}: the step's record is not what its leaf commits to", step)
                           : fmt::format("the record at place {} says that it is step {}", step, record.leaf.step);
        accuse({finding});
    }

    void beginSegment(std::uint64_t step) {
        m_segmentStart = step;
        m_fingerprints.clear();
    }

    Result<void> runStep(std::uint64_t step) {
        const auto begin = std::chrono::steady_clock::now();
        ASSAY_TRY(record, m_submission.step(step));
        if (!isCommitted(step, record)) {
            accuseRecord(step, record);
            return {};
        }
        ASSAY_TRY(replayed,
                  replayStep(m_session, m_data, m_submission, record, *m_state, m_request.ignoreLog, m_request.hooks));
        auto findings = compareStep(m_session, m_submission, record, replayed, *m_state);
        if (!findings) {
            return fail(std::move(findings).error());
        }
        m_fingerprints.push_back(replayed.fingerprint());
        const bool matched = findings->empty();
        if (!matched && !m_request.ignoreLog) {
            ASSAY_TRY(same, repeatSegment(step));
            if (!same) {
                m_result.auditorAtFault = true;
                m_finished = true;
                m_result.mismatch = true;
                m_result.faultText =
                    fmt::format("repeating steps {} to {} under the same kernel profile gave other values",
                                m_segmentStart + 1, step);
                return {};
            }
        }
        if (!matched) {
            accuse(std::move(*findings)); // before the step's own report, so that a listener can store the step at once
        }
        note(step, record, replayed, matched,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        if (!matched) {
            // An experiment without the log shows how far the runs drift apart; an accusation stops here.
            m_finished = !m_request.ignoreLog || replayed.outcome.leaf.diverged;
            return {};
        }
        if (record.leaf.diverged) {
            m_result.diverged = true;
            m_result.divergedSite = record.leaf.divergedSite;
            m_finished = true;
            return {};
        }
        if (!m_result.mismatch &&
            std::binary_search(m_submission.checkpoints().begin(), m_submission.checkpoints().end(), step)) {
            beginSegment(step);
        }
        return {};
    }

    /// Replays from the segment's checkpoint again and compares everything that was computed. True if all bits are
    /// equal.
    Result<bool> repeatSegment(std::uint64_t lastStep) {
        ASSAY_TRY(state, stateOf(m_session, m_submission, m_segmentStart));
        for (std::uint64_t step = m_segmentStart + 1; step <= lastStep; ++step) {
            ASSAY_TRY(record, m_submission.step(step));
            if (!isCommitted(step, record)) {
                return fail(ErrorCode::environment,
                            fmt::format("the record of step {} changed while it was being audited", step),
                            "audit a copy that nobody else can write");
            }
            ASSAY_TRY(again, replayStep(m_session, m_data, m_submission, record, state, false, {}));
            if (again.fingerprint() != m_fingerprints[step - m_segmentStart - 1]) {
                return false;
            }
            if (again.outcome.leaf.diverged) {
                return true; // the state of a diverged step is not defined
            }
        }
        const auto threads = static_cast<unsigned>(m_session.threads());
        return state.commit(threads).root == m_state->commit(threads).root;
    }

    void note(std::uint64_t step, const format::StepRecord& record, const ReplayedStep& replayed, bool matched,
              double seconds) {
        m_result.lastStep = step;
        m_result.stepsChecked +=
            matched && step >= m_span.first ? 1 : 0; // steps on the way to the span are not part of the plan
        if (step > m_request.verifiedThrough) {
            m_result.entries += replayed.outcome.entries;
            m_result.corrections += replayed.outcome.correctionCount;
            m_result.freedom += replayed.outcome.freedom;
            m_result.logBytes += replayed.logBytes;
        }
        if (!m_events.step) {
            return;
        }
        ReplayStep report;
        report.step = step;
        report.matched = matched;
        report.outcome = &replayed.outcome;
        report.claimed = &record.leaf;
        report.leafHash = format::leafHash(replayed.outcome.leaf);
        report.logBytes = replayed.logBytes;
        report.seconds = seconds;
        report.checkpoint = format::checkpointDue(m_session.order(), step);
        m_events.step(report);
    }

    void accuse(std::vector<ReplayFinding> findings) {
        const bool first = !m_result.mismatch;
        m_result.mismatch = true;
        m_finished = true;
        for (auto& finding : findings) {
            finding.failure = finding.failure && !m_request.ignoreLog;
            if (m_events.finding && first) {
                m_events.finding(finding);
            }
            if (first) {
                m_result.findings.push_back(std::move(finding));
            }
        }
    }

    Session& m_session;
    const format::Dataset& m_data;
    const format::Submission& m_submission;
    const ReplayRequest& m_request;
    const ReplayEvents& m_events;
    RunControl& m_control;
    std::optional<TrainingState> m_state;
    StepSpan m_span; ///< being replayed
    std::uint64_t m_segmentStart = 0;
    std::vector<base::Digest> m_fingerprints; ///< of the steps since m_segmentStart
    bool m_finished = false;
    ReplayResult m_result;
};

} // namespace

Result<ReplayResult> replay(Session& session, const format::Dataset& data, const format::Submission& submission,
                            const ReplayRequest& request, const ReplayEvents& events, RunControl& control) {
    return Replay(session, data, submission, request, events, control).run();
}

} // namespace assay::engine
