// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/audit_run.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/engine_job.h"
#include "app/cli/verbs/order_text.h"
#include "core/audit/audit_recorder.h"
#include "core/audit/plan.h"
#include "core/audit/verified_steps.h"
#include "core/format/submission.h"
#include "core/store/audit_store.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

/// The audit's place in the store. Trouble with the store costs the record, never the verdict.
class Record {
public:
    explicit Record(Session& session) : m_session(session) {}

    /// Opens the store and begins, or finds the audit to go on with.
    Result<audit::VerifiedSteps> begin(const AuditRequest& request) {
        if (!request.keep) {
            return audit::VerifiedSteps{};
        }
        fs::path path = request.store;
        if (path.empty()) {
            auto found = store::defaultStorePath();
            if (!found) {
                return giveUp(found.error(), request);
            }
            path = *found;
        }
        auto opened = store::AuditStore::open(path);
        if (!opened) {
            return giveUp(opened.error(), request);
        }
        m_store.emplace(std::move(*opened));
        ASSAY_TRY(submission, format::Submission::open(request.submission));
        ASSAY_TRY(audit, describe(request, submission));
        if (request.resume) {
            ASSAY_TRY(found, audit::AuditRecorder::findResumable(*m_store, audit.work));
            if (found) {
                ASSAY_TRY(recorder, audit::AuditRecorder::resume(*m_store, found->id));
                m_recorder.emplace(std::move(recorder));
                ASSAY_TRY(verified, audit::verifiedSteps(*m_store, found->id, found->lastVerified, submission));
                if (verified.through < found->lastVerified) {
                    m_session.console.warn(
                        fmt::format("the submission has other steps than when audit {} was interrupted", found->id));
                }
                m_session.console.note(fmt::format("going on with audit {}: steps up to {} are verified already",
                                                   found->id, verified.through));
                return verified;
            }
            m_session.console.note("no interrupted audit of this kind in the store: starting at the beginning");
        }
        ASSAY_TRY(recorder, audit::AuditRecorder::begin(*m_store, audit));
        m_recorder.emplace(std::move(recorder));
        return audit::VerifiedSteps{};
    }

    void accept(const audit::EngineEvent& event) {
        if (m_recorder) {
            if (const auto kept = m_recorder->accept(event); !kept) {
                lose(kept.error());
            }
        }
    }

    void end(std::string_view why) {
        if (m_recorder) {
            if (const auto kept = m_recorder->end(why); !kept) {
                lose(kept.error());
            }
        }
    }

    [[nodiscard]] bool kept() const { return m_recorder.has_value(); }

private:
    Result<audit::VerifiedSteps> giveUp(const Error& error, const AuditRequest& request) {
        if (!request.store.empty() || request.resume) {
            return fail(error);
        }
        m_session.console.warn(fmt::format("this audit will not be kept: {}", error.toString()));
        return audit::VerifiedSteps{};
    }

    void lose(const Error& error) {
        m_session.console.warn(fmt::format("the audit is no longer kept: {}", error.toString()));
        m_recorder.reset();
    }

    Result<store::NewAudit> describe(const AuditRequest& request, const format::Submission& submission) const {
        format::Order order = submission.order();
        if (!request.order.empty()) {
            ASSAY_TRY(own, readOrder(request.order));
            order = std::move(own);
        }
        audit::ReplayOptions options;
        options.logIgnored = request.ignoreLog;
        options.secondKernel = request.secondKernel;
        options.nonce = request.nonce;
        store::NewAudit audit;
        if (request.steps) {
            options.scope = audit::Scope::range;
            options.ranges = {*request.steps};
            audit.firstStep = request.steps->first;
        } else if (request.sample) {
            options.scope = audit::Scope::sample;
            ASSAY_TRY(segments, audit::segmentsOf(submission.steps(), submission.checkpoints()));
            if (!request.nonce.empty()) {
                ASSAY_TRY(plan, audit::drawSegments(segments, *request.sample, submission.commitment().root,
                                                    request.nonce, audit::kNonceGiven));
                options.ranges = plan.segments;
                audit.firstStep = plan.segments.empty() ? 1 : plan.segments.front().first;
            }
        }
        std::error_code code;
        audit.submission = fs::absolute(request.submission, code).lexically_normal().string();
        audit.title = order.title;
        audit.work = audit::workKey(submission.commitment().root.toHex(), format::orderDigest(order).toHex(),
                                    request.kernel.empty() ? "default" : request.kernel, options);
        audit.command = m_session.commandWith({});
        audit.stepsTotal = submission.steps();
        return audit;
    }

    Session& m_session;
    std::optional<store::AuditStore> m_store;
    std::optional<audit::AuditRecorder> m_recorder;
};

/// The report of an audit whose engine died under it: nobody's fault is shown, nothing is accepted.
audit::VerifyReport crashReport(const AuditRequest& request, const EngineEnd& end) {
    audit::VerifyReport report;
    report.verdict = audit::Verdict::inconclusive;
    report.reason = fmt::format(
        "The engine was ended by signal {} ({}) before it reached a verdict; nothing is known about the submission.",
        end.signal, ::strsignal(end.signal));
    report.submission = request.submission;
    report.kernelAuditor = request.kernel;
    report.logIgnored = request.ignoreLog;
    return report;
}

std::string why(const EngineEnd& end) {
    if (end.cancelled()) {
        return "cancelled";
    }
    if (end.signal != 0) {
        return fmt::format("the engine was ended by signal {} ({})", end.signal, ::strsignal(end.signal));
    }
    return end.error ? end.error->toString() : fmt::format("the engine ended with code {}", end.exitCode);
}

} // namespace

Result<audit::VerifyReport> runAudit(Session& session, const AuditRequest& request, std::stop_token stop) {
    Record record(session);
    ASSAY_TRY(verified, record.begin(request));
    EngineRequest engine("verify");
    engine.set("submission", request.submission).set("order", request.order).set("data", request.data);
    engine.set("trainer_key", request.trainerKey).set("sample", request.sample).set("nonce", request.nonce);
    if (request.steps) {
        engine.set("steps", fmt::format("{}:{}", request.steps->first, request.steps->last));
    }
    engine.set("kernel", request.kernel)
        .set("second_kernel", request.secondKernel)
        .set("site_digests", request.siteDigests);
    engine.setIf("ignore_log", request.ignoreLog);
    if (verified.through > 0) {
        engine.set("verified_leaves", verified.leaves);
        engine.set("verified_through", verified.through).set("verified_entries", verified.entries);
        engine.set("verified_corrections", verified.corrections).set("verified_log_bytes", verified.logBytes);
        engine.set("verified_freedom", verified.freedom);
    }
    const auto ended =
        runEngine(session, engine, stop, [&](const audit::EngineEvent& event, std::string_view) -> Result<void> {
            record.accept(event);
            return {};
        });
    if (!ended) {
        record.end(ended.error().toString());
        return fail(ended.error());
    }
    if (ended->report && ended->signal == 0) {
        record.end("finished");
        return *ended->report;
    }
    record.end(why(*ended));
    if (ended->signal != 0) {
        return crashReport(request, *ended);
    }
    return fail(explainEnd(*ended, record.kept() ? session.commandWith("--resume") : std::string()));
}

} // namespace assay::cli
