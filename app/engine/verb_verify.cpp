// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <chrono>
#include <tuple>

#include <fmt/format.h>

#include "app/engine/second_kernel.h"
#include "app/engine/verbs.h"
#include "core/audit/plan.h"
#include "core/audit/static_checks.h"
#include "core/audit/verdict.h"
#include "core/crypto/ed25519.h"
#include "core/crypto/sha256.h"
#include "core/engine/replayer.h"
#include "core/engine/site_digests.h"
#include "core/merkle/tree.h"

namespace assay::app {

namespace {

using audit::Check;
using audit::CheckOutcome;
using audit::CheckState;
using base::ErrorCode;
using base::fail;
using base::Result;

struct VerifyOptions {
    std::string submission;
    std::string order;
    std::string data;
    std::string trainerKey;
    std::string steps;
    std::string nonce;
    std::string secondKernel;
    std::string siteDigests;
    std::optional<std::uint64_t> sample;
    std::uint64_t verifiedThrough = 0;
    std::string verifiedLeaves; ///< digest over the hashes of leaves 0 to verifiedThrough, as audit::verifiedSteps makes it
    std::uint64_t verifiedEntries = 0, verifiedCorrections = 0, verifiedLogBytes = 0, verifiedFreedom = 0;
    bool ignoreLog = false;
};

Result<VerifyOptions> readOptions(const Request& request) {
    VerifyOptions options;
    ASSAY_TRY(submission, request.requiredText("submission"));
    options.submission = submission;
    for (auto [name, target] :
         {std::pair{"order", &options.order}, std::pair{"data", &options.data},
          std::pair{"trainer_key", &options.trainerKey}, std::pair{"steps", &options.steps},
          std::pair{"nonce", &options.nonce}, std::pair{"second_kernel", &options.secondKernel},
          std::pair{"site_digests", &options.siteDigests}, std::pair{"verified_leaves", &options.verifiedLeaves}}) {
        ASSAY_TRY(value, request.text(name));
        *target = value;
    }
    ASSAY_TRY(sample, request.number("sample"));
    options.sample = sample;
    for (auto [name, target] :
         {std::pair{"resume_after", &options.verifiedThrough}, std::pair{"verified_through", &options.verifiedThrough},
          std::pair{"verified_entries", &options.verifiedEntries},
          std::pair{"verified_corrections", &options.verifiedCorrections},
          std::pair{"verified_log_bytes", &options.verifiedLogBytes},
          std::pair{"verified_freedom", &options.verifiedFreedom}}) {
        ASSAY_TRY(value, request.number(name));
        *target = value.value_or(*target);
    }
    ASSAY_TRY(ignoreLog, request.flag("ignore_log"));
    options.ignoreLog = ignoreLog;
    if (options.sample && !options.steps.empty()) {
        return fail(ErrorCode::usage, "both a range of steps and a sample were asked for",
                    "give --steps or --sample, not both");
    }
    return options;
}

audit::FirstDivergence toAudit(const engine::Divergence& where) {
    audit::FirstDivergence result;
    result.source = audit::sourceFromName(where.source);
    result.step = where.step;
    result.part = audit::partFromName(where.part);
    result.tensor = where.tensor;
    result.operator_ = where.operatorName;
    result.site = where.site;
    result.element = where.element;
    result.claimed = where.claimedText;
    result.computed = where.computedText;
    if (where.claimedValue) {
        result.setClaimed(*where.claimedValue);
    }
    if (where.computedValue) {
        result.setComputed(*where.computedValue);
    }
    return result;
}

audit::Finding toAudit(const engine::ReplayFinding& finding) {
    return {finding.failure ? audit::Severity::failure : audit::Severity::warning, toAudit(finding.where),
            finding.text};
}

/// "haswell" or "haswell, prescott" where the trainer changed its profile.
std::string joinProfiles(const std::vector<format::ProfileRange>& ranges) {
    std::string text;
    for (const auto& range : ranges) {
        text += (text.empty() ? "" : ", ") + range.profile;
    }
    return text;
}

class VerifyRun {
public:
    VerifyRun(const Job& job, VerifyOptions options) : m_job(job), m_options(std::move(options)) {}

