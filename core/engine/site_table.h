// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/tensor/op_kernel.h"

/// Runs an order: as the trainer, as the auditor, and as a liar on purpose.
namespace assay::engine {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// One place in a step where a tensor is rounded, as users see it.
struct Site {
    std::uint32_t index = 0;             ///< position in the step's execution order
    std::uint32_t operatorIndex = kNone; ///< position in the program; kNone for the optimizer's sites
    std::string name;                    ///< "blocks.0.attn.qkv / dW"
    tensor::Direction direction = tensor::Direction::forward;
    bool product = false;
    std::uint32_t section = kNone; ///< number of the site's section in the rounding log; kNone unless `product`
    tensor::Shape shape;
    std::uint64_t values = 0;
};

/// A value of the program: a batch tensor, a parameter or buffer, or the output of an operator.
struct ValueInfo {
    enum class Origin : std::uint8_t { batch, state, output };
    std::string name;
    Origin origin = Origin::output;
    std::uint32_t position = 0; ///< in Program::batch, Program::tensors or Program::operators
    std::uint32_t slot = 0;     ///< output number of the operator
    bool ids = false;           ///< integers
    bool parameter = false;
    bool needsGradient = false; ///< depends on a parameter, and the loss depends on it
    tensor::Shape shape;
    std::uint32_t contributions = 0; ///< gradients that backward adds up for it
    std::uint32_t sumSite = kNone;   ///< site of that sum, if there is more than one
};

/// Where one gradient contribution of a value comes from.
struct Contribution {
    std::uint32_t operatorIndex = 0;
    std::uint32_t input = 0;
};

/// One operator with everything that is known before a value exists.
struct OperatorPlan {
    const tensor::OpKernel* kernel = nullptr;
    std::vector<std::uint32_t> inputs;  ///< value numbers
    std::vector<std::uint32_t> outputs; ///< value numbers
    std::vector<tensor::Shape> inputShapes;
    tensor::OpCall call;
    bool backward = false;             ///< runs backward at all
    std::uint32_t wantedGradients = 0; ///< bit i: input i
    tensor::BackwardNeeds needs;
    std::uint32_t updatedInputs = 0;
    std::uint32_t forwardSite = 0; ///< index of its first forward site
    std::uint32_t backwardSite = 0;
    std::vector<std::uint32_t> freeAfterForward;  ///< values that nobody reads afterwards
    std::vector<std::uint32_t> freeAfterBackward; ///< the same in backward
    std::vector<std::uint32_t> sumsAfterBackward; ///< values whose last gradient contribution this backward makes
};

/// How the optimizer treats one parameter.
struct UpdatePlan {
    std::uint32_t value = 0;      ///< value number of the parameter
    std::uint32_t tensor = 0;     ///< position in Program::tensors
    std::uint32_t firstSite = 0;  ///< sites: one per optimizer state tensor, then the parameter
    std::uint32_t firstState = 0; ///< number of its first optimizer state tensor, counted over all parameters
};

/// Everything about a step that follows from the program, the batch size and the optimizer alone: execution order,
/// shapes, gradient flow, lifetimes and the list of all sites. Immutable; it borrows nothing.
class SiteTable {
public:
    SiteTable(SiteTable&&) noexcept = default;
    SiteTable& operator=(SiteTable&&) noexcept = default;
    SiteTable(const SiteTable&) = delete;
    SiteTable& operator=(const SiteTable&) = delete;
    ~SiteTable() = default;

    /// `malformed` with operator and reason if shapes do not fit or a kind is not known.
    /// In evaluation mode only forward sites exist.
    [[nodiscard]] static base::Result<SiteTable> build(const format::Program& program, std::uint64_t batch,
                                                       const format::OptimizerSpec& optimizer, tensor::Mode mode);

    [[nodiscard]] const format::Program& program() const { return *m_program; }
    [[nodiscard]] std::uint64_t batch() const { return m_batch; }
    [[nodiscard]] tensor::Mode mode() const { return m_mode; }
    [[nodiscard]] const std::vector<Site>& sites() const { return m_sites; }
    [[nodiscard]] std::uint32_t productSites() const { return m_productSites; }
    [[nodiscard]] const std::vector<ValueInfo>& values() const { return m_values; }
    [[nodiscard]] const std::vector<OperatorPlan>& operators() const { return m_operators; }
    [[nodiscard]] const std::vector<UpdatePlan>& updates() const { return m_updates; }
    [[nodiscard]] std::uint32_t clipSite() const {
        return m_clipSite;
    } ///< site of the gradient norm; kNone without clipping
    [[nodiscard]] std::uint32_t lossValue() const { return m_lossValue; }
    [[nodiscard]] std::uint32_t logitsValue() const { return m_logitsValue; } ///< kNone if the program names none
    /// Contributions to the gradient of a value in the order of their sum: program order, then input order.
    [[nodiscard]] const std::vector<Contribution>& contributions(std::uint32_t value) const {
        return m_contributions[value];
    }
    /// Bytes of the values and gradients that live at the same time when a step needs most, without the state and
    /// without what an operator uses for itself: a lower bound of what the step takes.
    [[nodiscard]] std::uint64_t peakBytes() const { return m_peakBytes; }
    /// Site with this name; kNone if there is none.
    [[nodiscard]] std::uint32_t findSite(std::string_view name) const;

private:
    class Builder;
    SiteTable() = default;
    std::shared_ptr<const format::Program> m_program;
    std::uint64_t m_batch = 0;
    tensor::Mode m_mode = tensor::Mode::train;
    std::vector<Site> m_sites;
    std::uint32_t m_productSites = 0;
    std::vector<ValueInfo> m_values;
    std::vector<std::vector<Contribution>> m_contributions;
    std::vector<OperatorPlan> m_operators;
    std::vector<UpdatePlan> m_updates;
    std::uint64_t m_peakBytes = 0;
    std::uint32_t m_clipSite = kNone;
    std::uint32_t m_lossValue = kNone;
    std::uint32_t m_logitsValue = kNone;
};

} // namespace assay::engine
