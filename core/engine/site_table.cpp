// SPDX-License-Identifier: Apache-2.0
#include "core/engine/site_table.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/tensor/optimizer.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;
using tensor::Direction;
using tensor::Mode;
using tensor::Shape;

namespace {

constexpr std::size_t kMaxInputs = 32; ///< sets of inputs are bit masks

constexpr std::uint32_t bit(std::size_t i) {
    return std::uint32_t{1} << i;
}
constexpr bool has(std::uint32_t mask, std::size_t i) {
    return (mask & bit(i)) != 0;
}

} // namespace

class SiteTable::Builder {
public:
    Builder(const format::Program& program, std::uint64_t batch, const format::OptimizerSpec& optimizer, Mode mode)
        : m_optimizer(optimizer) {
        m_table.m_program = std::make_shared<const format::Program>(program);
        m_table.m_batch = batch;
        m_table.m_mode = mode;
    }

    Result<SiteTable> run() {
        defineBatchAndState();
        for (std::uint32_t i = 0; i < program().operators.size(); ++i) {
            ASSAY_CHECK(addOperator(i));
        }
        ASSAY_CHECK(findResults());
        addForwardSites();
        if (m_table.m_mode == Mode::train) {
            traceGradients();
            addBackwardSites();
            ASSAY_CHECK(addUpdateSites());
        }
        planLifetimes();
        estimatePeak();
        return std::move(m_table);
    }

private:
    [[nodiscard]] const format::Program& program() const { return *m_table.m_program; }

    std::uint32_t define(ValueInfo info) {
        const auto number = static_cast<std::uint32_t>(m_table.m_values.size());
        m_numberOf.emplace(info.name, number);
        m_table.m_values.push_back(std::move(info));
        return number;
    }

    void defineBatchAndState() {
        for (std::uint32_t i = 0; i < program().batch.size(); ++i) {
            const auto& spec = program().batch[i];
            ValueInfo info;
            info.name = spec.name;
            info.origin = ValueInfo::Origin::batch;
            info.position = i;
            info.ids = spec.dtype == "i64";
            info.shape = spec.shape;
            info.shape[0] = static_cast<std::int64_t>(m_table.m_batch);
            define(std::move(info));
        }
        for (std::uint32_t i = 0; i < program().tensors.size(); ++i) {
            const auto& spec = program().tensors[i];
            ValueInfo info;
            info.name = spec.name;
            info.origin = ValueInfo::Origin::state;
            info.position = i;
            info.parameter = spec.role == "parameter";
            info.shape = spec.shape;
            define(std::move(info));
        }
    }

    [[nodiscard]] tl::unexpected<base::Error> operatorError(std::uint32_t index, std::string_view what) const {
        const auto& op = program().operators[index];
        return fail(ErrorCode::malformed, fmt::format("operator {} of {} \"{}\" ({}): {}", index + 1,
                                                      program().operators.size(), op.name, op.kind, what));
    }

    Result<void> addOperator(std::uint32_t index) {
        const auto& op = program().operators[index];
        OperatorPlan plan;
        plan.kernel = tensor::findKernel(op.kind);
        if (plan.kernel == nullptr) {
            return operatorError(index, "this release cannot execute this kind");
        }
        if (op.inputs.size() > kMaxInputs) {
            return operatorError(index,
                                 fmt::format("{} inputs, at most {} are possible", op.inputs.size(), kMaxInputs));
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const auto found = m_numberOf.find(op.inputs[i]);
            if (found == m_numberOf.end()) {
                return operatorError(index, fmt::format("input \"{}\" is not defined", op.inputs[i]));
            }
            const auto& value = m_table.m_values[found->second];
            plan.inputs.push_back(found->second);
            plan.inputShapes.push_back(value.shape);
            plan.call.parameterInputs |= value.parameter ? bit(i) : 0;
        }
        plan.call.attributes = &op.attributes;
        plan.call.inputs = plan.inputShapes;
        plan.call.batch = static_cast<std::int64_t>(m_table.m_batch);
        plan.call.outputs = op.outputs.size();
        plan.call.mode = m_table.m_mode;
        auto shapes = plan.kernel->inferShapes(plan.call);
        if (!shapes) {
            return operatorError(index, shapes.error().message);
        }
        if (shapes->size() != op.outputs.size()) {
            return operatorError(
                index, fmt::format("makes {} values, the program names {}", shapes->size(), op.outputs.size()));
        }
        for (std::uint32_t slot = 0; slot < op.outputs.size(); ++slot) {
            ValueInfo info;
            info.name = op.outputs[slot];
            info.position = index;
            info.slot = slot;
            info.shape = (*shapes)[slot];
            plan.outputs.push_back(define(std::move(info)));
        }
        plan.updatedInputs = m_table.m_mode == Mode::train ? plan.kernel->updatedInputs(plan.call) : 0;
        ASSAY_CHECK(checkUpdatedInputs(index, plan));
        m_table.m_operators.push_back(std::move(plan));
        return {};
    }

