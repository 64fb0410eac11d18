// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/engine/site_table.h"
#include "core/engine/step_sink.h"
#include "core/engine/training_state.h"
#include "core/format/dataset.h"
#include "core/tensor/product.h"

namespace assay::engine {

/// The batch tensors of a program, by their position in Program::batch. Exactly one of the two is used at each
/// position.
struct BatchValues {
    std::vector<tensor::Tensor> floats;
    std::vector<tensor::IdTensor> ids;
};

/// Reads the samples `indices` for a program. `malformed` if the program asks for something that the data do not have.
/// Names: "image", "label" (classification); "tokens", "targets" (next-token).
[[nodiscard]] base::Result<BatchValues> loadBatch(const format::Program& program, const format::Dataset& data,
                                                  std::span<const std::uint64_t> indices);

struct StepSettings {
    std::uint64_t step = 1; ///< 1-based
    float learningRate = 0;
    std::uint64_t seed = 0; ///< of the order, for dropout
};

/// Runs steps of one SiteTable. Borrows everything it is given; not thread-safe.
class Executor {
public:
    /// `sites`: the table's sites as the sink shall see them (renumbered where several passes make up one step).
    Executor(const SiteTable& table, const std::vector<Site>& sites, const format::OptimizerSpec& optimizer,
             tensor::ProductRunner& products, tensor::ThreadPool& pool)
        : m_table(table), m_sites(sites), m_optimizer(optimizer), m_products(products), m_pool(pool) {}

    /// One training step: forward, backward, update of `state` in place. Returns the loss. If the sink stopped the step
    /// (diverged), the state may be half updated and must not be used any more.
    [[nodiscard]] base::Result<float> train(TrainingState& state, const BatchValues& batch,
                                            const StepSettings& settings, StepSink& sink);

    struct Evaluation {
        float loss = 0;
        tensor::Tensor logits; ///< undefined if the program names none
    };
    /// Forward only, in evaluation mode (the table's mode must be that).
    [[nodiscard]] base::Result<Evaluation> evaluate(const TrainingState& state, const BatchValues& batch,
                                                    StepSink& sink);

private:
    class Run;
    const SiteTable& m_table;
    const std::vector<Site>& m_sites;
    const format::OptimizerSpec& m_optimizer;
    tensor::ProductRunner& m_products;
    tensor::ThreadPool& m_pool;
};

} // namespace assay::engine
