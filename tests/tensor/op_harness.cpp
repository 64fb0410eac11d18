// SPDX-License-Identifier: Apache-2.0
#include "tests/tensor/op_harness.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cuda/arith/philox.h"
#include "cuda/arith/rounding.h"

namespace assay::test {

using tensor::IdTensor;
using tensor::Tensor;

base::Result<void> TestEmitter::product(std::uint32_t site, const numerics::ProductSite& panel, float* out) {
    if (site != values.size() || site >= m_sites.size() || !m_sites[site].product) {
        fault += fmt::format("product panel for site {} out of turn; ", site);
        return base::fail(base::ErrorCode::internal, fault);
    }
    if (m_next == 0 && m_mode != EmitMode::record) {
        m_rest = (*m_given)[site];
    }
    if (panel.indexBase != m_next) {
        fault += fmt::format("panel of site {} starts at {}, expected {}; ", site, panel.indexBase, m_next);
    }
    m_next = panel.indexBase + panel.values();
    if (m_mode == EmitMode::record) {
        const auto stats = numerics::recordSite(panel, out, m_log);
        entries += stats.entries;
        finite = finite && stats.finite;
    } else {
        const auto own = numerics::takeEntriesBelow(m_rest, m_next);
        const auto stats = numerics::enforceSite(panel, own, out, m_mode == EmitMode::ignoreLog);
        entries += stats.entries;
        corrections += stats.corrections;
        offences += stats.offenceCount;
        finite = finite && stats.finite;
    }
    return {};
}

base::Result<void> TestEmitter::completed(std::uint32_t site, std::span<float> now) {
    if (site != values.size() || site >= m_sites.size() || now.size() != tensor::elementCount(m_sites[site].shape)) {
        fault += fmt::format("site {} completed out of turn or with {} values; ", site, now.size());
        return base::fail(base::ErrorCode::internal, fault);
    }
    if (m_sites[site].product && m_next != now.size()) {
        fault += fmt::format("product site {} ended after {} of {} values; ", site, m_next, now.size());
    }
    if (plantSite == static_cast<std::int64_t>(site)) {
        now[plantElement] = plantValue;
    }
    if (!m_rest.empty()) {
        ++offences;
        m_rest = {};
    }
    for (const float v : now) {
        if (arith::isFinite(v) && !arith::isRepresentable(static_cast<double>(v))) {
            fault += fmt::format("site {} holds a value that is not representable (-0); ", site);
            break;
        }
    }
    values.emplace_back(now.begin(), now.end());
    logs.push_back(std::move(m_log));
    m_log = {};
    m_next = 0;
    return {};
}

Values randomValues(std::vector<std::int64_t> shape, std::uint32_t stream, double scale) {
    Values out = zeros(std::move(shape));
    for (std::size_t i = 0; i < out.v.size(); ++i) {
        const auto words = arith::randomBlock(7, 0, stream, i);
        const double radius = std::sqrt(-2.0 * std::log(arith::uniform01(words[0])));
        out.v[i] = static_cast<double>(
            arith::roundToFloat(scale * radius * std::cos(2.0 * M_PI * arith::uniform01(words[1]))));
    }
    return out;
}

Values randomIds(std::vector<std::int64_t> shape, std::uint32_t stream, std::uint64_t below) {
    Values out = zeros(std::move(shape));
    for (std::size_t i = 0; i < out.v.size(); ++i) {
        out.v[i] = static_cast<double>(arith::randomWord(7, 1, stream, i) % below);
    }
    return out;
}

std::vector<Values> outputGradientsFor(const std::vector<std::vector<std::int64_t>>& shapes) {
    std::vector<Values> out;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        out.push_back(randomValues(shapes[i], 900 + static_cast<std::uint32_t>(i)));
    }
    return out;
}

namespace {

Tensor toTensor(const Values& values) {
    Tensor t = Tensor::uninitialised(values.shape);
    for (std::size_t i = 0; i < values.v.size(); ++i) {
        t.data()[i] = static_cast<float>(values.v[i]);
    }
    return t;
}

Values toValues(const Tensor& t) {
    Values out;
    out.shape = t.shape();
    out.v.assign(t.values().begin(), t.values().end());
    return out;
}

void take(OpResult& result, TestEmitter& emitter) {
    for (std::size_t i = 0; i < emitter.values.size(); ++i) {
        result.siteValues.push_back(std::move(emitter.values[i]));
        result.logs.push_back(std::move(emitter.logs[i]));
    }
    result.entries += emitter.entries;
    result.corrections += emitter.corrections;
    result.offences += emitter.offences;
    result.finite = result.finite && emitter.finite;
    result.fault += emitter.fault;
}

} // namespace

