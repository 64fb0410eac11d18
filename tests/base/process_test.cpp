// SPDX-License-Identifier: Apache-2.0
#include "core/base/process.h"

#include <thread>

#include <gtest/gtest.h>

namespace assay::base {
namespace {

TEST(Process, DeliversLinesAndExitCode) {
    std::vector<std::string> lines;
    ProcessRequest request;
    request.arguments = {"/bin/sh", "-c", "read x; echo \"got $x\"; printf 'no newline'; exit 7"};
    request.input = "hello\n";
    request.onOutputLine = [&](std::string_view line) { lines.emplace_back(line); };
    const auto end = runProcess(request).value();
    EXPECT_EQ(end.exitCode, 7);
    EXPECT_EQ(end.signal, 0);
    EXPECT_EQ(lines, (std::vector<std::string>{"got hello", "no newline"}));
}

TEST(Process, ReportsSignalsAndMissingExecutables) {
    ProcessRequest request;
    request.arguments = {"/bin/sh", "-c", "kill -9 $$"};
    EXPECT_EQ(runProcess(request).value().signal, 9);
    request.arguments = {"/no/such/program"};
    EXPECT_EQ(runProcess(request).error().code, ErrorCode::environment);
}

TEST(Process, StopSendsCancelOnce) {
    std::stop_source source;
    ProcessRequest request;
    request.arguments = {"/bin/sh", "-c", "echo ready; read x; echo \"$x\"; exit 3"};
    std::vector<std::string> lines;
    request.onOutputLine = [&](std::string_view line) {
        lines.emplace_back(line);
        source.request_stop();
    };
    const auto end = runProcess(request, source.get_token()).value();
    EXPECT_EQ(end.exitCode, 3);
    EXPECT_EQ(lines.back(), "cancel");
}

TEST(Process, ChildThatIgnoresItsInputIsNoError) {
    ProcessRequest request;
    request.arguments = {"/bin/true"};
    request.input = std::string(1 << 20, 'x');
    EXPECT_EQ(runProcess(request).value().exitCode, 0);
}

} // namespace
} // namespace assay::base
