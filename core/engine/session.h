// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/engine/evaluator.h"
#include "core/engine/executor.h"
#include "core/engine/site_table.h"
#include "core/engine/step_sink.h"
#include "core/engine/training_state.h"
#include "core/format/dataset.h"
#include "core/format/leaf.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/tensor/kernel_profile.h"
#include "core/tensor/product.h"
#include "core/tensor/thread_pool.h"

namespace assay::engine {

/// What a step takes from the order. A liar fills in something else.
struct StepInputs {
    std::uint64_t step = 1;
    std::vector<std::uint64_t> indices; ///< samples of the batch
    float learningRate = 0;
    std::uint64_t seed = 0;     ///< of dropout
    bool discardUpdate = false; ///< a liar's: the step is computed and thrown away
};

/// What came out of a step.
struct StepOutcome {
    format::LeafData leaf;                   ///< complete but for `previous`, which is zero
    std::vector<base::Digest> tensorRoots;   ///< in name order, where the leaf has a state root
    base::ByteVector log;                    ///< whole log file (recorded steps only; empty if diverged)
    std::vector<SiteStats> stats;            ///< sites with any count
    std::vector<SiteOffence> offences;       ///< capped
    std::vector<SiteCorrection> corrections; ///< capped
    std::uint64_t entries = 0;
    std::uint64_t correctionCount = 0;
    std::uint64_t offenceCount = 0;
    std::uint64_t freedom = 0;
    [[nodiscard]] float loss() const;
};

/// One order on one kernel profile: everything that stays the same from step to step. Not thread-safe.
class Session {
public:
    /// Preconditions: tensor::activate(profile) succeeded in this process. `malformed` if the program cannot be
    /// executed, `usage` if the order asks for something that this release does not do.
    [[nodiscard]] static base::Result<Session> create(format::Order order, const format::Program& program,
                                                      const tensor::KernelProfile& profile);
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    ~Session();

    [[nodiscard]] const format::Order& order() const;
    [[nodiscard]] const base::Digest& orderDigest() const;
    [[nodiscard]] const format::Program& program() const;
    [[nodiscard]] const SiteTable& table() const;
    /// All sites in execution order: the training step's, then (only in steps with an evaluation) those of the held-out
    /// batches.
    [[nodiscard]] const std::vector<Site>& sites() const;
    /// Number of log sections that a step must have.
    [[nodiscard]] std::uint32_t sectionsOf(std::uint64_t step) const;
    [[nodiscard]] int threads() const;

    [[nodiscard]] base::Result<StepInputs> inputsOf(std::uint64_t step) const;

    /// Trainer's side: runs the step on `state` and writes its log.
    [[nodiscard]] base::Result<StepOutcome> record(TrainingState& state, const format::Dataset& data,
                                                   const StepInputs& inputs, std::span<SiteHook* const> hooks = {});
    /// Auditor's side: with the log enforced. `log` must have sectionsOf(step) sections; nullptr: own roundings
    /// throughout, log root of no sections.
    [[nodiscard]] base::Result<StepOutcome> enforce(TrainingState& state, const format::Dataset& data,
                                                    const StepInputs& inputs, const numerics::StepLogFile* log,
                                                    bool ignoreLog, std::span<SiteHook* const> hooks = {});
    /// The order's metric over the held-out samples, with plain rounding.
    [[nodiscard]] base::Result<Metric> evaluate(const TrainingState& state, const format::Dataset& data,
                                                const base::ProgressFn& progress = {}, std::stop_token stop = {});
    /// Leaf 0 and its tensor roots.
    [[nodiscard]] StepOutcome initialOutcome(const TrainingState& state) const;

    /// Runs `inputs` on `state` with any sink; fills everything but log and counts. For planting and probing.
    [[nodiscard]] base::Result<StepOutcome> run(TrainingState& state, const format::Dataset& data,
                                                const StepInputs& inputs, StepSink& sink);

private:
    struct State;
    explicit Session(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::engine
