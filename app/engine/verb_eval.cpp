// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "app/engine/verbs.h"
#include "core/engine/replayer.h"
#include "core/format/bundle.h"

namespace assay::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// What is to be measured: a submission's final state, or one state file under an order.
struct Subject {
    format::Order order;
    format::Program program;
    std::optional<format::Submission> submission;
    std::string stateFile;
    base::fs::path orderFolder;
};

bool isStateFile(const std::string& path) {
    return path.ends_with(".safetensors");
}

Result<Subject> openSubject(const std::string& path, const std::string& orderPath) {
    Subject subject;
    if (!orderPath.empty()) {
        ASSAY_TRY(bytes, base::readFile(orderPath, format::kMaxOrderBytes));
        auto order = format::parseOrder(bytes);
        if (!order) {
            return fail(order.error().inFile(orderPath));
        }
        subject.order = std::move(*order);
        subject.orderFolder = base::fs::path(orderPath).parent_path();
    }
    if (!isStateFile(path)) {
        ASSAY_TRY(submission, format::Submission::open(path));
        subject.order = orderPath.empty() ? submission.order() : subject.order;
        subject.program = submission.program();
        subject.submission.emplace(std::move(submission));
    } else {
        if (orderPath.empty()) {
            return fail(ErrorCode::usage, "a state file alone does not say which program it belongs to",
                        "--order ORDER");
        }
        const auto programPath = subject.orderFolder / format::kProgramName;
        ASSAY_TRY(bytes, base::readFile(programPath, format::kMaxProgramBytes));
        auto program = format::parseProgram(bytes);
        if (!program) {
            return fail(program.error().inFile(programPath.string()));
        }
        subject.program = std::move(*program);
        subject.stateFile = path;
    }
    if (format::programDigest(subject.program) != subject.order.program) {
        return fail(ErrorCode::usage, "the program is not the one of the order");
    }
    return subject;
}

/// A state file is a checkpoint of any step, or an initial state.
Result<engine::TrainingState> loadState(const Subject& subject) {
    auto file = format::Safetensors::open(subject.stateFile);
    if (!file) {
        return fail(file.error().inFile(subject.stateFile));
    }
    const auto* counter = file->find(engine::kStepCounterName);
    const std::uint64_t step =
        counter != nullptr && counter->bytes.size() == 8 ? base::loadLe<std::uint64_t>(counter->bytes.data()) : 0;
    auto state = counter == nullptr
                     ? engine::TrainingState::initial(subject.program, subject.order.optimizer, *file)
                     : engine::TrainingState::load(subject.program, subject.order.optimizer, *file, step);
    return state ? std::move(state) : fail(state.error().inFile(subject.stateFile));
}

} // namespace

Result<int> runEval(const Job& job) {
    ASSAY_TRY(submissionPath, job.request.text("submission"));
    ASSAY_TRY(statePath, job.request.text("state"));
    ASSAY_TRY(orderPath, job.request.text("order"));
    ASSAY_TRY(dataPath, job.request.text("data"));
    const std::string path = submissionPath.empty() ? statePath : submissionPath;
    if (path.empty()) {
        return fail(ErrorCode::usage, "neither a submission nor a state file was given");
    }
    ASSAY_TRY(subject, openSubject(path, orderPath));
    if (subject.order.data.heldOut == 0) {
        return fail(ErrorCode::notApplicable, "the order holds out no samples, so there is nothing to measure on");
    }
    base::fs::path folder = dataPath;
    if (dataPath.empty()) {
        if (orderPath.empty()) {
            return fail(ErrorCode::usage, "the folder with the data is not known", "--data DIR, or --order ORDER");
        }
        folder = subject.orderFolder.empty() ? base::fs::path(".") : subject.orderFolder;
    }
    ASSAY_TRY(data,
              format::Dataset::open(subject.order.data, folder, job.output.progressFn(), job.control.stopToken()));
    ASSAY_TRY(session, engine::Session::create(subject.order, subject.program, job.profile));
    std::uint64_t step = 0;
    if (subject.submission) {
        step = engine::checkpointAtOrBefore(*subject.submission, subject.submission->steps());
    }
    auto state = subject.submission ? engine::stateOf(session, *subject.submission, step) : loadState(subject);
    if (!state) {
        return fail(std::move(state).error());
    }
    ASSAY_TRY(metric, session.evaluate(*state, data, job.output.progressFn(), job.control.stopToken()));
    nlohmann::json json;
    json["metric"] = subject.order.metric.empty() ? nlohmann::json() : nlohmann::json(subject.order.metric);
    json["value"] = subject.order.metric == "accuracy" ? metric.accuracy : metric.loss;
    json["loss"] = metric.loss;
    json["accuracy"] = metric.hasAccuracy ? nlohmann::json(metric.accuracy) : nlohmann::json();
    json["correct"] = metric.hasAccuracy ? nlohmann::json(metric.correct) : nlohmann::json();
    json["samples"] = metric.samples;
    json["predictions"] = metric.predictions;
    json["step"] = state->step();
    json["task"] = subject.order.data.task;
    job.output.emit(audit::DoneEvent{json.dump()});
    return 0;
}

} // namespace assay::app
