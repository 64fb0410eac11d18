// SPDX-License-Identifier: Apache-2.0
// What the textbook comparison cannot see: ties, NaN, signed zeros, exact values, refused input, faults planted at
// sites.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cuda/arith/elementary.h"
#include "cuda/arith/reduce.h"
#include "tests/tensor/op_cases.h"

namespace assay::test {
namespace {

using Ints = std::vector<std::int64_t>;

Values valuesOf(Ints shape, std::vector<double> v) {
    Values out;
    out.shape = std::move(shape);
    out.v = std::move(v);
    return out;
}

OpCase opOf(std::string kind, tensor::AttributeMap attributes, std::vector<Values> inputs, std::uint32_t wanted = 1) {
    OpCase op;
    op.kind = std::move(kind);
    op.attributes = std::move(attributes);
    op.inputs = std::move(inputs);
    op.isIds.assign(op.inputs.size(), false);
    op.wanted = wanted;
    return op;
}

OpResult run(const OpCase& op) {
    OpProfile profile;
    profile.kernel.threads = 1;
    return runOp(op, profile);
}

TEST(OpBehaviour, MaxPoolTiesGoToTheFirstAndNanWins) {
    const OpResult r = run(opOf("max_pool2d", {{"size", std::int64_t{2}}, {"stride", std::int64_t{2}}},
                                {valuesOf({1, 1, 2, 4}, {3, 3, 0, 0, 3, 3, 0, 0})}));
    ASSERT_EQ(r.fault, "");
    const auto dy = outputGradientsFor({{1, 1, 1, 2}})[0].v;
    EXPECT_EQ(r.outputs[0].v, (std::vector<double>{3, 0}));
    EXPECT_EQ(r.inputGradients[0].v, (std::vector<double>{dy[0], 0, dy[1], 0, 0, 0, 0, 0}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const OpResult n = run(opOf("max_pool2d", {{"size", std::int64_t{2}}, {"stride", std::int64_t{2}}},
                                {valuesOf({1, 1, 2, 2}, {5, nan, 9, nan})}));
    EXPECT_TRUE(std::isnan(n.outputs[0].v[0]));
    EXPECT_EQ(n.inputGradients[0].v[1], outputGradientsFor({{1, 1, 1, 1}})[0].v[0]);
}

TEST(OpBehaviour, ReluOfZeroAndNan) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const OpResult r = run(opOf("relu", {}, {valuesOf({5}, {-1, 0, 2, nan, 0x1p-149})}));
    ASSERT_EQ(r.fault, "");
    EXPECT_EQ(r.outputs[0].v[0], 0.0);
    EXPECT_FALSE(std::signbit(r.outputs[0].v[0]));
    EXPECT_EQ(r.outputs[0].v[2], 2.0);
    EXPECT_TRUE(std::isnan(r.outputs[0].v[3]));
    EXPECT_EQ(r.outputs[0].v[4], 0x1p-149);
    EXPECT_EQ(r.inputGradients[0].v[1], 0.0);
}

TEST(OpBehaviour, NoSiteHoldsMinusZero) {
    // The emitter reports -0. Zero operands of either sign pattern through every kind that multiplies or subtracts.
    for (NamedCase c : allCases()) {
        for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
            if (i >= c.op.isIds.size() || !c.op.isIds[i]) {
                for (std::size_t e = 0; e < c.op.inputs[i].v.size(); e += 2) {
                    c.op.inputs[i].v[e] = 0.0;
                }
                for (std::size_t e = 1; e < c.op.inputs[i].v.size(); e += 4) {
                    c.op.inputs[i].v[e] = c.op.kind == "batch_norm" && i == 4 ? 0.0 : -0x1p-149;
                }
            }
        }
        EXPECT_EQ(run(c.op).fault, "") << c.name;
    }
}

TEST(OpBehaviour, CausalSoftmaxHasNoMinusInfinityAndHidesTheRest) {
    OpCase op = opOf("softmax", {{"causal", true}}, {randomValues({2, 4, 4}, 1)});
    // What lies above the diagonal must not matter, however large.
    const OpResult plain = run(op);
    for (std::size_t r = 0; r < 8; ++r) {
        for (std::size_t c = r % 4 + 1; c < 4; ++c) {
            op.inputs[0].v[r * 4 + c] = 3e38;
        }
    }
    const OpResult hidden = run(op);
    EXPECT_EQ(plain.siteValues, hidden.siteValues);
    EXPECT_EQ(plain.outputs[0].v[0], 1.0);
    EXPECT_EQ(plain.outputs[0].v[1], 0.0);
    for (const auto& site : hidden.siteValues) {
        for (const float v : site) {
            EXPECT_TRUE(std::isfinite(v));
        }
    }
}

TEST(OpBehaviour, LargeLogitsDoNotOverflow) {
    const OpResult s = run(opOf("softmax", {{"causal", false}}, {valuesOf({1, 3}, {3e38, 3e38, -3e38})}));
    EXPECT_EQ(s.outputs[0].v, (std::vector<double>{0.5, 0.5, 0.0}));
    OpCase op = opOf("cross_entropy", {}, {valuesOf({1, 2}, {1e30, 0}), valuesOf({1}, {0})});
    op.isIds[1] = true;
    EXPECT_EQ(run(op).outputs[0].v[0], 0.0);
}

TEST(OpBehaviour, DropoutKeepsAboutItsShareAndDependsOnSeedStepAndOperator) {
    OpCase op = opOf("dropout", {{"p", 0.25F}}, {valuesOf({40000}, std::vector<double>(40000, 3.0))});
    const OpResult r = run(op);
    std::uint64_t kept = 0;
    for (const double v : r.outputs[0].v) {
        kept += v != 0.0 ? 1 : 0;
        ASSERT_TRUE(v == 0.0 || v == 4.0);
    }
    EXPECT_NEAR(static_cast<double>(kept) / 40000.0, 0.75, 6.0 * std::sqrt(0.25 * 0.75 / 40000.0));
    EXPECT_EQ(run(op).outputs[0].v, r.outputs[0].v);
    for (int what = 0; what < 3; ++what) {
        OpCase other = op;
        (what == 0 ? other.seed : other.step) += what == 2 ? 0U : 1U;
        other.operatorIndex += what == 2 ? 1U : 0U;
        EXPECT_NE(run(other).outputs[0].v, r.outputs[0].v) << what;
    }
    op.evaluate = true;
    const OpResult e = run(op);
    EXPECT_EQ(e.outputs[0].v, op.inputs[0].v);
    EXPECT_TRUE(e.sites.empty());
}

TEST(OpBehaviour, StatisticsAreExactlyAsWritten) {
    // One row by hand, with the specified tree and the rounded statistics.
    const Values x = randomValues({1, 700}, 3);
    const Values w = randomValues({700}, 4);
    const Values b = randomValues({700}, 5);
    const OpResult r = run(opOf("layer_norm", {{"eps", 1e-5F}}, {x, w, b}, 0b111));
    ASSERT_EQ(r.fault, "");
    const auto mean = static_cast<float>(arith::treeSum(700, [&](std::uint64_t i) { return x.v[i]; }) / 700.0);
    const double sum = arith::treeSum(700, [&](std::uint64_t i) {
        return (x.v[i] - static_cast<double>(mean)) * (x.v[i] - static_cast<double>(mean));
    });
    const auto rstd = static_cast<float>(1.0 / std::sqrt(sum / 700.0 + static_cast<double>(1e-5F)));
    EXPECT_EQ(r.siteValues[0], std::vector<float>{mean});
    EXPECT_EQ(r.siteValues[1], std::vector<float>{rstd});
    for (std::size_t i = 0; i < 700; ++i) {
        const double h = (x.v[i] - static_cast<double>(mean)) * static_cast<double>(rstd);
        ASSERT_EQ(r.siteValues[2][i], static_cast<float>(h * w.v[i] + b.v[i]));
    }
}

TEST(OpBehaviour, SumsUseTheTreeOverTheWholeBatch) {
    // More than one chunk of 1024 rows: the bias gradient of a linear layer, bit for bit.
    const OpResult r =
        run(opOf("linear", {}, {randomValues({2500, 3}, 6), randomValues({2, 3}, 7), randomValues({2}, 8)}, 0b111));
    ASSERT_EQ(r.fault, "");
    const auto dy = outputGradientsFor({{2500, 2}})[0].v;
    for (std::size_t c = 0; c < 2; ++c) {
        const double sum = arith::treeSum(2500, [&](std::uint64_t i) { return dy[i * 2 + c]; });
        EXPECT_EQ(r.inputGradients[2].v[c], static_cast<double>(static_cast<float>(sum)));
    }
}

TEST(OpBehaviour, LaterStagesSeeWhatTheEmitterLeaves) {
    // A fault planted in a statistic must spread, or a consistent liar could not be imitated.
    const auto* kernel = tensor::findKernel("layer_norm");
    const tensor::AttributeMap attributes{{"eps", 1e-5F}};
    const std::vector<tensor::Shape> shapes{{2, 8}, {8}, {8}};
    const Values xv = randomValues({2, 8}, 9);
    tensor::Tensor x(shapes[0], std::vector<float>(xv.v.begin(), xv.v.end()));
    tensor::Tensor w(shapes[1], std::vector<float>(8, 1.0F));
    tensor::Tensor b(shapes[2]);
    tensor::ThreadPool pool(1);
    std::vector<std::vector<float>> outputs;
    for (const std::int64_t plant : {-1, 0, 1, 2}) {
        tensor::OpRun run;
        run.call.attributes = &attributes;
        run.call.inputs = shapes;
        run.inputs = {{&x, nullptr}, {&w, nullptr}, {&b, nullptr}};
        run.context.pool = &pool;
        TestEmitter emitter(EmitMode::record, kernel->forwardSites(run.call), nullptr);
        emitter.plantSite = plant;
        emitter.plantElement = 1;
        emitter.plantValue = 0.5F;
        run.emitter = &emitter;
        ASSERT_TRUE(kernel->forward(run).has_value());
        outputs.emplace_back(run.outputs[0].values().begin(), run.outputs[0].values().end());
    }
    for (std::size_t i = 1; i < outputs.size(); ++i) {
        EXPECT_NE(outputs[i], outputs[0]);
    }
    EXPECT_EQ(outputs[3][1], 0.5F);
}

TEST(OpBehaviour, ReshapeResolvesBatchAndRest) {
    const auto shapeOf = [](Ints input, Ints shape, std::int64_t batch) -> base::Result<std::vector<tensor::Shape>> {
        const tensor::AttributeMap attributes{{"shape", std::move(shape)}};
        const std::vector<tensor::Shape> inputs{std::move(input)};
        tensor::OpCall call;
        call.attributes = &attributes;
        call.inputs = inputs;
        call.batch = batch;
        return tensor::findKernel("reshape")->inferShapes(call);
    };
    EXPECT_EQ((*shapeOf({4, 6, 5}, {0, -1}, 4))[0], (Ints{4, 30}));
    EXPECT_EQ((*shapeOf({1, 4, 2, 6, 5}, {-1, 2, 6, 5}, 4))[0], (Ints{4, 2, 6, 5}));
    EXPECT_EQ((*shapeOf({4, 6}, {24}, 4))[0], (Ints{24}));
    EXPECT_EQ((*shapeOf({1}, {}, 4))[0], Ints{});
    for (const Ints& bad : {Ints{-1, -1}, Ints{5, -1}, Ints{23}, Ints{-2, 12}, Ints{0, 7}, Ints{1L << 62, 1L << 62},
                            Ints{48, -1}, Ints{1, 1, 1, 1, 1, 1, 1, 1, 24}}) {
        EXPECT_FALSE(shapeOf({4, 6}, bad, 4).has_value());
    }
}

void expectRefused(const OpCase& op, const std::string& why) {
    const OpResult r = run(op);
    EXPECT_NE(r.fault.find(why), std::string::npos) << op.kind << ": '" << r.fault << "'";
}

TEST(OpBehaviour, RefusesWhatDoesNotFit) {
    const auto x = [](Ints shape) { return randomValues(std::move(shape), 1); };
    const tensor::AttributeMap conv{{"stride", std::int64_t{1}}, {"padding", std::int64_t{0}}};
    const tensor::AttributeMap norm{{"eps", 1e-5F}, {"momentum", 0.1F}};
    expectRefused(opOf("linear", {}, {x({3, 4}), x({5, 3})}), "last dimension");
    expectRefused(opOf("linear", {}, {x({3, 4}), x({5, 4}), x({4})}), "input 2");
    expectRefused(opOf("linear", {}, {x({3, 4})}), "inputs");
    expectRefused(opOf("matmul", {}, {x({2, 3, 4}), x({3, 4, 5})}), "fit together");
    expectRefused(opOf("matmul", {{"transpose_b", true}}, {x({3, 4}), x({4, 5})}), "fit together");
    expectRefused(opOf("conv2d", conv, {x({1, 2, 4, 4}), x({3, 1, 3, 3})}), "channels");
    expectRefused(opOf("conv2d", conv, {x({1, 2, 2, 2}), x({3, 2, 3, 3})}), "larger");
    expectRefused(opOf("conv2d", {}, {x({1, 2, 4, 4}), x({3, 2, 3, 3})}), "stride");
    expectRefused(
        opOf("conv2d", {{"stride", std::int64_t{0}}, {"padding", std::int64_t{0}}}, {x({1, 2, 4, 4}), x({3, 2, 3, 3})}),
        "stride");
    expectRefused(opOf("add", {}, {x({3, 4}), x({3})}), "cannot be added");
    expectRefused(opOf("add", {}, {x({4}), x({3, 4})}), "cannot be added");
    expectRefused(opOf("scale", {{"factor", std::string("2")}}, {x({3})}), "factor");
    expectRefused(opOf("scale", {{"factor", std::numeric_limits<float>::infinity()}}, {x({3})}), "factor");
    expectRefused(opOf("dropout", {{"p", 1.0F}}, {x({3})}), "p is");
    expectRefused(opOf("dropout", {{"p", -0.1F}}, {x({3})}), "p is");
    expectRefused(opOf("layer_norm", {{"eps", 0.0F}}, {x({3, 4}), x({4}), x({4})}), "eps");
    expectRefused(opOf("layer_norm", {{"eps", 1e-5F}}, {x({3, 4}), x({3}), x({4})}), "input 1");
    expectRefused(opOf("batch_norm", norm, {x({3, 4}), x({4}), x({4}), x({4}), x({3})}), "input 4");
    expectRefused(opOf("max_pool2d", {{"size", std::int64_t{3}}, {"stride", std::int64_t{1}}}, {x({1, 1, 2, 4})}),
                  "window");
    expectRefused(opOf("global_avg_pool", {}, {x({2, 3})}), "dimensions");
    expectRefused(opOf("permute", {{"dims", Ints{0, 0}}}, {x({2, 3})}), "permutation");
    expectRefused(opOf("permute", {{"dims", Ints{0}}}, {x({2, 3})}), "entries");
    expectRefused(opOf("permute", {{"dims", Ints{0, 2}}}, {x({2, 3})}), "permutation");
    OpCase split = opOf("split", {{"dim", std::int64_t{1}}}, {x({2, 4})});
    split.outputs = 3;
    expectRefused(split, "equal parts");
    split.attributes = {{"dim", std::int64_t{2}}};
    expectRefused(split, "dim");
}

TEST(OpBehaviour, RefusesIdsAndLabelsOutOfRange) {
    for (const double bad : {-1.0, 7.0}) {
        OpCase e = opOf("embedding", {}, {valuesOf({2}, {3, bad}), randomValues({7, 2}, 1)}, 0b10);
        e.isIds[0] = true;
        expectRefused(e, "position 1");
        OpCase c = opOf("cross_entropy", {}, {randomValues({2, 7}, 1), valuesOf({2}, {0, bad})});
        c.isIds[1] = true;
        expectRefused(c, "row 1");
    }
    OpCase wrongType = opOf("cross_entropy", {}, {randomValues({2, 7}, 1), valuesOf({2}, {0, 1})});
    expectRefused(wrongType, "integers");
    OpCase count = opOf("cross_entropy", {}, {randomValues({2, 7}, 1), valuesOf({3}, {0, 1, 2})});
    count.isIds[1] = true;
    expectRefused(count, "one label per row");
}

TEST(OpBehaviour, RefusesHugeShapesWithoutAllocating) {
    const std::vector<tensor::Shape> inputs{{1L << 30, 1L << 30, 1L << 30}};
    tensor::OpCall call;
    call.inputs = inputs;
    EXPECT_FALSE(tensor::findKernel("relu")->inferShapes(call).has_value());
    const std::vector<tensor::Shape> zero{{0, 3}};
    call.inputs = zero;
    EXPECT_FALSE(tensor::findKernel("relu")->inferShapes(call).has_value());
}

} // namespace
} // namespace assay::test
