// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/op_base.h"

#include "core/numerics/arrays.h"

namespace assay::tensor::detail {
namespace {

template <typename T>
const T* find(const OpCall& call, const char* name) {
    if (call.attributes == nullptr) {
        return nullptr;
    }
    const auto found = call.attributes->find(name);
    return found == call.attributes->end() ? nullptr : std::get_if<T>(&found->second);
}

} // namespace

Result<void> OpBase::expectInputs(const OpCall& call, std::size_t least, std::size_t most) const {
    if (call.inputs.size() < least || call.inputs.size() > most) {
        return wrong(fmt::format("has {} inputs, expected {} to {}", call.inputs.size(), least, most));
    }
    for (const Shape& shape : call.inputs) {
        if (shape.size() > kMaxRank) {
            return wrong(fmt::format("input of shape {} has more than {} dimensions", toString(shape), kMaxRank));
        }
        std::uint64_t count = 1;
        for (const std::int64_t dimension : shape) {
            if (dimension < 1 || static_cast<std::uint64_t>(dimension) >= kMaxValues) {
                return wrong(fmt::format("input of shape {} has a dimension out of range", toString(shape)));
            }
            count *= static_cast<std::uint64_t>(dimension); // < 2^80 cannot happen: checked before the next factor
            if (count >= kMaxValues) {
                return wrong(fmt::format("input of shape {} is too large", toString(shape)));
            }
        }
    }
    return {};
}

Result<void> OpBase::expectRank(const OpCall& call, std::size_t input, std::size_t least, std::size_t most) const {
    const std::size_t rank = call.inputs[input].size();
    if (rank < least || rank > most) {
        return wrong(fmt::format("input {} has shape {}, expected {} to {} dimensions", input,
                                 toString(call.inputs[input]), least, most));
    }
    return {};
}

Result<void> OpBase::expectShape(const OpCall& call, std::size_t input, const Shape& shape) const {
    if (call.inputs[input] != shape) {
        return wrong(
            fmt::format("input {} has shape {}, expected {}", input, toString(call.inputs[input]), toString(shape)));
    }
    return {};
}

Result<std::int64_t> OpBase::integer(const OpCall& call, const char* name, std::int64_t least,
                                     std::int64_t most) const {
    const auto* value = find<std::int64_t>(call, name);
    if (value == nullptr) {
        return wrong(fmt::format("the integer attribute '{}' is missing", name));
    }
    if (*value < least || *value > most) {
        return wrong(fmt::format("{} is {}, expected {} to {}", name, *value, least, most));
    }
    return *value;
}

Result<float> OpBase::real(const OpCall& call, const char* name) const {
    const auto* value = find<float>(call, name);
    if (value == nullptr || !arith::isFinite(*value)) {
        return wrong(fmt::format("the real attribute '{}' is missing or not finite", name));
    }
    return *value;
}

Result<bool> OpBase::boolean(const OpCall& call, const char* name) const {
    const auto* value = find<bool>(call, name);
    return value != nullptr && *value;
}

Result<std::vector<std::int64_t>> OpBase::integers(const OpCall& call, const char* name) const {
    const auto* value = find<std::vector<std::int64_t>>(call, name);
    if (value == nullptr) {
        return wrong(fmt::format("the attribute '{}' (a list of integers) is missing", name));
    }
    return *value;
}

Result<std::vector<Shape>> OpBase::beginForward(OpRun& run) const {
    ASSAY_TRY(shapes, inferShapes(run.call));
    ASSAY_ASSERT(run.inputs.size() == run.call.inputs.size() && run.emitter != nullptr && run.context.pool != nullptr);
    for (std::size_t i = 0; i < run.inputs.size(); ++i) {
        const OpInput& in = run.inputs[i];
        if ((in.values == nullptr) == (in.ids == nullptr)) {
            return wrong(fmt::format("input {} must be one of values and ids", i));
        }
        const Shape& shape = in.values != nullptr ? in.values->shape() : in.ids->shape;
        ASSAY_ASSERT(shape == run.call.inputs[i]);
        const bool isIds = in.ids != nullptr;
        const bool wantsIds = (m_kind == "embedding" && i == 0) || (m_kind == "cross_entropy" && i == 1);
        if (isIds != wantsIds) {
            return wrong(fmt::format("input {} must hold {}", i, wantsIds ? "integers" : "FP32 values"));
        }
        ASSAY_ASSERT(!isIds || in.ids->values.size() == elementCount(shape));
    }
    run.outputs.clear();
    run.saved.clear();
    run.updated.clear();
    return std::move(shapes);
}

Result<void> OpBase::beginBackward(OpRun& run) const {
    ASSAY_TRY(shapes, inferShapes(run.call));
    ASSAY_ASSERT(run.call.mode == Mode::train && run.outputGradients.size() == shapes.size());
    ASSAY_ASSERT((run.wantedGradients & constantInputs(run.call)) == 0);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        ASSAY_ASSERT(run.outputGradients[i] == nullptr || run.outputGradients[i]->shape() == shapes[i]);
    }
    ASSAY_ASSERT(shapes.size() > 1 || run.outputGradients[0] != nullptr);
    const BackwardNeeds needs = backwardNeeds(run.call);
    for (std::size_t i = 0; i < run.call.inputs.size(); ++i) {
        ASSAY_ASSERT(!isWanted(needs.inputs, i) || run.inputs[i].values != nullptr || run.inputs[i].ids != nullptr);
    }
    ASSAY_ASSERT(!needs.outputs || run.outputs.size() == shapes.size());
    run.inputGradients.clear();
    run.inputGradients.resize(run.call.inputs.size());
    return {};
}

void roundedColumnSums(OpRun& run, const float* x, std::uint64_t rows, std::uint64_t cols, float* out) {
    constexpr std::uint64_t kWidth = 16;
    forLines(run, (cols + kWidth - 1) / kWidth, rows * kWidth, [&](std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t first = begin * kWidth;
        const std::uint64_t last = std::min(cols, end * kWidth);
        std::vector<double> sums(last - first);
        numerics::columnSums(x + first, rows, last - first, cols, sums.data());
        numerics::roundArray(sums.data(), out + first, last - first);
    });
}

} // namespace assay::tensor::detail
