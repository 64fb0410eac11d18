// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "app/engine/verbs.h"
#include "core/crypto/self_test.h"
#include "core/numerics/site_pass.h"
#include "core/tensor/op_kernel.h"
#include "core/tensor/thread_pool.h"

namespace assay::app {

using base::Result;

Result<int> runKernels(EventOutput& output) {
    auto list = nlohmann::json::array();
    for (const auto& core : tensor::allowedCores()) {
        tensor::KernelProfile profile;
        profile.core = core;
        const auto supported = tensor::checkSupported(profile);
        nlohmann::json item;
        item["name"] = core;
        item["supported"] = supported.has_value();
        item["available"] = supported.has_value();
        item["reason"] = supported ? std::string() : supported.error().message;
        list.push_back(std::move(item));
    }
    nlohmann::json result;
    result["kernels"] = std::move(list);
    result["modifiers"] = {"reversed", "splitk", "threads=N", "noise=X"};
    output.emit(audit::DoneEvent{result.dump()});
    return 0;
}

Result<int> runSelfTest(EventOutput& output) {
    ASSAY_CHECK(crypto::selfTest());
    tensor::ThreadPool pool(2);
    ASSAY_CHECK(pool.checkEnvironment());
    nlohmann::json result;
    result["passed"] = true;
    result["isa"] = numerics::activeIsa();
    result["operators"] = tensor::kernelKinds();
    output.emit(audit::DoneEvent{result.dump()});
    return 0;
}

} // namespace assay::app
