// SPDX-License-Identifier: Apache-2.0
#include "core/models/initial_state.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/models/built_in.h"
#include "cuda/arith/rounding.h"

namespace assay::models {
namespace {

format::Program smallGpt() {
    ModelRequest wanted;
    wanted.kind = "gpt";
    wanted.width = 64;
    wanted.context = 32;
    return buildProgram(wanted).value();
}

TEST(InitialState, IsDeterministicAndFollowsTheSeed) {
    const auto program = smallGpt();
    const auto a = initialState(program, 7).value();
    const auto b = initialState(program, 7).value();
    const auto c = initialState(program, 8).value();
    ASSERT_EQ(a.size(), program.tensors.size());
    EXPECT_EQ(a[0].values, b[0].values);
    EXPECT_NE(a[0].values, c[0].values);
    EXPECT_NE(std::vector<float>(a[0].values.begin(), a[0].values.begin() + 64),
              std::vector<float>(a[1].values.begin(), a[1].values.begin() + 64))
        << "two tensors must not share a stream";
}

TEST(InitialState, HasTheStatedDistribution) {
    const auto state = initialState(smallGpt(), 1).value();
    const auto& table = state[0];
    ASSERT_EQ(table.name, "token_embedding.weight");
    double sum = 0.0;
    double squares = 0.0;
    double largest = 0.0;
    for (const float value : table.values) {
        EXPECT_TRUE(arith::isRepresentable(static_cast<double>(value)));
        sum += value;
        squares += static_cast<double>(value) * value;
        largest = std::max(largest, std::fabs(static_cast<double>(value)));
    }
    const auto n = static_cast<double>(table.values.size()); // 16384
    // Five standard errors: 0.02 / sqrt(n) for the mean, 0.02 / sqrt(2 n) for the deviation.
    EXPECT_NEAR(sum / n, 0.0, 5 * 0.02 / std::sqrt(n));
    EXPECT_NEAR(std::sqrt(squares / n), 0.02, 5 * 0.02 / std::sqrt(2 * n));
    EXPECT_LT(largest, 0.02 * 6.8); // sqrt(-2 log 2^-33) = 6.76 is the farthest that the generator reaches
}

TEST(InitialState, OnesZerosAndUnknownTexts) {
    auto program = smallGpt();
    const auto state = initialState(program, 1).value();
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (program.tensors[i].init == "ones") {
            EXPECT_EQ(state[i].values.back(), 1.0f);
        }
        if (program.tensors[i].init == "zeros") {
            EXPECT_EQ(state[i].values.front(), 0.0f);
        }
    }
    for (const char* bad : {"", "twos", "normal", "normal ", "normal 3f80000", "normal 3f8000000", "normal bf800000", "normal 7fc00000",
                            "normal zzzzzzzz"}) {
        program.tensors[0].init = bad;
        EXPECT_EQ(initialState(program, 1).error().code, base::ErrorCode::malformed) << bad;
    }
}

} // namespace
} // namespace assay::models
