// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/engine/session.h"
#include "core/engine/site_table.h"
#include "tests/engine/engine_orders.h"

namespace assay::test {
namespace {

using engine::SiteTable;

std::vector<std::string> namesOf(const SiteTable& table) {
    std::vector<std::string> names;
    for (const auto& site : table.sites()) {
        names.push_back(site.name);
    }
    return names;
}

std::size_t positionOf(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(SiteTable, NumbersSitesInExecutionOrderAndSectionsForProductsOnly) {
    for (const auto* kind : {"mlp", "cnn", "gpt"}) {
        const auto order = makeStandardOrder(kind);
        const auto table = SiteTable::build(order.program, 4, order.order.optimizer, tensor::Mode::train);
        ASSERT_TRUE(table) << table.error().toString();
        std::uint32_t section = 0;
        std::set<std::string> names;
        for (std::uint32_t i = 0; i < table->sites().size(); ++i) {
            const auto& site = table->sites()[i];
            EXPECT_EQ(site.index, i);
            EXPECT_EQ(site.section, site.product ? section++ : engine::kNone) << site.name;
            EXPECT_EQ(site.values, tensor::elementCount(site.shape)) << site.name;
            EXPECT_TRUE(names.insert(site.name).second) << site.name << " occurs twice";
        }
        EXPECT_EQ(section, table->productSites());
        EXPECT_GT(section, 0u);
    }
}

TEST(SiteTable, ForwardThenBackwardInReverseThenUpdates) {
    const auto order = makeStandardOrder("gpt");
    const auto table = SiteTable::build(order.program, 4, order.order.optimizer, tensor::Mode::train);
    ASSERT_TRUE(table);
    const auto names = namesOf(*table);
    const auto before = [&](const std::string& a, const std::string& b) {
        ASSERT_LT(positionOf(names, a), names.size()) << a;
        ASSERT_LT(positionOf(names, b), names.size()) << b;
        EXPECT_LT(positionOf(names, a), positionOf(names, b)) << a << " comes after " << b;
    };
    std::vector<std::size_t> firstForward;
    std::vector<std::size_t> firstBackward;
    for (const auto& op : table->operators()) {
        firstForward.push_back(op.forwardSite);
        firstBackward.push_back(op.backwardSite);
    }
    EXPECT_TRUE(std::is_sorted(firstForward.begin(), firstForward.end()));
    EXPECT_TRUE(std::is_sorted(firstBackward.rbegin(), firstBackward.rend()));
    EXPECT_LE(firstForward.back(), firstBackward.back());
    before("optimizer / gradient norm", "token_embedding.weight / m");
    before("token_embedding.weight / m", "token_embedding.weight / v");
    before("token_embedding.weight / v", "token_embedding.weight / update");
    before("token_embedding.weight / update", "head.weight / update");
    // The embedding's output feeds the first norm and the first residual sum.
    before("blocks.0.add1 / gradient sum", "optimizer / gradient norm");
}

TEST(SiteTable, AValueWithSeveralConsumersGetsItsSumAfterTheFirstOne) {
    const auto order = makeStandardOrder("cnn");
    const auto table = SiteTable::build(order.program, 4, order.order.optimizer, tensor::Mode::train);
    ASSERT_TRUE(table);
    std::uint32_t sums = 0;
    for (const auto& value : table->values()) {
        if (value.sumSite == engine::kNone) {
            EXPECT_LT(value.contributions, 2u) << value.name;
            continue;
        }
        ++sums;
        const auto& parts = table->contributions(static_cast<std::uint32_t>(&value - table->values().data()));
        EXPECT_EQ(parts.size(), 2u);
        EXPECT_LT(parts[0].operatorIndex, parts[1].operatorIndex);
        EXPECT_GT(value.sumSite, table->operators()[parts[0].operatorIndex].backwardSite);
        EXPECT_EQ(table->sites()[value.sumSite].name, value.name + " / gradient sum");
        EXPECT_EQ(table->sites()[value.sumSite].shape, value.shape);
    }
    EXPECT_EQ(sums, 1u); // the input of the residual block
}

TEST(SiteTable, EvaluationHasForwardSitesOnly) {
    const auto order = makeStandardOrder("cnn");
    const auto train = SiteTable::build(order.program, 4, order.order.optimizer, tensor::Mode::train);
    const auto table = SiteTable::build(order.program, 3, order.order.optimizer, tensor::Mode::evaluate);
    ASSERT_TRUE(train && table);
    EXPECT_LT(table->sites().size(), train->sites().size());
    for (const auto& site : table->sites()) {
        EXPECT_TRUE(site.direction == tensor::Direction::forward || site.direction == tensor::Direction::statistic)
            << site.name;
    }
    EXPECT_TRUE(table->updates().empty());
}

TEST(SiteTable, ParametersTheLossDoesNotDependOnAreLeftAlone) {
    OrderWish wish;
    wish.program = [](format::Program& program) {
        program.tensors.push_back({"idle.weight", "f32", {3, 16}, "parameter", "ones"});
        program.operators.insert(program.operators.end() - 1,
                                 {"idle", "linear", {"layers.0.relu", "idle.weight"}, {"idle"}, {}, ""});
    };
    const auto order = makeOrder(wish);
    const auto table = SiteTable::build(order.program, 4, order.order.optimizer, tensor::Mode::train);
    ASSERT_TRUE(table) << table.error().toString();
    EXPECT_NE(table->findSite("idle / y"), engine::kNone);
    EXPECT_EQ(table->findSite("idle.weight / update"), engine::kNone);
    EXPECT_NE(table->findSite("head.weight / update"), engine::kNone);
}

TEST(SiteTable, KnowsWhatAStepHoldsAtLeast) {
    const auto order = makeStandardOrder("mlp");
    const auto at = [&](std::uint64_t batch, tensor::Mode mode) {
        return SiteTable::build(order.program, batch, order.order.optimizer, mode)->peakBytes();
    };
    EXPECT_GT(at(4, tensor::Mode::train), at(4, tensor::Mode::evaluate));
    EXPECT_GT(at(4, tensor::Mode::evaluate), 4u * 256 * sizeof(float)); // the logits alone
    // An order that no machine can hold is refused, not tried.
    auto huge = order.order;
    huge.data.samples = std::uint64_t{1} << 40;
    huge.loop.batch = std::uint64_t{1} << 38;
    const auto session = engine::Session::create(huge, order.program, profileOf("threads=1"));
    ASSERT_FALSE(session);
    // Either the order's own limits refuse it, or the memory of this machine does.
    EXPECT_TRUE(session.error().code == base::ErrorCode::environment ||
                session.error().code == base::ErrorCode::malformed)
        << session.error().toString();
}

TEST(SiteTable, RefusesWhatDoesNotFitWithOperatorAndReason) {
    OrderWish wish;
    const auto order = makeOrder(wish);
    const auto reason = [&](auto change) {
        auto program = order.program;
        change(program);
        const auto table = SiteTable::build(program, 4, order.order.optimizer, tensor::Mode::train);
        EXPECT_FALSE(table);
        return table ? std::string() : table.error().toString();
    };
    EXPECT_NE(reason([](auto& p) { p.tensors[0].shape[1] += 1; }).find("layers.0.linear"), std::string::npos);
    EXPECT_NE(reason([](auto& p) { p.operators[2].kind = "teleport"; }).find("cannot execute"), std::string::npos);
    EXPECT_NE(reason([](auto& p) { p.operators[1].inputs[1] = "nowhere"; }).find("nowhere"), std::string::npos);
    EXPECT_NE(reason([](auto& p) { p.loss = "head"; }).find("one value"), std::string::npos);
    EXPECT_FALSE(SiteTable::build(order.program, 0, order.order.optimizer, tensor::Mode::train));
}

} // namespace
} // namespace assay::test
