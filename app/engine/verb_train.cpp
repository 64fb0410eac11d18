// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <nlohmann/json.hpp>

#include "app/engine/verbs.h"
#include "core/crypto/ed25519.h"
#include "core/engine/trainer.h"

namespace assay::app {

using base::Result;

Result<std::string> readKeyPem(const std::string& path) {
    if (path.empty()) {
        return std::string();
    }
    ASSAY_TRY(key, crypto::readPrivateKey(path));
    return key.toPem();
}

Result<int> runTrain(const Job& job) {
    engine::TrainRequest request;
    ASSAY_TRY(orderFile, job.request.requiredText("order"));
    ASSAY_TRY(out, job.request.requiredText("out"));
    ASSAY_TRY(data, job.request.text("data"));
    ASSAY_TRY(keyPath, job.request.text("key"));
    ASSAY_TRY(digests, job.request.text("site_digests"));
    ASSAY_TRY(resume, job.request.flag("resume"));
    ASSAY_TRY(keyPem, readKeyPem(keyPath));
    request.orderFile = orderFile;
    request.out = out;
    request.dataFolder = data;
    request.keyPem = keyPem;
    request.profile = job.profile;
    request.profileText = job.kernel.profile;
    request.resume = resume;
    request.siteDigests = digests;
    request.engineVersion = kEngineVersion;

    const engine::Session* session = nullptr;
    std::uint64_t total = 0;
    engine::TrainEvents events;
    events.progress = job.output.progressFn();
    events.warning = [&](std::string_view text) {
        audit::FindingEvent event;
        event.finding.severity = audit::Severity::warning;
        event.finding.text = text;
        job.output.emit(event);
    };
    events.started = [&](const engine::Session& started) {
        session = &started;
        total = started.order().loop.steps;
        job.output.sites(started);
    };
    events.step = [&](const engine::StepReport& report) {
        const auto& outcome = *report.outcome;
        job.output.stepDetails(*session, outcome);
        audit::StepEvent event;
        event.step = outcome.leaf.step;
        event.status = audit::StepStatus::trained;
        event.lossBits = outcome.leaf.lossBits;
        event.evaluationBits = outcome.leaf.evaluationBits;
        event.entries = outcome.entries;
        event.corrections = outcome.correctionCount;
        event.offences = outcome.offenceCount;
        event.logBytes = report.logBytes;
        event.freedom = outcome.freedom;
        event.seconds = report.seconds;
        event.checkpoint = report.checkpoint;
        event.digest = report.leafHash.toHex();
        job.output.emit(event);
        job.output.stepProgress(report.replayed ? "repeat" : "train", outcome.leaf.step, total);
    };
    ASSAY_TRY(result, engine::train(request, events, job.control));
    if (result.cancelled) {
        return base::fail(base::ErrorCode::cancelled,
                          "the training was stopped after step " + std::to_string(result.steps), "go on with --resume");
    }
    nlohmann::json json;
    json["submission"] = out;
    json["order"] = result.order.toHex();
    json["root"] = result.root->toHex();
    json["steps"] = result.steps;
    json["entries"] = result.entries;
    json["log_bytes"] = result.logBytes;
    json["signed"] = !keyPem.empty();
    json["kernel"] = result.profile;
    json["diverged"] = result.diverged;
    json["diverged_site"] = result.diverged ? nlohmann::json(result.divergedSite) : nlohmann::json();
    json["first_loss"] = result.firstLoss;
    json["last_loss"] = result.lastLoss;
    job.output.emit(audit::DoneEvent{json.dump()});
    return 0;
}

} // namespace assay::app
