// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/product.h"
#include "core/tensor/site_emitter.h"
#include "core/tensor/tensor.h"
#include "core/tensor/thread_pool.h"

/// The interface between an engine, which knows the program, and the operator kernels, which know arithmetic.
namespace assay::tensor {

/// The same type as the attributes of a program's operator, so that they can be passed as they are.
using AttributeValue = std::variant<std::int64_t, float, bool, std::string, std::vector<std::int64_t>>;
using AttributeMap = std::map<std::string, AttributeValue>;

/// What a site holds. Persistent in evidence, never renumber.
enum class Direction : std::uint8_t {
    forward = 1,
    inputGradient = 2,
    parameterGradient = 3,
    statistic = 4,
    parameterUpdate = 5, ///< parameters and buffers
    optimizerState = 6
};
[[nodiscard]] std::string_view toString(Direction direction); ///< "parameter gradient"

/// One place where an operator rounds a tensor.
struct SiteSpec {
    std::string suffix; ///< "dW": the site's name is "<operator> / dW"
    Direction direction = Direction::forward;
    bool product = false; ///< only product sites have a section in the rounding log
    Shape shape;          ///< of the site's values; element indices are row-major in it

    bool operator==(const SiteSpec&) const = default;
};

enum class Mode : std::uint8_t { train, evaluate };

/// One operator with the sizes of its inputs: all that shapes and sites depend on.
struct OpCall {
    const AttributeMap* attributes = nullptr;
    std::span<const Shape> inputs;
    std::uint32_t parameterInputs = 0; ///< bit i: input i is a parameter, so that its gradient is a parameter gradient
    std::int64_t batch = 0;            ///< the run's batch size: what 0 means in reshape's `shape`
    std::size_t outputs = 1;           ///< number of outputs the program names (split)
    Mode mode = Mode::train;
};

/// Which forward values backward reads besides the output gradients; an engine may free the others.
struct BackwardNeeds {
    std::uint32_t inputs = 0; ///< bit i: input i
    bool outputs = false;
};

/// An input's values: exactly one of the two is set.
struct OpInput {
    const Tensor* values = nullptr;
    const IdTensor* ids = nullptr;
};

/// What a running operator may use.
struct OpContext {
    ProductRunner* products = nullptr;
    ThreadPool* pool = nullptr;
    std::uint64_t seed = 0;          ///< of the order
    std::uint64_t step = 0;          ///< 1-based
    std::uint32_t operatorIndex = 0; ///< position in the program: random stream of dropout
    std::uint32_t firstSite = 0;     ///< step-wide index of this direction's first site: source of the profile's noise
};

/// One execution of an operator. Forward and backward of a step use the same object, or two with `outputs` and `saved`
/// moved over.
struct OpRun {
    OpCall call;
    std::vector<OpInput> inputs;
    OpContext context;
    SiteEmitter* emitter = nullptr;

    std::vector<Tensor> outputs; ///< set by forward
    std::vector<Tensor> saved;   ///< rounded statistics, set by forward for backward
    std::vector<Tensor>
        updated; ///< set by forward: new values of buffer inputs (index = input); empty or undefined where none

    std::vector<const Tensor*> outputGradients; ///< for backward, one per output; nullptr = zero
    std::uint32_t wantedGradients = 0;          ///< for backward, bit i: input i
    std::vector<Tensor> inputGradients;         ///< set by backward, one per input; undefined where not wanted
};

/// One operator kind. Stateless, thread-safe. Every function checks what it is given: wrong attributes, shapes or ids
/// are `malformed`, never undefined behaviour.
class OpKernel {
public:
    virtual ~OpKernel() = default;
    [[nodiscard]] virtual std::string_view kind() const = 0;
    /// Output shapes, or why the inputs do not fit.
    [[nodiscard]] virtual base::Result<std::vector<Shape>> inferShapes(const OpCall& call) const = 0;
    /// Sites of forward in execution order. Precondition for this and all that follows: inferShapes succeeded.
    [[nodiscard]] virtual std::vector<SiteSpec> forwardSites(const OpCall& call) const = 0;
    /// Sites of backward in execution order; bit i of `wantedGradients`: the gradient of input i is wanted.
    [[nodiscard]] virtual std::vector<SiteSpec> backwardSites(const OpCall& call,
                                                              std::uint32_t wantedGradients) const = 0;
    [[nodiscard]] virtual BackwardNeeds backwardNeeds(const OpCall& call) const = 0;
    /// Bit i set: input i is a buffer whose new values forward leaves in `updated` (batch_norm's running statistics).
    [[nodiscard]] virtual std::uint32_t updatedInputs(const OpCall&) const { return 0; }
    /// Bit i set: no gradient flows to input i (ids, labels, buffers); never mark it as wanted.
    [[nodiscard]] virtual std::uint32_t constantInputs(const OpCall&) const { return 0; }
    [[nodiscard]] virtual base::Result<void> forward(OpRun& run) const = 0;
    /// Training mode only.
    [[nodiscard]] virtual base::Result<void> backward(OpRun& run) const = 0;
};

/// The kernel of an operator kind; nullptr if unknown.
[[nodiscard]] const OpKernel* findKernel(std::string_view kind);
/// All kinds, sorted.
[[nodiscard]] std::vector<std::string_view> kernelKinds();

/// Sum of the gradients of a value with several consumers, in the order given (program order of the consumers), in
/// FP64, rounded once: values of one exact site of the engine. Precondition: at least one part, equal shapes.
[[nodiscard]] Tensor sumGradients(std::span<const Tensor* const> parts, ThreadPool& pool);

} // namespace assay::tensor
