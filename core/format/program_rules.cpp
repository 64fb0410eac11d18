// SPDX-License-Identifier: Apache-2.0
// What makes a program valid: operator kinds, their attributes, and the structure of the list.
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "core/format/detail/names.h"
#include "core/format/json.h"
#include "core/format/program.h"

namespace assay::format {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

using Type = OperatorKind::Type;

constexpr std::size_t kMaxOperators = 1 << 18;
constexpr std::size_t kMaxTensors = 1 << 18;
constexpr std::size_t kMaxDims = 8;

std::string_view nameOf(Type type) {
    switch (type) {
    case Type::integer:
        return "an integer";
    case Type::real:
        return "an FP32 value (key ending _f32)";
    case Type::boolean:
        return "true or false";
    case Type::text:
        return "a string";
    case Type::integers:
        return "a list of integers";
    }
    return "?";
}

bool hasType(const Attribute& attribute, Type type) {
    switch (type) {
    case Type::integer:
        return std::holds_alternative<std::int64_t>(attribute);
    case Type::real:
        return std::holds_alternative<float>(attribute);
    case Type::boolean:
        return std::holds_alternative<bool>(attribute);
    case Type::text:
        return std::holds_alternative<std::string>(attribute);
    case Type::integers:
        return std::holds_alternative<std::vector<std::int64_t>>(attribute);
    }
    return false;
}

/// product *= size unless that reaches 2^40. Preconditions: product below 2^40, size >= 1.
bool multiply(std::uint64_t& product, std::int64_t size) {
    if (static_cast<std::uint64_t>(size) > (kMaxTensorElements - 1) / product) {
        return false;
    }
    product *= static_cast<std::uint64_t>(size);
    return true;
}

/// Value limits, by attribute name: a name means the same for every kind. Empty if fine, else what was expected.
std::string brokenLimit(const std::string& name, const Attribute& attribute) {
    if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
        const std::int64_t low = name == "stride" || name == "size" ? 1 : 0;
        const std::int64_t high = name == "dim" ? static_cast<std::int64_t>(kMaxDims) - 1 : 4096;
        return *integer < low || *integer > high ? fmt::format("{} to {}, found {}", low, high, *integer) : "";
    }
    if (const auto* real = std::get_if<float>(&attribute)) {
        if (!std::isfinite(*real) || (*real == 0.0f && std::signbit(*real))) {
            return "a finite value other than -0";
        }
        if (name == "p" && !(*real >= 0.0f && *real < 1.0f)) {
            return fmt::format("a probability of at least 0 and below 1, found {}", *real);
        }
        if (name == "momentum" && !(*real >= 0.0f && *real <= 1.0f)) {
            return fmt::format("0 to 1, found {}", *real);
        }
        return name == "eps" && !(*real > 0.0f) ? fmt::format("a value above 0, found {}", *real) : "";
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute)) {
        if (list->empty() || list->size() > kMaxDims) {
            return fmt::format("1 to {} numbers, found {}", kMaxDims, list->size());
        }
        if (name == "dims") {
            for (std::size_t i = 0; i < list->size(); ++i) {
                if (std::count(list->begin(), list->end(), static_cast<std::int64_t>(i)) != 1) {
                    return fmt::format("a permutation of 0 to {}", list->size() - 1);
                }
            }
            return "";
        }
        std::uint64_t product = 1;
        for (const auto size : *list) {
            if (size < -1) {
                return fmt::format("sizes of at least -1, found {}", size);
            }
            if (size > 0 && !multiply(product, size)) {
                return "fewer than 2^40 elements";
            }
        }
        return std::count(list->begin(), list->end(), -1) > 1 || std::count(list->begin(), list->end(), 0) > 1
                   ? "at most one -1 (the rest) and one 0 (the batch size)"
                   : "";
    }
    return "";
}

Error malformed(std::string message, std::string remedy = {}) {
    return Error{ErrorCode::malformed, std::move(message), {}, std::nullopt, std::move(remedy)};
}

class Validator {
public:
    explicit Validator(const Program& program) : m_program(program) {}

