// SPDX-License-Identifier: Apache-2.0
#include "core/format/program.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "core/crypto/sha256.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

/// A program with one operator of every kind, not meant to fit together in shapes.
Program everyKind() {
    Program program;
    program.title = "every kind";
    program.batch = {{"image", "f32", {0, 3, 8, 8}, "parameter", ""}, {"label", "i64", {0}, "parameter", ""}};
    for (const char* name : {"w", "b", "mean", "var"}) {
        program.tensors.push_back(
            {name, "f32", {2, 2}, name[0] == 'm' || name[0] == 'v' ? "buffer" : "parameter", "zeros"});
    }
    for (const auto& kind : operatorKinds()) {
        Operator op;
        op.kind = kind.name;
        op.name = "op." + op.kind;
        const std::vector<std::string> inputs{"image", "w", "b", "mean", "var"};
        op.inputs.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(kind.minInputs));
        op.outputs = {op.name};
        for (const auto& rule : kind.attributes) {
            Attribute value = std::int64_t{1};
            if (rule.type == OperatorKind::Type::real) {
                value = 0.25f;
            } else if (rule.type == OperatorKind::Type::boolean) {
                value = true;
            } else if (rule.type == OperatorKind::Type::integers) {
                value = rule.name == "dims" ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0, -1};
            }
            op.attributes[std::string(rule.name)] = value;
        }
        program.operators.push_back(op);
    }
    program.loss = "op.cross_entropy";
    return program;
}

