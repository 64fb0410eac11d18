// SPDX-License-Identifier: Apache-2.0
#include "core/engine/executor.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/tensor/optimizer.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;
using tensor::Tensor;

Result<BatchValues> loadBatch(const format::Program& program, const format::Dataset& data,
                              std::span<const std::uint64_t> indices) {
    BatchValues batch;
    batch.floats.resize(program.batch.size());
    batch.ids.resize(program.batch.size());
    const bool text = data.spec().task == "next-token";
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> targets;
    if (text) {
        tokens.resize(indices.size() * data.valuesPerSample());
        targets.resize(tokens.size());
        data.copyTokens(indices, tokens.data(), targets.data());
    }
    for (std::size_t i = 0; i < program.batch.size(); ++i) {
        const auto& spec = program.batch[i];
        tensor::Shape shape = spec.shape;
        shape[0] = 1;
        const std::uint64_t perSample = tensor::elementCount(shape);
        shape[0] = static_cast<std::int64_t>(indices.size());
        const auto mismatch = [&](std::uint64_t found) {
            return fail(ErrorCode::malformed,
                        fmt::format("batch tensor \"{}\" wants {} values per sample, the data have {}", spec.name,
                                    perSample, found));
        };
        if (spec.dtype == "f32" && spec.name == "image" && !text) {
            if (perSample != data.valuesPerSample()) {
                return mismatch(data.valuesPerSample());
            }
            batch.floats[i] = Tensor::uninitialised(shape);
            data.copyImages(indices, batch.floats[i].data());
        } else if (spec.dtype == "i64" && spec.name == "label" && !text) {
            if (perSample != 1) {
                return mismatch(1);
            }
            batch.ids[i] = {shape, std::vector<std::int64_t>(indices.size())};
            data.copyLabels(indices, batch.ids[i].values.data());
        } else if (spec.dtype == "i64" && (spec.name == "tokens" || spec.name == "targets") && text) {
            if (perSample != data.valuesPerSample()) {
                return mismatch(data.valuesPerSample());
            }
            batch.ids[i] = {shape, spec.name == "tokens" ? tokens : targets};
        } else {
            return fail(ErrorCode::malformed,
                        fmt::format("batch tensor \"{}\" ({}) is nothing that {} data provide", spec.name, spec.dtype,
                                    data.spec().task),
                        text ? "tokens and targets (i64)" : "image (f32) and label (i64)");
        }
    }
    return batch;
}

namespace {

/// Translates an operator's local site numbers into those of the step.
class OperatorEmitter final : public tensor::SiteEmitter {
public:
    OperatorEmitter(const std::vector<Site>& sites, StepSink& sink) : m_sites(sites), m_sink(sink) {}
    void begin(std::uint32_t firstSite) { m_first = firstSite; }

    Result<void> product(std::uint32_t site, const numerics::ProductSite& panel, float* out) override {
        ASSAY_ASSERT(m_first + site < m_sites.size() && m_sites[m_first + site].product);
        return m_sink.product(m_sites[m_first + site], panel, out);
    }
    Result<void> completed(std::uint32_t site, std::span<float> values) override {
        ASSAY_ASSERT(m_first + site < m_sites.size() && m_sites[m_first + site].values == values.size());
        return m_sink.completed(m_sites[m_first + site], values);
    }

private:
    const std::vector<Site>& m_sites;
    StepSink& m_sink;
    std::uint32_t m_first = 0;
};

} // namespace

/// The values of one step while it runs.
class Executor::Run {
public:
    Run(Executor& executor, std::vector<Tensor>& state, const BatchValues& batch, std::uint64_t step,
        std::uint64_t seed, StepSink& sink)
        : m_executor(executor), m_table(executor.m_table), m_state(state), m_batch(batch), m_step(step), m_seed(seed),
          m_sink(sink), m_emitter(executor.m_sites, sink), m_values(m_table.values().size()),
          m_saved(m_table.operators().size()) {}

