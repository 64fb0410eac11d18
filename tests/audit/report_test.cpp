// SPDX-License-Identifier: Apache-2.0
// The JSON of reports: round trips, names of members, refusals.
#include <bit>

#include <gtest/gtest.h>

#include "core/audit/verdict.h"

namespace assay::test {
namespace {

using namespace audit;

VerifyReport fullReport() {
    VerifyReport report;
    report.verdict = Verdict::rejected;
    report.reason = "the loss \"differs\"\n\xc3\xa4";
    report.warnings = {"first", "second"};
    report.stepsChecked = 6;
    report.stepsTotal = (1ULL << 53) - 1;
    report.rootClaimed = std::string(64, 'a');
    report.rootComputed = std::string(64, 'b');
    report.scope = Scope::sample;
    report.ranges = {{1, 2}, {5, 8}};
    FirstDivergence where;
    where.source = Source::log;
    where.step = 7;
    where.part = Part::logRoot;
    where.tensor = "t";
    where.operator_ = "blocks.0";
    where.site = "blocks.0 / dW";
    where.element = 12345678901ULL;
    where.setClaimed(0.1F);
    where.setComputed(std::bit_cast<float>(0xffc00001U));
    report.firstDivergence = where;
    report.entries = 1;
    report.corrections = 2;
    report.logBytes = 3;
    report.freedom = 4;
    report.kernelTrainer = "haswell";
    report.kernelAuditor = "prescott";
    report.seconds = 0.125;
    report.checks = {{Check::signature, CheckState::notChecked, "unknown key", {}, {}},
                     {Check::files, CheckState::failed, "x", Part::logRoot, 7}};
    FirstDivergence digests;
    digests.claimed = std::string(64, 'c');
    digests.computed = std::string(64, 'd');
    report.findings = {{Severity::failure, where, "f"}, {Severity::info, {}, "i"}, {Severity::warning, digests, "w"}};
    report.detectionProbability = 0.3;
    report.profiles = {{1, 4, "haswell"}, {5, 8, "haswell,threads=2"}};
    report.orderDigest = std::string(64, 'e');
    report.submission = "/data/run.assay";
    report.nonce = "00ff";
    report.nonceSource = "given by the auditor";
    report.logIgnored = true;
    return report;
}

TEST(Report, roundTrip) {
    for (const auto& report : {VerifyReport{}, fullReport()}) {
        const auto json = toJson(report);
        EXPECT_EQ(json.find('\n'), std::string::npos);
        const auto back = reportFromJson(json);
        ASSERT_TRUE(back.has_value()) << back.error().toString();
        EXPECT_EQ(*back, report);
        EXPECT_EQ(toJson(*back), json);
    }
}

TEST(Report, holdsTheDocumentedMembers) {
    const auto json = toJson(VerifyReport{});
    for (const auto* member :
         {"verdict",       "reason",  "steps_checked",    "steps_total",    "root_claimed",
          "root_computed", "scope",   "first_divergence", "entries",        "corrections",
          "log_bytes",     "freedom", "kernel_trainer",   "kernel_auditor", "seconds",
          "schema",        "version", "checks",           "findings",       "detection_probability",
          "profiles"}) {
        EXPECT_NE(json.find("\"" + std::string(member) + "\":"), std::string::npos) << member;
    }
    // Unknown is null, never a guess or an empty text.
    EXPECT_NE(json.find("\"root_claimed\":null"), std::string::npos);
    EXPECT_NE(json.find("\"first_divergence\":null"), std::string::npos);
    auto report = VerifyReport{};
    report.firstDivergence = FirstDivergence{};
    const auto empty = toJson(report);
    for (const auto* member :
         {"source", "step", "part", "tensor", "operator", "site", "element", "claimed", "computed"}) {
        EXPECT_NE(empty.find("\"" + std::string(member) + "\":null"), std::string::npos) << member;
    }
}

TEST(Report, numbersReadAsShortDecimals) {
    const auto json = toJson(fullReport());
    EXPECT_NE(json.find("\"claimed\":0.1,"), std::string::npos) << json;
    EXPECT_NE(json.find("\"claimed_bits\":\"3dcccccd\""), std::string::npos);
    EXPECT_NE(json.find("\"computed\":\"nan\""), std::string::npos); // JSON has no such number
    EXPECT_NE(json.find("\"computed_bits\":\"ffc00001\""), std::string::npos);
}

TEST(Report, anyRemovedMemberOfTheVerdictIsRefused) {
    // A report with its verdict, reason, scope or counts cut out must not read as something better.
    const auto json = toJson(fullReport());
    for (const auto* member : {"verdict", "reason", "scope", "steps_checked", "steps_total", "checks", "findings",
                               "schema", "version", "log_ignored", "ranges", "warnings"}) {
        auto broken = json;
        const auto found = broken.find("\"" + std::string(member) + "\":");
        ASSERT_NE(found, std::string::npos);
        broken.insert(found + 1, "x");
        const auto refused = reportFromJson(broken);
        ASSERT_FALSE(refused.has_value()) << member;
        EXPECT_EQ(refused.error().code, base::ErrorCode::malformed);
        EXPECT_NE(refused.error().message.find(member), std::string::npos);
    }
}

TEST(Report, wrongTypesAndValuesAreRefused) {
    const auto json = toJson(fullReport());
    const std::pair<const char*, const char*> swaps[] = {
        {"\"verdict\":\"rejected\"", "\"verdict\":\"Accepted\""},
        {"\"verdict\":\"rejected\"", "\"verdict\":1"},
        {"\"version\":1", "\"version\":2"},
        {"\"version\":1", "\"version\":1.5"},
        {"\"schema\":\"assay.verify\"", "\"schema\":\"assay.plan\""},
        {"\"steps_checked\":6", "\"steps_checked\":-6"},
        {"\"steps_checked\":6", "\"steps_checked\":6.5"},
        {"\"steps_checked\":6", "\"steps_checked\":\"6\""},
        {"\"steps_checked\":6", "\"steps_checked\":9007199254740992"},
        {"\"seconds\":0.125", "\"seconds\":-1"},
        {"\"seconds\":0.125", "\"seconds\":1e999"},
        {"\"detection_probability\":0.3", "\"detection_probability\":1.1"},
        {"\"log_ignored\":true", "\"log_ignored\":\"yes\""},
        {"\"claimed_bits\":\"3dcccccd\"", "\"claimed_bits\":\"3dcccccz\""},
        {"\"claimed_bits\":\"3dcccccd\"", "\"claimed_bits\":null"},
        {"\"part\":\"log_root\"", "\"part\":\"everything\""},
        {"\"source\":\"log\"", "\"source\":\"rumour\""},
        {"\"severity\":\"failure\"", "\"severity\":\"splendid\""},
        {"\"warnings\":[\"first\"", "\"warnings\":[1"},
        {"\"ranges\":[", "\"ranges\":[7,"},
        {"\"first_divergence\":{", "\"first_divergence\":7,\"x\":{"},
    };
    for (const auto& [from, to] : swaps) {
        auto broken = json;
        const auto found = broken.find(from);
        ASSERT_NE(found, std::string::npos) << from;
        broken.replace(found, std::string(from).size(), to);
        const auto refused = reportFromJson(broken);
        EXPECT_FALSE(refused.has_value()) << to;
    }
}

TEST(Report, everyTruncationIsRefused) {
    const auto json = toJson(fullReport());
    for (std::size_t size = 0; size < json.size(); ++size) {
        ASSERT_FALSE(reportFromJson(std::string_view(json).substr(0, size)).has_value()) << size;
    }
    EXPECT_FALSE(reportFromJson(json + "x").has_value());
}

TEST(Report, unknownMembersAreIgnored) {
    auto json = toJson(fullReport());
    json.insert(1, "\"later\":{\"a\":[1,2]},");
    EXPECT_EQ(*reportFromJson(json), fullReport());
}

} // namespace
} // namespace assay::test