    /// A buffer has one writer, and that one alone reads it, so that the moment of the update does not matter.
    Result<void> checkUpdatedInputs(std::uint32_t index, const OperatorPlan& plan) {
        for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
            const auto& value = m_table.m_values[plan.inputs[i]];
            const bool updates = has(plan.updatedInputs, i);
            if (updates && (value.origin != ValueInfo::Origin::state || value.parameter)) {
                return operatorError(index, fmt::format("it would update \"{}\", which is not a buffer", value.name));
            }
            if ((updates || m_writer.contains(plan.inputs[i])) && m_reader.contains(plan.inputs[i])) {
                return operatorError(index,
                                     fmt::format("buffer \"{}\" is updated and used by several operators", value.name));
            }
            m_reader.emplace(plan.inputs[i], index);
            if (updates) {
                m_writer.emplace(plan.inputs[i], index);
            }
        }
        return {};
    }

    Result<void> findResults() {
        const auto loss = m_numberOf.find(program().loss);
        if (loss == m_numberOf.end() || m_table.m_values[loss->second].origin != ValueInfo::Origin::output) {
            return fail(ErrorCode::malformed,
                        fmt::format("the loss \"{}\" is not the output of an operator", program().loss));
        }
        if (tensor::elementCount(m_table.m_values[loss->second].shape) != 1) {
            return fail(ErrorCode::malformed,
                        fmt::format("the loss \"{}\" has shape {}, expected one value", program().loss,
                                    tensor::toString(m_table.m_values[loss->second].shape)));
        }
        m_table.m_lossValue = loss->second;
        if (!program().logits.empty()) {
            m_table.m_logitsValue = m_numberOf.at(program().logits);
        }
        return {};
    }

    std::uint32_t addSite(std::uint32_t operatorIndex, std::string name, Direction direction, bool product,
                          Shape shape) {
        Site site;
        site.index = static_cast<std::uint32_t>(m_table.m_sites.size());
        site.operatorIndex = operatorIndex;
        site.name = std::move(name);
        site.direction = direction;
        site.product = product;
        site.section = product ? m_table.m_productSites++ : kNone;
        site.values = tensor::elementCount(shape);
        site.shape = std::move(shape);
        m_table.m_sites.push_back(std::move(site));
        return m_table.m_sites.back().index;
    }

    void addOperatorSites(std::uint32_t index, std::vector<tensor::SiteSpec> specs) {
        for (auto& spec : specs) {
            addSite(index, fmt::format("{} / {}", program().operators[index].name, spec.suffix), spec.direction,
                    spec.product, std::move(spec.shape));
        }
    }

    void addForwardSites() {
        for (std::uint32_t i = 0; i < m_table.m_operators.size(); ++i) {
            auto& plan = m_table.m_operators[i];
            plan.forwardSite = static_cast<std::uint32_t>(m_table.m_sites.size());
            addOperatorSites(i, plan.kernel->forwardSites(plan.call));
        }
    }

    /// A value needs a gradient if it depends on a parameter and the loss depends on it.
    void traceGradients() {
        auto& values = m_table.m_values;
        std::vector<bool> fromParameter(values.size());
        for (std::size_t v = 0; v < values.size(); ++v) {
            fromParameter[v] = values[v].parameter;
        }
        for (auto& plan : m_table.m_operators) {
            const std::uint32_t constant = plan.kernel->constantInputs(plan.call);
            for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
                plan.wantedGradients |= fromParameter[plan.inputs[i]] && !has(constant, i) ? bit(i) : 0;
            }
            for (const auto output : plan.outputs) {
                fromParameter[output] = plan.wantedGradients != 0;
            }
        }
        values[m_table.m_lossValue].needsGradient = fromParameter[m_table.m_lossValue];
        for (std::size_t i = m_table.m_operators.size(); i-- > 0;) {
            auto& plan = m_table.m_operators[i];
            plan.backward = std::any_of(plan.outputs.begin(), plan.outputs.end(),
                                        [&](std::uint32_t output) { return values[output].needsGradient; });
            plan.backward = plan.backward && plan.wantedGradients != 0;
            plan.wantedGradients = plan.backward ? plan.wantedGradients : 0;
            for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
                if (has(plan.wantedGradients, k)) {
                    values[plan.inputs[k]].needsGradient = true;
                }
            }
        }
        m_table.m_contributions.resize(values.size());
        for (std::uint32_t i = 0; i < m_table.m_operators.size(); ++i) {
            const auto& plan = m_table.m_operators[i];
            for (std::uint32_t k = 0; k < plan.inputs.size(); ++k) {
                if (has(plan.wantedGradients, k)) {
                    m_table.m_contributions[plan.inputs[k]].push_back({i, k});
                    ++values[plan.inputs[k]].contributions;
                }
            }
        }
    }

    void addBackwardSites() {
        for (std::size_t i = m_table.m_operators.size(); i-- > 0;) {
            auto& plan = m_table.m_operators[i];
            plan.backwardSite = static_cast<std::uint32_t>(m_table.m_sites.size());
            if (!plan.backward) {
                continue;
            }
            plan.needs = plan.kernel->backwardNeeds(plan.call);
            addOperatorSites(static_cast<std::uint32_t>(i),
                             plan.kernel->backwardSites(plan.call, plan.wantedGradients));
            for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
                auto& value = m_table.m_values[plan.inputs[k]];
                const auto& all = m_table.m_contributions[plan.inputs[k]];
                if (all.size() < 2 || all.front().operatorIndex != i || all.front().input != k) {
                    continue; // the first consumer in program order is the last one to run backward
                }
                value.sumSite = addSite(value.origin == ValueInfo::Origin::output ? value.position : kNone,
                                        fmt::format("{} / gradient sum", value.name),
                                        value.parameter ? Direction::parameterGradient : Direction::inputGradient,
                                        false, value.shape);
                plan.sumsAfterBackward.push_back(plan.inputs[k]);
            }
        }
    }

    Result<void> addUpdateSites() {
        ASSAY_TRY(stateNames, tensor::optimizerStateNames(m_optimizer.kind, m_optimizer.momentum));
        if (m_optimizer.clipNorm > 0) {
            m_table.m_clipSite = addSite(kNone, "optimizer / gradient norm", Direction::statistic, false, {});
        }
        for (std::uint32_t v = 0; v < m_table.m_values.size(); ++v) {
            const auto& value = m_table.m_values[v];
            if (value.origin != ValueInfo::Origin::state || !value.parameter) {
                continue;
            }
            UpdatePlan update;
            update.value = v;
            update.tensor = value.position;
            update.firstState = m_stateTensors;
            m_stateTensors += static_cast<std::uint32_t>(stateNames.size());
            if (!value.needsGradient) {
                continue; // nothing the loss depends on: it stays as it is
            }
            update.firstSite = static_cast<std::uint32_t>(m_table.m_sites.size());
            for (const auto& name : stateNames) {
                addSite(kNone, fmt::format("{} / {}", value.name, name), Direction::optimizerState, false, value.shape);
            }
            addSite(kNone, fmt::format("{} / update", value.name), Direction::parameterUpdate, false, value.shape);
            m_table.m_updates.push_back(update);
        }
        return {};
    }

    /// The moment after which nobody reads a value: forward of operator i is moment i, its backward 2n - 1 - i.
    void planLifetimes() {
        const auto count = m_table.m_operators.size();
        std::vector<std::size_t> lastUse(m_table.m_values.size(), 0);
        const auto use = [&](std::uint32_t value, std::size_t moment) {
            lastUse[value] = std::max(lastUse[value], moment);
        };
        for (std::size_t i = 0; i < count; ++i) {
            const auto& plan = m_table.m_operators[i];
            const std::size_t backwardMoment = 2 * count - 1 - i;
            for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
                use(plan.inputs[k], i);
                if (plan.backward && has(plan.needs.inputs, k)) {
                    use(plan.inputs[k], backwardMoment);
                }
            }
            for (const auto output : plan.outputs) {
                use(output, i);
                if (plan.backward && plan.needs.outputs) {
                    use(output, backwardMoment);
                }
            }
        }
        for (std::uint32_t v = 0; v < m_table.m_values.size(); ++v) {
            if (m_table.m_values[v].origin != ValueInfo::Origin::output || v == m_table.m_lossValue ||
                v == m_table.m_logitsValue) {
                continue; // the batch, the state and the results outlive the step
            }
            if (lastUse[v] < count) {
                m_table.m_operators[lastUse[v]].freeAfterForward.push_back(v);
            } else {
                m_table.m_operators[2 * count - 1 - lastUse[v]].freeAfterBackward.push_back(v);
            }
        }
    }

    /// Walks through forward and backward. Sums saturate in double: shapes may be absurd.
    void estimatePeak() {
        const auto bytesOf = [&](std::uint32_t value) {
            return static_cast<double>(sizeof(float)) *
                   static_cast<double>(tensor::elementCount(m_table.m_values[value].shape));
        };
        double held = 0;
        double peak = 0;
        for (const auto& plan : m_table.m_operators) {
            for (const auto output : plan.outputs) {
                held += bytesOf(output);
            }
            peak = std::max(peak, held);
            for (const auto value : plan.freeAfterForward) {
                held -= bytesOf(value);
            }
        }
        for (std::size_t i = m_table.m_operators.size(); i-- > 0;) {
            const auto& plan = m_table.m_operators[i];
            double gradients = 0; // of this operator alone; those of parameters stay
            for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
                const bool stays = m_table.m_values[plan.inputs[k]].parameter;
                gradients += has(plan.wantedGradients, k) && !stays ? bytesOf(plan.inputs[k]) : 0;
                held += has(plan.wantedGradients, k) && stays ? bytesOf(plan.inputs[k]) : 0;
            }
            peak = std::max(peak, held + gradients);
            for (const auto value : plan.freeAfterBackward) {
                held -= bytesOf(value);
            }
        }
        constexpr double kMost = 0x1p62;
        m_table.m_peakBytes = static_cast<std::uint64_t>(std::min(peak, kMost));
    }

    const format::OptimizerSpec& m_optimizer;
    SiteTable m_table;
    std::unordered_map<std::string, std::uint32_t> m_numberOf;
    std::unordered_map<std::uint32_t, std::uint32_t> m_reader; ///< value -> an operator that reads it
    std::unordered_map<std::uint32_t, std::uint32_t> m_writer; ///< buffer -> the operator that updates it
    std::uint32_t m_stateTensors = 0;
};

Result<SiteTable> SiteTable::build(const format::Program& program, std::uint64_t batch,
                                   const format::OptimizerSpec& optimizer, Mode mode) {
    if (batch == 0) {
        return fail(ErrorCode::usage, "the batch size is 0");
    }
    return Builder(program, batch, optimizer, mode).run();
}

std::uint32_t SiteTable::findSite(std::string_view name) const {
    const auto found =
        std::find_if(m_sites.begin(), m_sites.end(), [&](const Site& site) { return site.name == name; });
    return found == m_sites.end() ? kNone : found->index;
}

} // namespace assay::engine