TEST(Program, RoundTripOfEveryKind) {
    for (const auto& program : {test::tinyProgram(), everyKind()}) {
        const auto text = serialiseProgram(program);
        ASSERT_TRUE(text) << text.error().toString();
        const auto back = parseProgram(base::asBytes(*text));
        ASSERT_TRUE(back) << back.error().toString();
        EXPECT_EQ(*back, program);
        EXPECT_EQ(programDigest(program), crypto::sha256(base::asBytes(*text)));
    }
    EXPECT_EQ(operatorKinds().size(), 18U);
    EXPECT_TRUE(std::is_sorted(operatorKinds().begin(), operatorKinds().end(),
                               [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(Program, UnknownOperatorNamesPlaceAndRemedy) {
    auto program = test::tinyProgram();
    program.operators[1].kind = "lstm";
    const auto result = validateProgram(program);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::ErrorCode::malformed);
    EXPECT_EQ(result.error().message, "operator 2 of 4 \"head\" (tiny.py:7): operator kind \"lstm\" is not known");
    EXPECT_NE(result.error().remedy.find("linear"), std::string::npos);
}

struct Fault {
    const char* words;
    std::function<void(Program&)> apply;
};

TEST(Program, EveryRule) {
    const auto set = [](std::size_t op, const char* name, Attribute value) {
        return [=](Program& p) { p.operators[op].attributes[name] = value; };
    };
    using Ints = std::vector<std::int64_t>;
    const std::vector<Fault> faults{
        {"1 to 262144 operators", [](Program& p) { p.operators.clear(); }},
        {"title", [](Program& p) { p.title = "\xC0"; }},
        {"name occurs twice", [](Program& p) { p.tensors[1].name = "head.weight"; }},
        {"name occurs twice", [](Program& p) { p.tensors[1].name = "image"; }},
        {"without blanks", [](Program& p) { p.tensors[1].name = "a b"; }},
        {"without blanks", [](Program& p) { p.tensors[1].name = ""; }},
        {"dtype", [](Program& p) { p.tensors[0].dtype = "f64"; }},
        {"dtype", [](Program& p) { p.tensors[0].dtype = "i64"; }},
        {"role", [](Program& p) { p.tensors[0].role = "secret"; }},
        {"dimension 0 is 0",
         [](Program& p) {
             p.tensors[0].shape = {0, 4};
         }},
        {"dimension 1 is -4",
         [](Program& p) {
             p.tensors[0].shape = {3, -4};
         }},
        {"2^40 elements",
         [](Program& p) {
             p.tensors[0].shape = {1 << 20, 1 << 20};
         }},
        {"2^40 elements",
         [](Program& p) {
             p.tensors[0].shape = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
         }},
        {"at most 8 dimensions", [](Program& p) { p.tensors[0].shape = Ints(9, 1); }},
        {"first is 0",
         [](Program& p) {
             p.batch[0].shape = {4, 1, 2, 2};
         }},
        {"first is 0", [](Program& p) { p.batch[0].shape = {}; }},
        {"no initial value", [](Program& p) { p.batch[0].init = "zeros"; }},
        {"name occurs twice", [](Program& p) { p.operators[1].name = "flatten"; }},
        {"takes 2 to 3 inputs", [](Program& p) { p.operators[1].inputs.resize(1); }},
        {"takes 2 to 3 inputs", [](Program& p) { p.operators[1].inputs.resize(4, "image"); }},
        {"gives 1 outputs", [](Program& p) { p.operators[1].outputs.clear(); }},
        {"gives 1 outputs",
         [](Program& p) {
             p.operators[1].outputs = {"a", "b"};
         }},
        {"\"nowhere\" is not defined", [](Program& p) { p.operators[1].inputs[0] = "nowhere"; }},
        {"\"head\" is not defined before", [](Program& p) { std::swap(p.operators[1], p.operators[2]); }},
        {"\"drop\" is not defined before", [](Program& p) { p.operators[2].inputs[0] = "drop"; }},
        {"is defined already", [](Program& p) { p.operators[2].outputs[0] = "head"; }},
        {"is defined already", [](Program& p) { p.operators[2].outputs[0] = "head.bias"; }},
        {"attribute p is missing", [](Program& p) { p.operators[2].attributes.clear(); }},
        {"attribute p: expected an FP32", set(2, "p", std::int64_t{0})},
        {"probability", set(2, "p", 1.0f)},
        {"probability", set(2, "p", -0.5f)},
        {"finite", set(2, "p", std::numeric_limits<float>::quiet_NaN())},
        {"finite", set(2, "p", -0.0f)},
        {"reshape has no attribute size", set(0, "size", std::int64_t{2})},
        {"attribute shape: expected a list", set(0, "shape", std::int64_t{2})},
        {"at least -1, found -2", set(0, "shape", Ints{0, -2})},
        {"at most one -1", set(0, "shape", Ints{-1, -1})},
        {"at most one -1", set(0, "shape", Ints{0, 0})},
        {"fewer than 2^40", set(0, "shape", Ints{0, 1 << 20, 1 << 20})},
        {"1 to 8 numbers", set(0, "shape", Ints{})},
        {"loss: no operator", [](Program& p) { p.loss = "head.weight"; }},
        {"loss: no operator", [](Program& p) { p.loss = ""; }},
        {"logits: no operator", [](Program& p) { p.logits = "label"; }},
    };
    ASSERT_TRUE(validateProgram(test::tinyProgram()));
    for (const auto& fault : faults) {
        auto program = test::tinyProgram();
        fault.apply(program);
        const auto result = validateProgram(program);
        ASSERT_FALSE(result) << fault.words;
        EXPECT_NE(result.error().message.find(fault.words), std::string::npos)
            << fault.words << " -> " << result.error().message;
    }
}

TEST(Program, AttributesOfOtherKinds) {
    const auto with = [](std::string_view kind, const char* name, Attribute value) {
        auto program = everyKind();
        for (auto& op : program.operators) {
            if (op.kind == kind) {
                op.attributes[name] = value;
            }
        }
        return validateProgram(program);
    };
    EXPECT_TRUE(with("conv2d", "padding", std::int64_t{0}));
    EXPECT_FALSE(with("conv2d", "padding", std::int64_t{-1}));
    EXPECT_FALSE(with("conv2d", "stride", std::int64_t{0}));
    EXPECT_FALSE(with("max_pool2d", "size", std::int64_t{0}));
    EXPECT_FALSE(with("max_pool2d", "size", std::int64_t{5000}));
    EXPECT_FALSE(with("layer_norm", "eps", 0.0f));
    EXPECT_FALSE(with("batch_norm", "momentum", 1.5f));
    EXPECT_FALSE(with("split", "dim", std::int64_t{8}));
    EXPECT_FALSE(with("permute", "dims", std::vector<std::int64_t>{0, 0}));
    EXPECT_FALSE(with("permute", "dims", std::vector<std::int64_t>{0, 2}));
    EXPECT_FALSE(with("matmul", "transpose_b", std::int64_t{1}));
}

TEST(Program, ReaderRefusesForeignBytes) {
    const auto text = *serialiseProgram(test::tinyProgram());
    const auto refuse = [&](std::string from, std::string to, std::string_view words) {
        auto changed = text;
        const auto at = changed.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        const auto program = parseProgram(base::asBytes(changed));
        ASSERT_FALSE(program) << to;
        EXPECT_NE(program.error().message.find(words), std::string::npos) << to << " -> " << program.error().message;
    };
    refuse("{\"p_f32\":\"3f000000\"}", "{\"p_f32\":\"3f0000\"}", "8 lower-case hex");
    refuse("{\"p_f32\":\"3f000000\"}", "{\"p_f32\":1}", "missing");
    refuse("{\"p_f32\":\"3f000000\"}", "{\"p\":\"3f000000\"}", "expected an FP32");
    refuse("{\"p_f32\":\"3f000000\"}", "{\"p\":{}}", "cannot be an object");
    refuse("{\"shape\":[0,-1]}", "{\"shape\":[0,\"x\"]}", "integers");
    refuse("\"inputs\":[\"image\"]", "\"inputs\":\"image\"", "expected an array");
    refuse("\"attributes\":{},", "", "attributes: missing");
    refuse("\"format\":\"assay/program/1\"", "\"format\":\"assay/order/1\"", "format");
    EXPECT_FALSE(parseProgram(base::asBytes("{}\n")));
    EXPECT_FALSE(parseProgram({}));
}

TEST(Program, AttributeAccess) {
    const auto program = everyKind();
    for (const auto& op : program.operators) {
        if (op.kind == "conv2d") {
            EXPECT_EQ(integerAttribute(op, "stride").value_or(0), 1);
            EXPECT_FALSE(realAttribute(op, "stride"));
            EXPECT_FALSE(integerAttribute(op, "dilation"));
        }
        if (op.kind == "permute") {
            EXPECT_EQ(integersAttribute(op, "dims").value_or(std::vector<std::int64_t>{}),
                      (std::vector<std::int64_t>{1, 0}));
        }
        if (op.kind == "softmax") {
            EXPECT_TRUE(booleanAttribute(op, "causal").value_or(false));
        }
    }
}

} // namespace
} // namespace assay::format