    Result<void> run() {
        if (m_program.title.size() > 1024 || !isUtf8(m_program.title)) {
            return fail(malformed("title: expected UTF-8 text of at most 1024 bytes"));
        }
        if (m_program.operators.empty() || m_program.operators.size() > kMaxOperators) {
            return fail(malformed(
                fmt::format("a program has 1 to {} operators, found {}", kMaxOperators, m_program.operators.size())));
        }
        if (m_program.tensors.size() + m_program.batch.size() > kMaxTensors) {
            return fail(malformed(fmt::format("more than {} tensors", kMaxTensors)));
        }
        for (const auto& tensor : m_program.batch) {
            ASSAY_CHECK(checkTensor(tensor, true));
        }
        for (const auto& tensor : m_program.tensors) {
            ASSAY_CHECK(checkTensor(tensor, false));
        }
        for (std::size_t i = 0; i < m_program.operators.size(); ++i) {
            ASSAY_CHECK(checkOperator(m_program.operators[i], i));
        }
        ASSAY_CHECK(checkResult("loss", m_program.loss));
        return m_program.logits.empty() ? Result<void>{} : checkResult("logits", m_program.logits);
    }

private:
    Result<void> checkTensor(const TensorSpec& tensor, bool isBatch) {
        const auto bad = [&](std::string what) {
            return fail(malformed(fmt::format("{} tensor \"{}\": {}", isBatch ? "batch" : "state", tensor.name, what)));
        };
        if (!detail::isValueName(tensor.name)) {
            return bad("expected a name of 1 to 512 bytes without blanks");
        }
        if (!m_defined.insert(tensor.name).second) {
            return bad("the name occurs twice");
        }
        if (tensor.dtype != "f32" && !(isBatch && tensor.dtype == "i64")) {
            return bad(fmt::format("dtype \"{}\" is not known here, expected {}", tensor.dtype,
                                   isBatch ? "f32 or i64" : "f32"));
        }
        if (!isBatch && tensor.role != "parameter" && tensor.role != "buffer") {
            return bad(fmt::format("role \"{}\" is not known, expected parameter or buffer", tensor.role));
        }
        if (isBatch && !tensor.init.empty()) {
            return bad("a batch tensor has no initial value");
        }
        if (tensor.init.size() > 256 || !isUtf8(tensor.init)) {
            return bad("init: expected UTF-8 text of at most 256 bytes");
        }
        if (tensor.shape.size() > kMaxDims || (isBatch && (tensor.shape.empty() || tensor.shape[0] != 0))) {
            return bad(isBatch ? "expected a shape of 1 to 8 dimensions whose first is 0 (the batch size)"
                               : "expected at most 8 dimensions");
        }
        std::uint64_t product = 1;
        for (std::size_t i = isBatch ? 1 : 0; i < tensor.shape.size(); ++i) {
            if (tensor.shape[i] < 1) {
                return bad(fmt::format("dimension {} is {}, expected at least 1", i, tensor.shape[i]));
            }
            if (!multiply(product, tensor.shape[i])) {
                return bad("2^40 elements or more");
            }
        }
        return {};
    }

