// SPDX-License-Identifier: Apache-2.0
// Events of the engine: round trips and hostile lines.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/audit/engine_events.h"

namespace assay::test {
namespace {

using namespace audit;

std::vector<EngineEvent> examples() {
    StepEvent step;
    step.step = 12;
    step.status = StepStatus::matched;
    step.lossBits = 0x3f800000U;
    step.lossClaimedBits = 0x7fc00000U;
    step.evaluationBits = 0x3f000000U;
    step.entries = 5;
    step.corrections = 4;
    step.offences = 3;
    step.logBytes = 2;
    step.freedom = 1;
    step.seconds = 0.5;
    step.checkpoint = true;
    step.digest = std::string(64, 'a');
    StepEvent bare;
    bare.status = StepStatus::trained;
    Finding finding;
    finding.severity = Severity::failure;
    finding.where.source = Source::log;
    finding.where.step = 3;
    finding.where.part = Part::logRoot;
    finding.where.site = "a / y";
    finding.where.element = 9;
    finding.where.setClaimed(1.5F);
    finding.text = "\"quoted\" \xc3\xa4";
    VerifyReport report;
    report.verdict = Verdict::accepted;
    report.reason = "fine";
    base::Error error{base::ErrorCode::malformed, "bad header", "x.safetensors", 8, "get it again"};
    base::Error plain{base::ErrorCode::cancelled, "stopped", {}, {}, {}};
    return {HelloEvent{"0.1.0", "OpenBLAS 0.3.21", "Haswell", 2, "haswell,threads=2", "avx2"},
            ProgressEvent{"replay", 3, 10, "steps", 1.5, 4.25},
            ProgressEvent{},
            CheckEvent{{Check::files, CheckState::failed, "x differs", Part::logRoot, 3}},
            CheckEvent{},
            step,
            bare,
            SitesEvent{{{0, "a / y", "forward", true, 64}, {0xffffffffU, "b", "update", false, 0}}},
            SitesEvent{},
            SiteStatsEvent{12, {{0, 1, 2, 3}, {7, 0, 0, 1}}},
            CorrectionEvent{12, 3, "a / y", (1ULL << 53) - 1, 0x3f800000U, 0x3f800001U},
            CorrectionEvent{1, 0, "", 0, 0xff800000U, 0},
            FindingEvent{finding},
            VerdictEvent{report},
            DoneEvent{"{\"a\":[1,2,{\"b\":null}],\"text\":\"x\"}"},
            DoneEvent{},
            ErrorEvent{error},
            ErrorEvent{plain}};
}

TEST(EngineEvents, roundTrip) {
    std::vector<bool> seen(std::variant_size_v<EngineEvent>);
    for (const auto& event : examples()) {
        const auto line = serialiseEvent(event);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        const auto back = parseEvent(line);
        ASSERT_TRUE(back.has_value()) << line << ": " << back.error().toString();
        EXPECT_EQ(*back, event) << line;
        seen[event.index()] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

TEST(EngineEvents, linesAreWhatTheProtocolSays) {
    EXPECT_EQ(
        serialiseEvent(CorrectionEvent{1, 2, "s", 3, 0x3dcccccdU, 0x7f800000U}),
        R"({"element":3,"event":"correction","name":"s","own":0.1,"own_bits":"3dcccccd","site":2,"step":1,"taken":null,"taken_bits":"7f800000"})");
    EXPECT_EQ(serialiseEvent(DoneEvent{"{\"kernels\":[]}"}), R"({"event":"done","kernels":[]})");
    EXPECT_EQ(serialiseEvent(CheckEvent{{Check::data, CheckState::passed, "ok", {}, {}}}),
              R"({"detail":"ok","event":"check","name":"data","part":null,"state":"passed","step":null})");
}

TEST(EngineEvents, invalidUtf8IsReplacedWhenWriting) {
    CheckEvent event;
    event.result.detail = "bad \xff\xfe name";
    const auto back = parseEvent(serialiseEvent(event));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(std::get<CheckEvent>(*back).result.detail, "bad \xef\xbf\xbd\xef\xbf\xbd name");
}

TEST(EngineEvents, hostileLinesAreMalformed) {
    const std::string lines[] = {
        "",
        " ",
        "null",
        "[]",
        "\"event\"",
        "{}",
        "{\"event\":null}",
        "{\"event\":7}",
        "{\"event\":\"\"}",
        "{\"event\":\"Hello\"}",
        "{\"event\":\"step\"}",
        "{\"event\":\"hello\"}{\"event\":\"hello\"}",
        "{\"event\":\"progress\",\"phase\":\"x\",\"done\":-1,\"total\":0,\"unit\":\"s\"}",
        "{\"event\":\"progress\",\"phase\":\"x\",\"done\":18446744073709551615,\"total\":0,\"unit\":\"s\"}",
        "{\"event\":\"progress\",\"phase\":\"x\",\"done\":1e3,\"total\":0,\"unit\":\"s\"}",
        "{\"event\":\"progress\",\"phase\":\"x\",\"done\":1,\"total\":0,\"unit\":\"s\",\"eta_seconds\":-1}",
        "{\"event\":\"check\",\"name\":\"trust me\",\"state\":\"passed\",\"detail\":\"\"}",
        "{\"event\":\"check\",\"name\":\"files\",\"state\":\"great\",\"detail\":\"\"}",
        "{\"event\":\"check\",\"name\":\"files\",\"state\":\"passed\"}",
        "{\"event\":\"site_stats\",\"step\":1,\"sites\":{}}",
        "{\"event\":\"site_stats\",\"step\":1,\"sites\":[1]}",
        "{\"event\":\"site_stats\",\"step\":1,\"sites\":[{\"site\":4294967296,\"entries\":0,\"corrections\":0,"
        "\"offences\":0}]}",
        "{\"event\":\"correction\",\"step\":1,\"site\":0,\"name\":\"\",\"element\":0,\"own_bits\":\"3F800000\",\"taken_"
        "bits\":\"00000000\"}",
        "{\"event\":\"error\",\"code\":\"fine\",\"message\":\"x\"}",
        "{\"event\":\"verdict\",\"verdict\":\"accepted\"}",
        std::string("{\"event\":\"hello\xff\"}"),
        std::string("{\"event\":\"hel\0lo\"}", 18),
        std::string(100000, '['),
        "{\"event\":" + std::string(100000, '['),
        "{\"event\":\"done\",\"x\":" + std::string(50, '[') + std::string(50, ']') + "}",
        std::string(1 << 20, '{'),
        "{\"event\":\"done\",\"x\":1e999}",
    };
    for (const auto& line : lines) {
        const auto parsed = parseEvent(line);
        ASSERT_FALSE(parsed.has_value()) << line.substr(0, 80);
        EXPECT_EQ(parsed.error().code, base::ErrorCode::malformed);
        EXPECT_LT(parsed.error().message.size(), 300U); // a hostile line must not be echoed whole
    }
}

TEST(EngineEvents, depthIsCountedOutsideTextsOnly) {
    const auto text = "{\"event\":\"check\",\"name\":\"files\",\"state\":\"passed\",\"detail\":\"" +
                      std::string(1000, '[') + "\\\"{{\"}";
    EXPECT_TRUE(parseEvent(text).has_value());
}

TEST(EngineEvents, tooLongLineIsRefusedBeforeParsing) {
    std::string line(kMaxEventBytes + 1, ' ');
    line[0] = '{';
    EXPECT_FALSE(parseEvent(line).has_value());
}

/// Every truncation, and many random changes, of every example: an answer or `malformed`, never a crash; a truncation
/// never parses.
TEST(EngineEvents, mutatedLines) {
    std::mt19937 random(99);
    for (const auto& event : examples()) {
        const auto line = serialiseEvent(event);
        for (std::size_t size = 0; size < line.size(); ++size) {
            EXPECT_FALSE(parseEvent(std::string_view(line).substr(0, size)).has_value());
        }
        for (int trial = 0; trial < 300; ++trial) {
            auto changed = line;
            for (unsigned i = 0; i <= random() % 3; ++i) {
                changed[random() % changed.size()] = static_cast<char>(random());
            }
            if (const auto parsed = parseEvent(changed)) {
                // What was understood must be writable and understood again.
                EXPECT_TRUE(parseEvent(serialiseEvent(*parsed)).has_value()) << changed;
            }
        }
    }
}

TEST(EngineEvents, unknownMembersAreIgnored) {
    EXPECT_TRUE(
        parseEvent("{\"event\":\"progress\",\"phase\":\"x\",\"done\":1,\"total\":2,\"unit\":\"s\",\"later\":[{}]}")
            .has_value());
}

} // namespace
} // namespace assay::test
