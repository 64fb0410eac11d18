// SPDX-License-Identifier: Apache-2.0
#include "core/engine/training_state.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/tensor/optimizer.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;
using tensor::Tensor;

namespace {

/// Copies a file's tensor into `target`. -0, NaN and infinities never occur in a committed state.
Result<void> fill(Tensor& target, const format::TensorView* view, const std::string& name) {
    if (view == nullptr) {
        return fail(ErrorCode::malformed, fmt::format("tensor \"{}\" is missing", name));
    }
    if (view->dtype != "F32" || view->shape != target.shape()) {
        return fail(ErrorCode::malformed, fmt::format("tensor \"{}\" is {} {}, expected F32 {}", name, view->dtype,
                                                      tensor::toString(view->shape), tensor::toString(target.shape())));
    }
    if (target.size() != 0) {
        std::memcpy(target.data(), view->bytes.data(), view->bytes.size());
    }
    for (std::uint64_t i = 0; i < target.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, target.data() + i, sizeof bits);
        if (bits == 0x80000000u || (bits & 0x7F800000u) == 0x7F800000u) {
            return fail(ErrorCode::malformed, fmt::format("tensor \"{}\", element {}: {}", name, i,
                                                          bits == 0x80000000u ? "-0 is not a value of a training state"
                                                                              : "the value is not finite"));
        }
    }
    return {};
}

} // namespace

Result<TrainingState> TrainingState::shaped(const format::Program& program, const format::OptimizerSpec& optimizer) {
    ASSAY_TRY(stateNames, tensor::optimizerStateNames(optimizer.kind, optimizer.momentum));
    TrainingState state;
    state.m_statesPerParameter = stateNames.size();
    for (const auto& spec : program.tensors) {
        if (spec.name == kStepCounterName || spec.name.starts_with(kOptimizerPrefix)) {
            return fail(
                ErrorCode::malformed,
                fmt::format("the program's tensor \"{}\" has a name that is kept for the optimizer", spec.name));
        }
        state.m_names.push_back(spec.name);
        state.m_tensors.push_back(Tensor(spec.shape));
    }
    for (const auto& spec : program.tensors) {
        if (spec.role != "parameter") {
            continue;
        }
        for (const auto& name : stateNames) {
            state.m_names.push_back(fmt::format("{}{}.{}", kOptimizerPrefix, name, spec.name));
            state.m_optimizer.push_back(Tensor(spec.shape));
        }
    }
    return state;
}

Result<TrainingState> TrainingState::initial(const format::Program& program, const format::OptimizerSpec& optimizer,
                                             const format::Safetensors& init) {
    ASSAY_TRY(state, shaped(program, optimizer));
    for (std::size_t i = 0; i < state.m_tensors.size(); ++i) {
        ASSAY_CHECK(fill(state.m_tensors[i], init.find(state.m_names[i]), state.m_names[i]));
    }
    if (init.tensors().size() != state.m_tensors.size()) {
        return fail(ErrorCode::malformed,
                    fmt::format("{} tensors, the program has {}", init.tensors().size(), state.m_tensors.size()));
    }
    return std::move(state);
}

Result<TrainingState> TrainingState::load(const format::Program& program, const format::OptimizerSpec& optimizer,
                                          const format::Safetensors& checkpoint, std::uint64_t step) {
    ASSAY_TRY(state, shaped(program, optimizer));
    for (std::size_t i = 0; i < state.m_names.size(); ++i) {
        auto& target = i < state.m_tensors.size() ? state.m_tensors[i] : state.m_optimizer[i - state.m_tensors.size()];
        ASSAY_CHECK(fill(target, checkpoint.find(state.m_names[i]), state.m_names[i]));
    }
    const auto* counter = checkpoint.find(kStepCounterName);
    if (counter == nullptr || counter->dtype != "I64" || !counter->shape.empty()) {
        return fail(ErrorCode::malformed, fmt::format("expected a tensor \"{}\" with one I64 value", kStepCounterName));
    }
    state.m_step = base::loadLe<std::uint64_t>(counter->bytes.data());
    if (state.m_step != step) {
        return fail(ErrorCode::malformed,
                    fmt::format("\"{}\" is {}, expected {}", kStepCounterName, state.m_step, step));
    }
    if (checkpoint.tensors().size() != state.m_names.size() + 1) {
        return fail(ErrorCode::malformed,
                    fmt::format("{} tensors, expected {}", checkpoint.tensors().size(), state.m_names.size() + 1));
    }
    return std::move(state);
}

std::vector<format::TensorView> TrainingState::views() const {
    std::vector<format::TensorView> views;
    views.reserve(m_names.size() + 1);
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        const auto& source = i < m_tensors.size() ? m_tensors[i] : m_optimizer[i - m_tensors.size()];
        views.push_back({m_names[i], "F32", source.shape(), format::bytesOf(source.values())});
    }
    views.push_back(
        {std::string(kStepCounterName), "I64", {}, {reinterpret_cast<const std::uint8_t*>(&m_step), sizeof m_step}});
    return views;
}

format::StateCommitment TrainingState::commit(unsigned threads) const {
    const auto all = views();
    return format::commitState(all, threads);
}

std::vector<std::string> TrainingState::sortedNames() const {
    auto names = m_names;
    names.emplace_back(kStepCounterName);
    std::sort(names.begin(), names.end());
    return names;
}

TrainingState TrainingState::clone() const {
    TrainingState copy;
    copy.m_names = m_names;
    copy.m_statesPerParameter = m_statesPerParameter;
    copy.m_step = m_step;
    for (const auto& source : m_tensors) {
        copy.m_tensors.push_back(source.clone());
    }
    for (const auto& source : m_optimizer) {
        copy.m_optimizer.push_back(source.clone());
    }
    return copy;
}

} // namespace assay::engine