    Result<int> run() {
        ASSAY_CHECK(openInputs());
        ASSAY_CHECK(planSteps());
        ASSAY_CHECK(staticChecks());
        ASSAY_CHECK(replayChecks());
        ASSAY_CHECK(finalChecks());
        return decide();
    }

private:
    Result<void> openInputs() {
        if (!m_options.order.empty()) {
            auto bytes = base::readFile(m_options.order, format::kMaxOrderBytes);
            auto order = bytes ? format::parseOrder(*bytes) : Result<format::Order>(fail(bytes.error()));
            if (!order) {
                return fail(order.error().inFile(m_options.order));
            }
            m_inputs.clientOrder = std::move(*order);
        }
        if (!m_options.trainerKey.empty()) {
            ASSAY_TRY(key, crypto::readPublicKey(m_options.trainerKey));
            ASSAY_TRY(pem, key.toPem());
            m_inputs.trainerKeyPem = pem;
        }
        if (m_options.data.empty() && !m_options.order.empty()) {
            m_options.data = base::fs::path(m_options.order).parent_path().string();
            m_options.data = m_options.data.empty() ? "." : m_options.data;
        }
        ASSAY_TRY(submission, format::Submission::open(m_options.submission));
        m_submission.emplace(std::move(submission));
        forgetOtherLeaves();
        auto& report = m_report;
        report.stepsTotal = m_submission->steps();
        report.rootClaimed = m_submission->commitment().root.toHex();
        report.kernelAuditor = m_job.kernel.profile;
        report.kernelTrainer = joinProfiles(m_submission->attestation().profiles);
        for (const auto& range : m_submission->attestation().profiles) {
            report.profiles.push_back({range.firstStep, range.lastStep, range.profile});
        }
        report.submission = m_options.submission;
        report.orderDigest = format::orderDigest(m_inputs.order(*m_submission)).toHex();
        report.logIgnored = m_options.ignoreLog;
        return {};
    }

    /// What was verified before counts only if the submission still has the leaves for which it was. Whoever does not
    /// say which leaves those were has verified nothing.
    void forgetOtherLeaves() {
        auto& through = m_options.verifiedThrough;
        through = std::min(through, m_submission->steps());
        if (through == 0) {
            return;
        }
        const auto hashes = m_submission->leafHashes().first((through + 1) * sizeof(base::Digest));
        if (crypto::sha256(hashes).toHex() != m_options.verifiedLeaves) {
            through = 0;
            m_options.verifiedEntries = m_options.verifiedCorrections = 0;
            m_options.verifiedLogBytes = m_options.verifiedFreedom = 0;
        }
    }

    Result<void> planSteps() {
        const std::uint64_t steps = m_submission->steps();
        auto& replay = m_verdict.replay;
        if (!m_options.steps.empty()) {
            ASSAY_TRY(range, parseRange(m_options.steps, steps));
            replay.scope = audit::Scope::range;
            replay.ranges = {range};
            if (range.first == 1 && range.last == steps) {
                replay.scope = audit::Scope::all;
            }
        } else if (m_options.sample) {
            ASSAY_TRY(segments, audit::segmentsOf(steps, m_submission->checkpoints()));
            std::string nonce = m_options.nonce;
            auto source = audit::kNonceGiven;
            if (nonce.empty()) {
                ASSAY_TRY(drawn, audit::drawNonce());
                nonce = drawn;
                source = audit::kNonceDrawn;
            }
            ASSAY_TRY(plan,
                      audit::drawSegments(segments, *m_options.sample, m_submission->commitment().root, nonce, source));
            replay.ranges = plan.segments;
            // A claimed divergence excuses every step after it, so it is replayed whatever the lot says.
            if (m_submission->commitment().diverged && !segments.empty() && replay.ranges.back() != segments.back()) {
                replay.ranges.push_back(segments.back());
            }
            replay.scope = replay.ranges.size() == segments.size() ? audit::Scope::all : audit::Scope::sample;
            replay.detectionProbability = plan.detectionOneSegment;
            m_report.nonce = plan.nonce;
            m_report.nonceSource = plan.nonceSource;
        } else {
            replay.scope = audit::Scope::all;
            if (steps > 0) {
                replay.ranges = {{1, steps}};
            }
        }
        replay.stepsTotal = steps;
        replay.divergenceClaimed = m_submission->commitment().diverged;
        replay.logIgnored = m_options.ignoreLog;
        m_report.detectionProbability = replay.detectionProbability;
        return {};
    }