    Result<void> forward() {
        for (std::uint32_t i = 0; i < m_table.operators().size(); ++i) {
            const auto& plan = m_table.operators()[i];
            auto run = prepare(i, plan.forwardSite);
            ASSAY_CHECK(explain(i, plan.kernel->forward(run)));
            ASSAY_ASSERT(run.outputs.size() == plan.outputs.size());
            for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
                m_values[plan.outputs[k]] = std::move(run.outputs[k]);
            }
            if (plan.backward) {
                m_saved[i] = std::move(run.saved);
            }
            for (std::size_t k = 0; k < run.updated.size(); ++k) {
                if (run.updated[k].isDefined()) {
                    m_updated.emplace_back(m_table.values()[plan.inputs[k]].position, std::move(run.updated[k]));
                }
            }
            for (const auto value : plan.freeAfterForward) {
                m_values[value] = Tensor();
            }
        }
        return {};
    }

    Result<void> backward() {
        m_gradients.resize(m_table.values().size());
        m_parts.resize(m_table.values().size());
        const auto lossShape = m_table.values()[m_table.lossValue()].shape;
        const float one = 1.0f;
        m_gradients[m_table.lossValue()] = Tensor(lossShape, std::span<const float>(&one, 1));
        for (std::uint32_t i = static_cast<std::uint32_t>(m_table.operators().size()); i-- > 0;) {
            if (m_table.operators()[i].backward) {
                ASSAY_CHECK(backwardOf(i));
            }
        }
        return {};
    }

    Result<void> update(TrainingState& state, const StepSettings& settings) {
        // Buffers first: nobody reads their old values any more.
        for (auto& [position, values] : m_updated) {
            m_state[position] = std::move(values);
        }
        double factor = 1.0;
        if (m_table.clipSite() != kNone) {
            std::vector<const Tensor*> gradients;
            for (const auto& plan : m_table.updates()) {
                gradients.push_back(&m_gradients[plan.value]);
            }
            float norm = tensor::gradientNorm(gradients, m_executor.m_pool);
            ASSAY_CHECK(m_sink.completed(m_executor.m_sites[m_table.clipSite()], {&norm, 1}));
            factor = tensor::clipFactor(norm, m_executor.m_optimizer.clipNorm);
        }
        for (const auto& plan : m_table.updates()) {
            apply(state, plan, settings, factor);
            std::uint32_t site = plan.firstSite;
            for (std::size_t k = 0; k < state.statesPerParameter(); ++k, ++site) {
                ASSAY_CHECK(
                    m_sink.completed(m_executor.m_sites[site], state.optimizer()[plan.firstState + k].values()));
            }
            ASSAY_CHECK(m_sink.completed(m_executor.m_sites[site], state.tensors()[plan.tensor].values()));
            m_gradients[plan.value] = Tensor();
        }
        return {};
    }

    [[nodiscard]] float loss() const { return m_values[m_table.lossValue()].values()[0]; }
    [[nodiscard]] Tensor takeLogits() {
        return m_table.logitsValue() == kNone ? Tensor() : std::move(m_values[m_table.logitsValue()]);
    }

