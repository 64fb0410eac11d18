// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/engine/event_output.h"
#include "app/engine/request.h"
#include "core/engine/run_control.h"
#include "core/tensor/kernel_profile.h"

namespace assay::app {

inline constexpr const char* kEngineVersion = "assay-engine 0.1.0";

/// What every verb gets. `kernel` is activated.
struct Job {
    const Request& request;
    EventOutput& output;
    engine::RunControl& control;
    const tensor::KernelProfile& profile;
    const tensor::KernelInfo& kernel;
};

// Each verb writes its events and returns the exit code. An Error becomes an error event with its own exit code.
[[nodiscard]] base::Result<int> runTrain(const Job& job);
[[nodiscard]] base::Result<int> runVerify(const Job& job);
[[nodiscard]] base::Result<int> runTamper(const Job& job);
[[nodiscard]] base::Result<int> runEval(const Job& job);
/// No kernel profile is needed for these three.
[[nodiscard]] base::Result<int> runKernels(EventOutput& output);
[[nodiscard]] base::Result<int> runSites(const Request& request, EventOutput& output);
[[nodiscard]] base::Result<int> runSelfTest(EventOutput& output);

/// A private key file's text; empty for an empty path. The key itself is checked.
[[nodiscard]] base::Result<std::string> readKeyPem(const std::string& path);

} // namespace assay::app