    static Result<audit::StepRange> parseRange(const std::string& text, std::uint64_t steps) {
        const auto colon = text.find(':');
        const auto number = [](std::string_view part) -> std::optional<std::uint64_t> {
            std::uint64_t value = 0;
            const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
            return code == std::errc{} && end == part.data() + part.size() ? std::optional(value) : std::nullopt;
        };
        const auto first = number(std::string_view(text).substr(0, colon));
        const auto last = colon == std::string::npos ? first : number(std::string_view(text).substr(colon + 1));
        if (!first || !last || *first < 1 || *last < *first || *last > steps) {
            return fail(ErrorCode::usage,
                        fmt::format("steps \"{}\": expected A:B with 1 <= A <= B <= {}", text, steps));
        }
        return audit::StepRange{*first, *last};
    }

    /// Records an outcome and says so. `part` and `step` of failed checks come with it.
    void note(const CheckOutcome& outcome) {
        for (const auto& finding : outcome.findings) {
            note(finding);
        }
        m_verdict.checks.push_back(outcome.result);
        m_anyFailed = m_anyFailed || outcome.result.state == CheckState::failed;
        m_job.output.emit(audit::CheckEvent{outcome.result});
    }
    void note(const audit::Finding& finding) {
        m_verdict.findings.push_back(finding);
        m_job.output.emit(audit::FindingEvent{finding});
    }
    void noteNotChecked(Check check, std::string detail) {
        CheckOutcome outcome;
        outcome.result.check = check;
        outcome.result.detail = std::move(detail);
        note(outcome);
    }

    /// An error of a check: once another check has failed, damaged bytes are no reason to hide that verdict.
    Result<void> noteError(Check check, const base::Error& error) {
        if (m_anyFailed && (error.code == ErrorCode::malformed || error.code == ErrorCode::unreadable)) {
            noteNotChecked(check, error.toString());
            return {};
        }
        return fail(error);
    }

    bool noteResult(Check check, Result<CheckOutcome> outcome, Result<void>& end) {
        if (outcome) {
            note(*outcome);
            return outcome->result.state == CheckState::passed;
        }
        end = noteError(check, outcome.error());
        return false;
    }

    Result<void> staticChecks() {
        const auto progress = m_job.output.progressFn();
        const auto stop = m_job.control.stopToken();
        Result<void> end;
        noteResult(Check::signature, audit::checkSignature(*m_submission, m_inputs), end);
        ASSAY_CHECK(end);
        const auto order = audit::checkOrder(*m_submission, m_inputs);
        note(order);
        m_replayable = order.result.state != CheckState::failed;
        noteResult(Check::files, audit::checkFiles(*m_submission, progress, stop), end);
        ASSAY_CHECK(end);
        noteResult(Check::merkle, audit::checkMerkle(*m_submission, m_inputs, progress, stop), end);
        ASSAY_CHECK(end);
        m_replayable =
            noteResult(Check::initialState, audit::checkInitialState(*m_submission, m_inputs), end) && m_replayable;
        ASSAY_CHECK(end);
        if (m_options.data.empty()) {
            m_replayable = false; // the rest can still be checked, and may be enough to reject
            noteNotChecked(Check::data, "neither an order nor a data folder was given (--order ORDER, or --data DIR)");
            return {};
        }
        auto data = audit::checkData(*m_submission, m_inputs, m_options.data, progress, stop);
        if (!data) {
            return fail(
                data.error()); // the auditor's own folder: whatever the submission holds, this must be mended first
        }
        note(data->check);
        m_replayable = data->check.result.state == CheckState::passed && data->dataset && m_replayable;
        if (data->dataset) {
            m_data.emplace(std::move(*data->dataset));
        }
        return {};
    }

    Result<void> replayChecks() {
        auto& outcome = m_verdict.replay;
        if (!m_replayable) {
            outcome.detail = "a check that the replay rests on did not pass";
            noteNotChecked(Check::replay, outcome.detail);
            return {};
        }
        auto result = runReplay();
        if (!result) {
            if (result.error().code == ErrorCode::cancelled) {
                return fail(result.error());
            }
            outcome.state = CheckState::notChecked;
            outcome.detail = result.error().toString();
            return noteError(Check::replay, result.error());
        }
        return {};
    }

