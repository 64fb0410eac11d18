// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"

namespace assay::format {

/// A typed operator attribute. On disk a float is its 8 hex digits under the name + "_f32".
using Attribute = std::variant<std::int64_t, float, bool, std::string, std::vector<std::int64_t>>;

/// A tensor that exists before the first operator.
struct TensorSpec {
    std::string name;
    std::string dtype = "f32";       ///< "f32"; batch tensors also "i64"
    std::vector<std::int64_t> shape; ///< dims >= 1; batch tensors have a leading 0 = the batch size
    std::string role = "parameter";  ///< "parameter" or "buffer"; without meaning for batch tensors
    std::string init;                ///< initialiser text; empty for batch tensors
    bool operator==(const TensorSpec&) const = default;
};

struct Operator {
    std::string name;                 ///< module path, unique, e.g. "blocks.0.attn.qkv"
    std::string kind;                 ///< one of operatorKinds()
    std::vector<std::string> inputs;  ///< value names
    std::vector<std::string> outputs; ///< value names
    std::map<std::string, Attribute> attributes;
    std::string source; ///< where it came from (module, file and line); informative
    bool operator==(const Operator&) const = default;
};

/// Model and loss as a straight line of operators: no executable code. Value type.
struct Program {
    std::string title;
    std::vector<TensorSpec> batch;   ///< what a batch of the data set provides
    std::vector<TensorSpec> tensors; ///< parameters and buffers
    std::vector<Operator> operators;
    std::string loss;   ///< value name of the scalar that is minimised
    std::string logits; ///< value name that the metric reads; empty = none
    bool operator==(const Program&) const = default;
};

inline constexpr std::uint64_t kMaxProgramBytes = 16ULL << 20;
inline constexpr std::uint64_t kMaxTensorElements = 1ULL << 40; ///< exclusive

/// What one operator kind takes. Persistent: a change needs a new `semantics` in the order.
struct OperatorKind {
    enum class Type { integer, real, boolean, text, integers };
    struct AttributeRule {
        std::string_view name;
        Type type;
        bool required;
    };
    std::string_view name;
    std::size_t minInputs, maxInputs;
    std::size_t minOutputs, maxOutputs;
    std::vector<AttributeRule> attributes;
};
/// All known kinds, sorted by name.
[[nodiscard]] const std::vector<OperatorKind>& operatorKinds();
/// nullptr if unknown.
[[nodiscard]] const OperatorKind* findOperatorKind(std::string_view name);

/// Structure: unique names, every input defined before its use, known kinds with exactly the attributes they take, sane
/// sizes, loss defined by an operator. `malformed` names the operator, its position and what to do. Shapes of values
/// are inferred by the engine.
[[nodiscard]] base::Result<void> validateProgram(const Program& program);
/// Canonical bytes of program.json. `malformed` if validateProgram fails.
[[nodiscard]] base::Result<std::string> serialiseProgram(const Program& program);
/// Strict inverse; offset of the first bad byte otherwise.
[[nodiscard]] base::Result<Program> parseProgram(base::ByteView bytes);
/// SHA-256 of the canonical bytes. Precondition: the program is valid.
[[nodiscard]] base::Digest programDigest(const Program& program);

/// Attribute access for executors. `malformed` if missing or of another type (cannot happen for a valid program's
/// required ones).
[[nodiscard]] base::Result<std::int64_t> integerAttribute(const Operator& op, std::string_view name);
[[nodiscard]] base::Result<float> realAttribute(const Operator& op, std::string_view name);
[[nodiscard]] base::Result<bool> booleanAttribute(const Operator& op, std::string_view name);
[[nodiscard]] base::Result<std::vector<std::int64_t>> integersAttribute(const Operator& op, std::string_view name);

} // namespace assay::format
