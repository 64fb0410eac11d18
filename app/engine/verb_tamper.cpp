// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/engine/verbs.h"
#include "core/engine/tamper.h"

namespace assay::app {

using base::Result;

namespace {

template <typename T>
nlohmann::json orNull(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json bitsOf(const std::optional<float>& value) {
    return value ? nlohmann::json(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(*value))) : nlohmann::json();
}

} // namespace

Result<int> runTamper(const Job& job) {
    engine::TamperRequest request;
    ASSAY_TRY(submission, job.request.requiredText("submission"));
    ASSAY_TRY(out, job.request.requiredText("out"));
    ASSAY_TRY(kindText, job.request.requiredText("kind"));
    ASSAY_TRY(kind, engine::faultFromName(kindText));
    ASSAY_TRY(data, job.request.text("data"));
    ASSAY_TRY(step, job.request.number("step"));
    ASSAY_TRY(at, job.request.text("at"));
    ASSAY_TRY(recommit, job.request.flag("recommit"));
    ASSAY_TRY(keyPath, job.request.text("key"));
    ASSAY_TRY(keyPem, readKeyPem(keyPath));
    request.submission = submission;
    request.out = out;
    request.kind = kind;
    request.dataFolder = data;
    request.step = step;
    request.at = at;
    request.recommit = recommit;
    request.keyPem = keyPem;
    request.profile = job.profile;
    request.profileText = job.kernel.profile;
    request.engineVersion = kEngineVersion;
    ASSAY_TRY(result, engine::tamper(request, job.output.progressFn(), job.control));

    nlohmann::json json;
    json["kind"] = engine::faultName(result.kind);
    json["submission"] = out;
    json["step"] = result.step;
    json["step_chosen"] = result.stepChosen;
    json["description"] = result.text;
    json["site"] = orNull(result.site);
    json["tensor"] = orNull(result.tensor);
    json["element"] = orNull(result.element);
    json["before"] = orNull(result.before);
    json["after"] = orNull(result.after);
    json["before_bits"] = bitsOf(result.before);
    json["after_bits"] = bitsOf(result.after);
    json["recommitted"] = recommit;
    json["signed"] = !keyPem.empty();
    json["absorbed"] = result.absorbed;
    json["root"] = result.root.toHex();
    json["shows"] = nlohmann::json();
    if (result.shows) {
        json["shows"] = {{"step", result.shows->step}, {"part", result.shows->part}, {"source", result.shows->source}};
    }
    job.output.emit(audit::DoneEvent{json.dump()});
    return 0;
}

} // namespace assay::app