OpResult runOp(const OpCase& op, const OpProfile& profile, EmitMode mode, const std::vector<numerics::SiteLog>* logs) {
    OpResult result;
    const tensor::OpKernel* kernel = tensor::findKernel(op.kind);
    if (kernel == nullptr) {
        result.fault = "no kernel";
        return result;
    }
    const auto active = tensor::activate(profile.kernel);
    EXPECT_TRUE(active.has_value()) << active.error().toString();
    tensor::ThreadPool pool(profile.poolThreads);
    tensor::ProductRunner products(profile.kernel, profile.bound, profile.block, 99, pool);
    std::vector<tensor::Shape> shapes;
    std::vector<Tensor> tensors(op.inputs.size());
    std::vector<IdTensor> ids(op.inputs.size());
    tensor::OpRun run;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        shapes.push_back(op.inputs[i].shape);
        if (i < op.isIds.size() && op.isIds[i]) {
            ids[i].shape = op.inputs[i].shape;
            for (const double v : op.inputs[i].v) {
                ids[i].values.push_back(static_cast<std::int64_t>(v));
            }
            run.inputs.push_back({nullptr, &ids[i]});
        } else {
            tensors[i] = toTensor(op.inputs[i]);
            run.inputs.push_back({&tensors[i], nullptr});
        }
    }
    run.call.attributes = &op.attributes;
    run.call.inputs = shapes;
    run.call.parameterInputs = op.parameters;
    run.call.batch = op.batch;
    run.call.outputs = op.outputs;
    run.call.mode = op.evaluate ? tensor::Mode::evaluate : tensor::Mode::train;
    run.context = {&products, &pool, op.seed, op.step, op.operatorIndex, 0};
    run.wantedGradients = op.wanted;
    const auto inferred = kernel->inferShapes(run.call);
    if (!inferred) {
        result.fault = inferred.error().toString();
        return result;
    }
    const auto forwardSites = kernel->forwardSites(run.call);
    TestEmitter forward(mode, forwardSites, logs);
    run.emitter = &forward;
    if (const auto done = kernel->forward(run); !done) {
        result.fault = done.error().toString();
        return result;
    }
    if (forward.values.size() != forwardSites.size()) {
        result.fault += "forward left sites out; ";
    }
    result.sites = forwardSites;
    take(result, forward);
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
        if (run.outputs[i].shape() != (*inferred)[i]) {
            result.fault += "an output has another shape than inferred; ";
        }
        result.outputs.push_back(toValues(run.outputs[i]));
    }
    for (const Tensor& t : run.updated) {
        if (t.isDefined()) {
            result.updated.push_back(toValues(t));
        }
    }
    if (op.evaluate) {
        return result;
    }
    // Only what backwardNeeds names is left.
    const tensor::BackwardNeeds needs = kernel->backwardNeeds(run.call);
    for (std::size_t i = 0; i < run.inputs.size(); ++i) {
        if (((needs.inputs >> i) & 1U) == 0) {
            run.inputs[i] = {};
            tensors[i] = Tensor();
        }
    }
    if (!needs.outputs) {
        run.outputs.clear();
    }
    std::vector<Tensor> gradients;
    for (const Values& g : outputGradientsFor(*inferred)) {
        gradients.push_back(toTensor(g));
    }
    for (const Tensor& g : gradients) {
        run.outputGradients.push_back(&g);
    }
    const auto backwardSites = kernel->backwardSites(run.call, op.wanted);
    std::vector<numerics::SiteLog> backwardLogs;
    if (logs != nullptr) {
        backwardLogs.assign(logs->begin() + static_cast<std::ptrdiff_t>(forwardSites.size()), logs->end());
    }
    TestEmitter backward(mode, backwardSites, &backwardLogs);
    run.emitter = &backward;
    run.context.firstSite = static_cast<std::uint32_t>(forwardSites.size());
    if (const auto done = kernel->backward(run); !done) {
        result.fault += done.error().toString();
        return result;
    }
    if (backward.values.size() != backwardSites.size()) {
        result.fault += "backward left sites out; ";
    }
    result.sites.insert(result.sites.end(), backwardSites.begin(), backwardSites.end());
    take(result, backward);
    for (std::size_t i = 0; i < run.inputGradients.size(); ++i) {
        const bool wanted = ((op.wanted >> i) & 1U) != 0;
        if (run.inputGradients[i].isDefined() != wanted || (wanted && run.inputGradients[i].shape() != shapes[i])) {
            result.fault += fmt::format("gradient of input {} is missing, unwanted or has another shape; ", i);
        }
        result.inputGradients.push_back(toValues(run.inputGradients[i]));
    }
    return result;
}

} // namespace assay::test
