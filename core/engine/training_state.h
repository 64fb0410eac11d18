// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/format/state_tree.h"
#include "core/tensor/tensor.h"

namespace assay::engine {

/// Names of the tensors in a checkpoint that are not the program's. Persistent.
inline constexpr std::string_view kStepCounterName = "counters.step";
inline constexpr std::string_view kOptimizerPrefix = "optimizer."; ///< "optimizer.momentum.<parameter>"

/// Everything that a leaf commits to: parameters, buffers, optimizer state and the step counter. Move-only.
class TrainingState {
public:
    /// The state before step 1: `init` holds exactly the program's tensors; optimizer state and counter are zero.
    /// `malformed` for missing, foreign or misshapen tensors, and for values that are -0 or not finite.
    [[nodiscard]] static base::Result<TrainingState>
    initial(const format::Program& program, const format::OptimizerSpec& optimizer, const format::Safetensors& init);
    /// The state of a checkpoint file: exactly all tensors, and a counter equal to `step`.
    [[nodiscard]] static base::Result<TrainingState> load(const format::Program& program,
                                                          const format::OptimizerSpec& optimizer,
                                                          const format::Safetensors& checkpoint, std::uint64_t step);

    [[nodiscard]] std::uint64_t step() const { return m_step; } ///< steps done
    void setStep(std::uint64_t step) { m_step = step; }

    /// Parameters and buffers, in the program's order.
    [[nodiscard]] std::vector<tensor::Tensor>& tensors() { return m_tensors; }
    [[nodiscard]] const std::vector<tensor::Tensor>& tensors() const { return m_tensors; }
    /// Optimizer state: for every parameter in the program's order its state tensors.
    [[nodiscard]] std::vector<tensor::Tensor>& optimizer() { return m_optimizer; }
    [[nodiscard]] std::size_t statesPerParameter() const { return m_statesPerParameter; }

    /// All tensors under their committed names. The views borrow this object and are valid until it changes.
    [[nodiscard]] std::vector<format::TensorView> views() const;
    [[nodiscard]] format::StateCommitment commit(unsigned threads) const;
    /// Names of all tensors in name order: those of StateCommitment::tensorRoots.
    [[nodiscard]] std::vector<std::string> sortedNames() const;

    [[nodiscard]] TrainingState clone() const;

private:
    TrainingState() = default;
    [[nodiscard]] static base::Result<TrainingState> shaped(const format::Program& program,
                                                            const format::OptimizerSpec& optimizer);

    std::vector<std::string> m_names; ///< of m_tensors, then of m_optimizer
    std::vector<tensor::Tensor> m_tensors;
    std::vector<tensor::Tensor> m_optimizer;
    std::size_t m_statesPerParameter = 0;
    std::uint64_t m_step = 0;
};

} // namespace assay::engine