    Result<void> checkOperator(const Operator& op, std::size_t position) {
        const auto bad = [&](std::string what, std::string remedy = {}) {
            return fail(
                malformed(fmt::format("operator {} of {} \"{}\"{}: {}", position + 1, m_program.operators.size(),
                                      op.name, op.source.empty() ? "" : fmt::format(" ({})", op.source), what),
                          std::move(remedy)));
        };
        if (!detail::isValueName(op.name)) {
            return bad("expected a name of 1 to 512 bytes without blanks");
        }
        if (!m_operators.insert(op.name).second) {
            return bad("the name occurs twice");
        }
        if (op.source.size() > 4096 || !isUtf8(op.source)) {
            return bad("source: expected UTF-8 text of at most 4096 bytes");
        }
        const auto* kind = findOperatorKind(op.kind);
        if (kind == nullptr) {
            std::string known;
            for (const auto& other : operatorKinds()) {
                known += fmt::format("{}{}", known.empty() ? "" : ", ", other.name);
            }
            return bad(fmt::format("operator kind \"{}\" is not known", op.kind),
                       fmt::format("express it with the known kinds ({}), or use a newer release of Assay", known));
        }
        const auto arity = [](std::size_t low, std::size_t high) {
            return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
        };
        if (op.inputs.size() < kind->minInputs || op.inputs.size() > kind->maxInputs) {
            return bad(fmt::format("{} takes {} inputs, found {}", op.kind, arity(kind->minInputs, kind->maxInputs),
                                   op.inputs.size()));
        }
        if (op.outputs.size() < kind->minOutputs || op.outputs.size() > kind->maxOutputs) {
            return bad(fmt::format("{} gives {} outputs, found {}", op.kind, arity(kind->minOutputs, kind->maxOutputs),
                                   op.outputs.size()));
        }
        for (const auto& input : op.inputs) {
            if (!m_defined.contains(input)) {
                return bad(fmt::format("input \"{}\" is not defined before this operator", input),
                           "list operators in the order of execution and declare every tensor");
            }
        }
        for (const auto& output : op.outputs) {
            if (!detail::isValueName(output)) {
                return bad("expected output names of 1 to 512 bytes without blanks");
            }
            if (!m_defined.insert(output).second) {
                return bad(fmt::format("output \"{}\" is defined already", output));
            }
            m_computed.insert(output);
        }
        std::size_t known = 0;
        for (const auto& rule : kind->attributes) {
            const auto found = op.attributes.find(std::string(rule.name));
            if (found == op.attributes.end()) {
                if (rule.required) {
                    return bad(fmt::format("attribute {} is missing", rule.name),
                               fmt::format("add it as {}", nameOf(rule.type)));
                }
                continue;
            }
            ++known;
            if (!hasType(found->second, rule.type)) {
                return bad(fmt::format("attribute {}: expected {}", rule.name, nameOf(rule.type)));
            }
            if (const auto limit = brokenLimit(found->first, found->second); !limit.empty()) {
                return bad(fmt::format("attribute {}: expected {}", rule.name, limit));
            }
        }
        if (known != op.attributes.size()) {
            for (const auto& [name, attribute] : op.attributes) {
                const auto isRule = [&wanted = name](const OperatorKind::AttributeRule& rule) {
                    return rule.name == wanted;
                };
                if (std::none_of(kind->attributes.begin(), kind->attributes.end(), isRule)) {
                    return bad(fmt::format("{} has no attribute {}", op.kind, name));
                }
            }
        }
        return {};
    }

    Result<void> checkResult(std::string_view what, const std::string& name) {
        if (!m_computed.contains(name)) {
            return fail(malformed(fmt::format("{}: no operator gives the value \"{}\"", what, name),
                                  "name an output of an operator"));
        }
        return {};
    }

    const Program& m_program;
    std::unordered_set<std::string> m_defined;   // every value so far
    std::unordered_set<std::string> m_computed;  // outputs of operators
    std::unordered_set<std::string> m_operators; // operator names
};

} // namespace

const std::vector<OperatorKind>& operatorKinds() {
    static const std::vector<OperatorKind> kKinds{
        {"add", 2, 2, 1, 1, {}},
        {"batch_norm", 5, 5, 1, 1, {{"eps", Type::real, true}, {"momentum", Type::real, true}}},
        {"conv2d", 2, 3, 1, 1, {{"padding", Type::integer, true}, {"stride", Type::integer, true}}},
        {"cross_entropy", 2, 2, 1, 1, {}},
        {"dropout", 1, 1, 1, 1, {{"p", Type::real, true}}},
        {"embedding", 2, 2, 1, 1, {}},
        {"gelu", 1, 1, 1, 1, {}},
        {"global_avg_pool", 1, 1, 1, 1, {}},
        {"layer_norm", 3, 3, 1, 1, {{"eps", Type::real, true}}},
        {"linear", 2, 3, 1, 1, {}},
        {"matmul", 2, 2, 1, 1, {{"transpose_b", Type::boolean, false}}},
        {"max_pool2d", 1, 1, 1, 1, {{"size", Type::integer, true}, {"stride", Type::integer, true}}},
        {"permute", 1, 1, 1, 1, {{"dims", Type::integers, true}}},
        {"relu", 1, 1, 1, 1, {}},
        {"reshape", 1, 1, 1, 1, {{"shape", Type::integers, true}}},
        {"scale", 1, 1, 1, 1, {{"factor", Type::real, true}}},
        {"softmax", 1, 1, 1, 1, {{"causal", Type::boolean, false}}},
        {"split", 1, 1, 1, 64, {{"dim", Type::integer, true}}},
    };
    return kKinds;
}

const OperatorKind* findOperatorKind(std::string_view name) {
    const auto& kinds = operatorKinds();
    const auto found =
        std::lower_bound(kinds.begin(), kinds.end(), name,
                         [](const OperatorKind& kind, std::string_view wanted) { return kind.name < wanted; });
    return found != kinds.end() && found->name == name ? &*found : nullptr;
}

Result<void> validateProgram(const Program& program) {
    return Validator(program).run();
}

} // namespace assay::format
