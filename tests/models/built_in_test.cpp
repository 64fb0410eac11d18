// SPDX-License-Identifier: Apache-2.0
#include "core/models/built_in.h"

#include <set>

#include <gtest/gtest.h>

namespace assay::models {
namespace {

ModelRequest request(std::string kind) {
    ModelRequest made;
    made.kind = std::move(kind);
    made.image = {1, 28, 28};
    made.context = 16;
    made.width = made.kind == "gpt" ? 32 : 8;
    return made;
}

TEST(BuiltIn, EveryProgramIsValidAndSurvivesItsFile) {
    for (const char* kind : {"mlp", "cnn", "gpt"}) {
        for (const std::uint64_t layers : {std::uint64_t{1}, std::uint64_t{3}}) {
            for (const float dropout : {0.0f, 0.25f}) {
                auto wanted = request(kind);
                wanted.layers = layers;
                wanted.dropout = wanted.kind == "cnn" ? 0.0f : dropout;
                const auto program = buildProgram(wanted);
                ASSERT_TRUE(program) << kind << ": " << program.error().toString();
                const auto valid = format::validateProgram(*program);
                ASSERT_TRUE(valid) << kind << ": " << valid.error().toString();
                const auto text = format::serialiseProgram(*program).value();
                EXPECT_EQ(format::parseProgram(base::asBytes(text)).value(), *program);
                EXPECT_EQ(program->loss, "loss");
                std::set<std::string> kinds;
                for (const auto& op : program->operators) {
                    kinds.insert(op.kind);
                }
                EXPECT_EQ(kinds.contains("dropout"), wanted.dropout > 0.0f);
            }
        }
    }
}

TEST(BuiltIn, ParameterCounts) {
    auto wanted = request("gpt");
    wanted.layers = 2;
    const std::uint64_t c = 32;
    const std::uint64_t block = 2 * c + 3 * c * c + 3 * c + c * c + c + 2 * c + 4 * c * c + 4 * c + 4 * c * c + c;
    EXPECT_EQ(parameterCount(buildProgram(wanted).value()), 256 * c + 16 * c + 2 * block + 2 * c + 256 * c);
    auto mlp = request("mlp");
    mlp.layers = 1;
    EXPECT_EQ(parameterCount(buildProgram(mlp).value()), 784u * 8 + 8 + 8 * 10 + 10);
}

TEST(BuiltIn, RefusesWhatDoesNotFit) {
    const auto refuse = [](ModelRequest wanted, std::string_view word) {
        const auto program = buildProgram(wanted);
        ASSERT_FALSE(program) << word;
        EXPECT_EQ(program.error().code, base::ErrorCode::usage);
        EXPECT_NE(program.error().message.find(word), std::string::npos) << program.error().message;
    };
    auto wanted = request("gpt");
    wanted.heads = 5;
    refuse(wanted, "heads");
    wanted = request("gpt");
    wanted.dropout = 1.0f;
    refuse(wanted, "dropout");
    wanted.dropout = -0.1f;
    refuse(wanted, "dropout");
    wanted = request("gpt");
    wanted.width = 1 << 20;
    refuse(wanted, "width");
    wanted = request("cnn");
    wanted.image = {1, 3, 28};
    refuse(wanted, "pixels");
    wanted = request("cnn");
    wanted.dropout = 0.5f;
    refuse(wanted, "dropout");
    wanted = request("mlp");
    wanted.image = {28, 28};
    refuse(wanted, "channels");
    wanted.image = {1, -1, 28};
    refuse(wanted, "dimension");
    refuse(request("transformer"), "transformer");
}

TEST(BuiltIn, DefaultHeadsDivideTheWidth) {
    for (std::uint64_t width = 1; width < 400; width += 7) {
        auto wanted = request("gpt");
        wanted.width = width;
        EXPECT_TRUE(buildProgram(wanted)) << width;
    }
}

} // namespace
} // namespace assay::models
