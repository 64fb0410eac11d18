// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <numeric>

#include "core/tensor/ops/kernels.h"
#include "cuda/arith/reduce.h"

namespace assay::tensor::detail {
namespace {

/// ids[..], table[V, C] -> y[.., C]: exact copies, no site. The gradient of a row of the table is the sum over the
/// positions with its id, in position order, in the specified tree; rows without positions are +0.
class Embedding final : public OpBase {
public:
    Embedding() : OpBase("embedding") {}

    Result<std::vector<Shape>> inferShapes(const OpCall& call) const override {
        ASSAY_CHECK(expectInputs(call, 2, 2));
        ASSAY_CHECK(expectRank(call, 0, 0, kMaxRank - 1));
        ASSAY_CHECK(expectRank(call, 1, 2, 2));
        Shape y = call.inputs[0];
        y.push_back(call.inputs[1][1]);
        return std::vector<Shape>{y};
    }
    std::vector<SiteSpec> forwardSites(const OpCall&) const override { return {}; }
    std::vector<SiteSpec> backwardSites(const OpCall& call, std::uint32_t wanted) const override {
        return isWanted(wanted, 1) ? std::vector{gradientSite(call, 1, "dW")} : std::vector<SiteSpec>{};
    }
    BackwardNeeds backwardNeeds(const OpCall&) const override { return {1, false}; }
    std::uint32_t constantInputs(const OpCall&) const override { return 1; }

    Result<void> forward(OpRun& run) const override {
        ASSAY_TRY(shapes, beginForward(run));
        const std::vector<std::int64_t>& ids = run.inputs[0].ids->values;
        const std::uint64_t rows = dim(run.call.inputs[1], 0);
        const std::uint64_t width = dim(run.call.inputs[1], 1);
        ASSAY_CHECK(checkIds(ids, rows));
        Tensor y = Tensor::uninitialised(shapes[0]);
        const float* table = input(run, 1);
        float* out = y.data();
        forLines(run, ids.size(), width, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) {
                std::memcpy(out + i * width, table + static_cast<std::uint64_t>(ids[i]) * width, width * sizeof(float));
            }
        });
        run.outputs.push_back(std::move(y));
        return {};
    }

    Result<void> backward(OpRun& run) const override {
        ASSAY_CHECK(beginBackward(run));
        if (!isWanted(run.wantedGradients, 1)) {
            return {};
        }
        const std::vector<std::int64_t>& ids = run.inputs[0].ids->values;
        const std::uint64_t rows = dim(run.call.inputs[1], 0);
        const std::uint64_t width = dim(run.call.inputs[1], 1);
        ASSAY_CHECK(checkIds(ids, rows));
        // Positions grouped by id, in position order inside a group.
        std::vector<std::uint64_t> first(rows + 1, 0);
        for (const std::int64_t id : ids) {
            ++first[static_cast<std::uint64_t>(id) + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::uint64_t> position(ids.size());
        std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
        for (std::uint64_t i = 0; i < ids.size(); ++i) {
            position[next[static_cast<std::uint64_t>(ids[i])]++] = i;
        }
        Tensor dw = Tensor::uninitialised(run.call.inputs[1]);
        const float* dy = outputGradient(run);
        float* out = dw.data();
        forLines(run, rows, width, [&](std::uint64_t begin, std::uint64_t end) {
            std::vector<double> sums(width);
            for (std::uint64_t row = begin; row < end; ++row) {
                const std::uint64_t* at = position.data() + first[row];
                arith::treeSumColumns(
                    first[row + 1] - first[row], width,
                    [&](std::uint64_t r, std::uint64_t c) { return static_cast<double>(dy[at[r] * width + c]); },
                    sums.data());
                for (std::uint64_t c = 0; c < width; ++c) {
                    out[row * width + c] = arith::roundToFloat(sums[c]);
                }
            }
        });
        ASSAY_CHECK(completed(run, 0, dw));
        run.inputGradients[1] = std::move(dw);
        return {};
    }

private:
    Result<void> checkIds(const std::vector<std::int64_t>& ids, std::uint64_t rows) const {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (ids[i] < 0 || static_cast<std::uint64_t>(ids[i]) >= rows) {
                return wrong(fmt::format("id {} at position {} is not below {}", ids[i], i, rows));
            }
        }
        return {};
    }
};

} // namespace

const OpKernel& embeddingKernel() {
    static const Embedding kernel;
    return kernel;
}

} // namespace assay::tensor::detail