    Result<void> runReplay() {
        ASSAY_TRY(session,
                  engine::Session::create(m_inputs.order(*m_submission), m_submission->program(), m_job.profile));
        engine::ReplayRequest request;
        for (const auto& range : m_verdict.replay.ranges) {
            request.spans.push_back({range.first, range.last});
        }
        request.ignoreLog = m_options.ignoreLog;
        request.verifiedThrough = std::min(m_options.verifiedThrough, m_submission->steps());
        std::unique_ptr<engine::SiteDigestFile> digests;
        if (!m_options.siteDigests.empty()) {
            ASSAY_TRY(file,
                      engine::SiteDigestFile::open(
                          m_options.siteDigests, engine::checkpointAtOrBefore(*m_submission, request.verifiedThrough)));
            digests = std::move(file);
            request.hooks.push_back(digests.get());
        }
        std::optional<base::TemporaryFolder> scratch;
        std::unique_ptr<engine::SiteDigestFile> forSecond;
        if (!m_options.secondKernel.empty() && !m_options.ignoreLog) {
            request.verifiedThrough = 0; // both profiles must have seen every site
            ASSAY_TRY(folder, base::TemporaryFolder::create("assay-first"));
            scratch.emplace(std::move(folder));
            ASSAY_TRY(file, engine::SiteDigestFile::open(scratch->path() / "digests", 0));
            forSecond = std::move(file);
            request.hooks.push_back(forSecond.get());
        }
        std::uint64_t planned = 0;
        for (const auto& range : m_verdict.replay.ranges) {
            planned += range.last - range.first + 1;
        }
        engine::ReplayEvents events;
        events.started = [&](const engine::Session& started) { m_job.output.sites(started); };
        events.finding = [&](const engine::ReplayFinding& finding) { note(toAudit(finding)); };
        std::uint64_t done = 0;
        events.step = [&](const engine::ReplayStep& step) {
            emitStep(session, step);
            if (digests) {
                std::ignore = digests->flush(); // a full disk shows at the next line
            }
            // In a full replay the step says how far it is, also after a resume; otherwise the steps are counted.
            done = m_verdict.replay.scope == audit::Scope::all ? step.step : std::min(done + 1, planned);
            m_job.output.stepProgress("replay", done, planned);
        };
        ASSAY_TRY(result, engine::replay(session, *m_data, *m_submission, request, events, m_job.control));
        if (digests) {
            ASSAY_CHECK(digests->flush());
        }
        if (result.cancelled) {
            return fail(ErrorCode::cancelled, fmt::format("the replay was stopped after step {}", result.lastStep),
                        "go on with --resume");
        }
        if (forSecond && !result.mismatch) {
            ASSAY_CHECK(forSecond->flush());
            ASSAY_CHECK(compareSecondKernel(scratch->path() / "digests", session, result));
        }
        take(result);
        return {};
    }

    void emitStep(const engine::Session& session, const engine::ReplayStep& step) {
        m_job.output.stepDetails(session, *step.outcome);
        audit::StepEvent event;
        event.step = step.step;
        event.status = step.matched ? audit::StepStatus::matched : audit::StepStatus::mismatched;
        event.lossBits = step.outcome->leaf.lossBits;
        event.lossClaimedBits = step.claimed->lossBits;
        event.evaluationBits = step.outcome->leaf.evaluationBits;
        event.entries = step.outcome->entries;
        event.corrections = step.outcome->correctionCount;
        event.offences = step.outcome->offenceCount;
        event.logBytes = step.logBytes;
        event.freedom = step.outcome->freedom;
        event.seconds = step.seconds;
        event.checkpoint = step.checkpoint;
        event.digest = step.leafHash.toHex();
        m_job.output.emit(event);
    }

    /// With --second-kernel: the two profiles must agree at every site, entries or not.
    Result<void> compareSecondKernel(const base::fs::path& digests, engine::Session& session,
                                     engine::ReplayResult& result) {
        SecondKernelRequest request;
        request.ownDigests = digests;
        request.profile = m_options.secondKernel;
        request.submission = m_options.submission;
        request.order = m_options.order;
        request.data = m_options.data;
        for (const auto& range : m_verdict.replay.ranges) {
            request.spans.push_back({range.first, range.last});
        }
        ASSAY_TRY(found, compareWithSecondKernel(request, session, *m_data, *m_submission, m_job.control));
        m_report.kernelAuditor += " and " + m_options.secondKernel;
        if (found) {
            note(toAudit(*found));
            result.mismatch = true;
            result.findings.push_back(*found);
            result.stepsChecked = std::min(result.stepsChecked, found->where.step - 1);
        }
        return {};
    }

