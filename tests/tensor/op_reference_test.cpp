// SPDX-License-Identifier: Apache-2.0
// Every operator kind, forward and backward, against textbook loops and their differences.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "tests/tensor/op_cases.h"

namespace assay::test {
namespace {

constexpr double kRoundoff = 0x1p-24; ///< of FP32

double largest(const Values& values) {
    double most = 0.0;
    for (const double v : values.v) {
        most = std::max(most, std::abs(v));
    }
    return most;
}

void expectClose(const Values& own, const Values& reference, double scale, double extra, const std::string& what) {
    ASSERT_EQ(own.v.size(), reference.v.size()) << what;
    for (std::size_t i = 0; i < own.v.size(); ++i) {
        // The value itself is rounded once, what entered it `scale`. A second-order share and FP64's own roundings are
        // below the last factor.
        const double allowed = (std::abs(reference.v[i]) + scale) * kRoundoff * 1.001 + extra;
        ASSERT_LE(std::abs(own.v[i] - reference.v[i]), allowed)
            << what << ", element " << i << ": " << own.v[i] << " against " << reference.v[i];
    }
}

ReferenceCall referenceOf(const OpCase& op) {
    return {op.kind, op.attributes, op.evaluate, op.outputs, op.seed, op.step, op.operatorIndex};
}

class OpReference : public ::testing::TestWithParam<NamedCase> {};

TEST_P(OpReference, AgreesWithTextbook) {
    const NamedCase& c = GetParam();
    for (const std::uint64_t block : {std::uint64_t{4}, std::uint64_t{16}, std::uint64_t{256}}) {
        for (const auto bound : {numerics::BoundKind::proven, numerics::BoundKind::empirical}) {
            OpProfile profile;
            profile.bound = bound;
            profile.block = block;
            profile.kernel.threads = 1;
            const OpResult own = runOp(c.op, profile);
            ASSERT_EQ(own.fault, "") << c.name;
            EXPECT_TRUE(own.finite);
            const auto reference = referenceForward(referenceOf(c.op), c.op.inputs);
            for (std::size_t o = 0; o < own.outputs.size(); ++o) {
                expectClose(own.outputs[o], reference[o], c.forwardScale, 1e-13, c.name + " output");
            }
            for (std::size_t u = 0; u < own.updated.size(); ++u) {
                expectClose(own.updated[u], reference[1 + u], c.forwardScale, 1e-13, c.name + " running statistics");
            }
            EXPECT_EQ(own.updated.size(), c.op.kind == "batch_norm" && !c.op.evaluate ? 2U : 0U);
        }
    }
}

class OpGradients : public ::testing::TestWithParam<NamedCase> {};

TEST_P(OpGradients, AgreeWithDifferences) {
    const NamedCase& c = GetParam();
    OpProfile profile;
    profile.block = 16;
    profile.kernel.threads = 1;
    const OpResult own = runOp(c.op, profile);
    ASSERT_EQ(own.fault, "") << c.name;
    std::vector<std::vector<std::int64_t>> shapes;
    for (const Values& y : own.outputs) {
        shapes.push_back(y.shape);
    }
    const auto outputGradients = outputGradientsFor(shapes);
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
        if (((c.op.wanted >> i) & 1U) == 0) {
            continue;
        }
        const Values reference = referenceGradient(referenceOf(c.op), c.op.inputs, i, outputGradients, c.step);
        double total = 0.0;
        for (std::size_t o = 0; o < own.outputs.size(); ++o) {
            total +=
                largest(own.outputs[o]) * largest(outputGradients[o]) * static_cast<double>(own.outputs[o].v.size());
        }
        // Rounding of the differenced sum, plus the third derivative's share for operators that are not linear.
        const double differences =
            total * 0x1p-50 / c.step + (c.step < 1.0 ? 100.0 * c.step * c.step * (1.0 + c.backwardScale) : 0.0);
        expectClose(own.inputGradients[i], reference, c.backwardScale, differences,
                    c.name + " gradient " + std::to_string(i));
    }
}

TEST_P(OpReference, SitesAreWhatTheTableSays) {
    // The emitter checks order and sizes; here: names unique per direction of execution, gradients' directions.
    const NamedCase& c = GetParam();
    OpProfile profile;
    profile.kernel.threads = 1;
    const OpResult own = runOp(c.op, profile);
    ASSERT_EQ(own.fault, "") << c.name;
    std::set<std::string> names;
    for (const auto& site : own.sites) {
        EXPECT_TRUE(names.insert(site.suffix).second) << c.name << ": two sites named " << site.suffix;
        if (site.suffix == "dW" || site.suffix == "dBias") {
            EXPECT_EQ(site.direction, tensor::Direction::parameterGradient) << c.name;
        }
        if (site.suffix == "dX") {
            EXPECT_EQ(site.direction, tensor::Direction::inputGradient) << c.name;
        }
        EXPECT_EQ(site.product, (c.op.kind == "linear" || c.op.kind == "matmul" || c.op.kind == "conv2d") &&
                                    site.suffix != "bias" && site.suffix != "dBias")
            << c.name << " / " << site.suffix;
    }
}

std::string nameOf(const ::testing::TestParamInfo<NamedCase>& tested) {
    std::string name = tested.param.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char ch) { return std::isalnum(ch) == 0; }, '_');
    return name;
}

/// There is no backward pass in evaluation.
std::vector<NamedCase> trainingCases() {
    auto cases = allCases();
    std::erase_if(cases, [](const NamedCase& c) { return c.op.evaluate; });
    return cases;
}

INSTANTIATE_TEST_SUITE_P(AllKinds, OpReference, ::testing::ValuesIn(allCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(AllKinds, OpGradients, ::testing::ValuesIn(trainingCases()), nameOf);

TEST(OpKernels, EveryKindHasCases) {
    std::set<std::string> covered;
    for (const auto& c : allCases()) {
        covered.insert(c.op.kind);
    }
    const auto kinds = tensor::kernelKinds();
    EXPECT_TRUE(std::is_sorted(kinds.begin(), kinds.end()));
    EXPECT_EQ(std::set<std::string>(kinds.begin(), kinds.end()), covered);
    EXPECT_EQ(tensor::findKernel("positions"), nullptr);
}

} // namespace
} // namespace assay::test