private:
    [[nodiscard]] const Tensor* valuesOf(std::uint32_t value) const {
        const auto& info = m_table.values()[value];
        switch (info.origin) {
        case ValueInfo::Origin::batch:
            return &m_batch.floats[info.position];
        case ValueInfo::Origin::state:
            return &m_state[info.position];
        case ValueInfo::Origin::output:
            break;
        }
        return &m_values[value];
    }

    tensor::OpRun prepare(std::uint32_t index, std::uint32_t firstSite) {
        const auto& plan = m_table.operators()[index];
        tensor::OpRun run;
        run.call = plan.call;
        run.inputs.resize(plan.inputs.size());
        for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
            const auto& info = m_table.values()[plan.inputs[k]];
            if (info.ids) {
                run.inputs[k].ids = &m_batch.ids[info.position];
            } else {
                run.inputs[k].values = valuesOf(plan.inputs[k]);
            }
        }
        run.context.products = &m_executor.m_products;
        run.context.pool = &m_executor.m_pool;
        run.context.seed = m_seed;
        run.context.step = m_step;
        run.context.operatorIndex = index;
        run.context.firstSite = m_executor.m_sites.empty() ? 0 : m_executor.m_sites.front().index + firstSite;
        m_emitter.begin(firstSite);
        run.emitter = &m_emitter;
        return run;
    }

    /// Names the operator in an error that is not about a diverged step.
    Result<void> explain(std::uint32_t index, Result<void> result) const {
        if (result || m_sink.diverged() || result.error().code != ErrorCode::malformed) {
            return result;
        }
        auto error = std::move(result).error();
        const auto& op = m_table.program().operators[index];
        error.message = fmt::format("step {}, operator \"{}\" ({}): {}", m_step, op.name, op.kind, error.message);
        return fail(std::move(error));
    }

    Result<void> backwardOf(std::uint32_t index) {
        const auto& plan = m_table.operators()[index];
        auto run = prepare(index, plan.backwardSite);
        run.saved = std::move(m_saved[index]);
        if (plan.needs.outputs) {
            for (const auto output : plan.outputs) {
                run.outputs.push_back(m_values[output].alias());
            }
        }
        for (const auto output : plan.outputs) {
            run.outputGradients.push_back(m_gradients[output].isDefined() ? &m_gradients[output] : nullptr);
        }
        run.wantedGradients = plan.wantedGradients;
        ASSAY_CHECK(explain(index, plan.kernel->backward(run)));
        ASSAY_ASSERT(run.inputGradients.size() == plan.inputs.size());
        for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
            if (((plan.wantedGradients >> k) & 1u) != 0) {
                contribute(plan.inputs[k], index, static_cast<std::uint32_t>(k), std::move(run.inputGradients[k]));
            }
        }
        for (const auto output : plan.outputs) {
            m_gradients[output] = Tensor();
        }
        for (const auto value : plan.sumsAfterBackward) {
            ASSAY_CHECK(sumOf(value));
        }
        for (const auto value : plan.freeAfterBackward) {
            m_values[value] = Tensor();
        }
        return {};
    }

    void contribute(std::uint32_t value, std::uint32_t index, std::uint32_t input, Tensor gradient) {
        ASSAY_ASSERT(gradient.isDefined() && gradient.shape() == m_table.values()[value].shape);
        const auto& all = m_table.contributions(value);
        if (all.size() == 1) {
            m_gradients[value] = std::move(gradient);
            return;
        }
        auto& parts = m_parts[value];
        parts.resize(all.size());
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (all[k].operatorIndex == index && all[k].input == input) {
                parts[k] = std::move(gradient);
                return;
            }
        }
    }

    Result<void> sumOf(std::uint32_t value) {
        std::vector<const Tensor*> parts;
        for (const auto& part : m_parts[value]) {
            ASSAY_ASSERT(part.isDefined());
            parts.push_back(&part);
        }
        m_gradients[value] = tensor::sumGradients(parts, m_executor.m_pool);
        m_parts[value].clear();
        return m_sink.completed(m_executor.m_sites[m_table.values()[value].sumSite], m_gradients[value].values());
    }

    void apply(TrainingState& state, const UpdatePlan& plan, const StepSettings& settings, double factor) {
        const auto& spec = m_executor.m_optimizer;
        auto& pool = m_executor.m_pool;
        const auto parameter = state.tensors()[plan.tensor].values();
        const auto gradient = std::as_const(m_gradients[plan.value]).values();
        ASSAY_ASSERT(parameter.size() == gradient.size());
        const auto slot = [&](std::size_t k) {
            return k < state.statesPerParameter() ? state.optimizer()[plan.firstState + k].values()
                                                  : std::span<float>{};
        };
        if (spec.kind == "adamw") {
            tensor::adamwUpdate({spec.beta1, spec.beta2, spec.epsilon, spec.weightDecay}, settings.step,
                                settings.learningRate, factor, parameter, gradient, slot(0), slot(1), pool);
        } else {
            tensor::sgdUpdate({spec.momentum, spec.weightDecay, spec.nesterov}, settings.learningRate, factor,
                              parameter, gradient, slot(0), pool);
        }
    }

    Executor& m_executor;
    const SiteTable& m_table;
    std::vector<Tensor>& m_state;
    const BatchValues& m_batch;
    std::uint64_t m_step;
    std::uint64_t m_seed;
    StepSink& m_sink;
    OperatorEmitter m_emitter;
    std::vector<Tensor> m_values; ///< outputs that are still needed
    std::vector<std::vector<Tensor>> m_saved;
    std::vector<Tensor> m_gradients;
    std::vector<std::vector<Tensor>> m_parts;                ///< contributions of values with several consumers
    std::vector<std::pair<std::uint32_t, Tensor>> m_updated; ///< new buffer values, by position in Program::tensors
};

Result<float> Executor::train(TrainingState& state, const BatchValues& batch, const StepSettings& settings,
                              StepSink& sink) {
    ASSAY_ASSERT(m_table.mode() == tensor::Mode::train && state.step() + 1 == settings.step);
    Run run(*this, state.tensors(), batch, settings.step, settings.seed, sink);
    ASSAY_CHECK(run.forward());
    const float loss = run.loss();
    ASSAY_CHECK(run.backward());
    ASSAY_CHECK(run.update(state, settings));
    state.setStep(settings.step);
    return loss;
}

Result<Executor::Evaluation> Executor::evaluate(const TrainingState& state, const BatchValues& batch, StepSink& sink) {
    ASSAY_ASSERT(m_table.mode() == tensor::Mode::evaluate);
    // Evaluation updates nothing; the run only needs a place to read the state from.
    std::vector<Tensor> tensors;
    for (const auto& source : state.tensors()) {
        tensors.push_back(source.alias());
    }
    Run run(*this, tensors, batch, state.step(), 0, sink);
    ASSAY_CHECK(run.forward());
    return Evaluation{run.loss(), run.takeLogits()};
}

} // namespace assay::engine