    void take(engine::ReplayResult& result) {
        auto& outcome = m_verdict.replay;
        outcome.stepsChecked = result.stepsChecked;
        outcome.auditorAtFault = result.auditorAtFault;
        outcome.diverged = result.diverged;
        outcome.divergedSite = result.divergedSite;
        if (result.diverged) {
            outcome.divergedStep = result.lastStep;
        }
        m_report.entries = m_options.verifiedEntries + result.entries;
        m_report.corrections = m_options.verifiedCorrections + result.corrections;
        m_report.logBytes = m_options.verifiedLogBytes + result.logBytes;
        m_report.freedom = m_options.verifiedFreedom + result.freedom;
        audit::CheckResult check;
        check.check = Check::replay;
        if (result.auditorAtFault) {
            check.detail = result.faultText;
        } else if (result.mismatch) {
            check.state = CheckState::failed;
            const auto first =
                std::find_if(result.findings.begin(), result.findings.end(), [](const auto& f) { return f.failure; });
            const auto& finding = first == result.findings.end() ? result.findings.front() : *first;
            outcome.divergence = toAudit(finding.where);
            check.detail = finding.text;
            check.part = outcome.divergence->part;
            check.step = outcome.divergence->step;
        } else {
            check.state = CheckState::passed;
            check.detail = fmt::format("{} of {} steps replayed under {}, all equal", result.stepsChecked,
                                       m_submission->steps(), m_job.kernel.profile);
        }
        outcome.state = check.state;
        outcome.detail = check.detail;
        m_verdict.checks.push_back(check);
        m_anyFailed = m_anyFailed || check.state == CheckState::failed;
        m_job.output.emit(audit::CheckEvent{check});
        if (check.state == CheckState::passed && outcome.scope == audit::Scope::all && !m_options.ignoreLog) {
            merkle::Tree tree; // every leaf was computed or compared equal
            for (std::uint64_t step = 0; step <= m_submission->steps(); ++step) {
                tree.append(m_submission->leafHash(step));
            }
            m_report.rootComputed = tree.root().toHex();
        }
        m_finalState = std::move(result.finalState);
    }

    Result<void> finalChecks() {
        Result<void> end;
        auto outcome = audit::checkFinalCheckpoint(*m_submission, m_job.output.progressFn(), m_job.control.stopToken());
        if (outcome && outcome->result.state == CheckState::failed && m_finalState) {
            nameElement(*outcome);
        }
        noteResult(Check::finalCheckpoint, std::move(outcome), end);
        return end;
    }

    /// The replay holds the true final state: it knows which element of the final file is wrong.
    void nameElement(CheckOutcome& outcome) {
        for (auto& finding : outcome.findings) {
            if (finding.where.part != audit::Part::finalFile) {
                continue;
            }
            auto file = m_submission->checkpoint(m_submission->steps());
            auto where = file ? engine::compareCheckpoint(*file, *m_finalState)
                              : Result<std::optional<engine::Divergence>>(fail(file.error()));
            if (where && *where) {
                finding.where = toAudit(**where);
                if ((*where)->element) {
                    finding.text = fmt::format("{}; tensor \"{}\", element {}: the file holds {}, the replay gives {}",
                                               finding.text, *(*where)->tensor, *(*where)->element,
                                               audit::floatText(*(*where)->claimedValue),
                                               audit::floatText(*(*where)->computedValue));
                }
            }
            return;
        }
    }

    Result<int> decide() {
        m_verdict.clientOrderGiven = m_inputs.clientOrder.has_value();
        m_verdict.trainerKeyKnown = m_inputs.trainerKeyKnown();
        audit::applyVerdict(m_verdict, m_report);
        m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
        m_job.output.emit(audit::VerdictEvent{m_report});
        return audit::exitCodeFor(m_report.verdict);
    }

    const Job& m_job;
    VerifyOptions m_options;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    audit::AuditorInputs m_inputs;
    std::optional<format::Submission> m_submission;
    std::optional<format::Dataset> m_data;
    std::optional<engine::TrainingState> m_finalState;
    audit::VerdictInput m_verdict;
    audit::VerifyReport m_report;
    bool m_anyFailed = false;
    bool m_replayable = false;
};

} // namespace

Result<int> runVerify(const Job& job) {
    ASSAY_TRY(options, readOptions(job.request));
    return VerifyRun(job, std::move(options)).run();
}

} // namespace assay::app
