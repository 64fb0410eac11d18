// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/format/order.h"

namespace assay::cli {

/// What `order new` is asked for. Zero and empty mean "the default for this program".
struct NewOrder {
    std::string program = "gpt";
    std::vector<std::string> data; ///< "idx:DIR", "cifar10:DIR", "text:FILE" and further files
    std::uint64_t samples = 0;
    std::optional<std::uint64_t> heldOut;
    std::uint64_t steps = 20;
    std::uint64_t batch = 8;
    std::uint64_t width = 0, layers = 0, heads = 0, feedForward = 0, context = 0;
    std::string optimizer; ///< default: adamw for gpt, sgd otherwise
    std::optional<float> learningRate, momentum, weightDecay, beta1, beta2, epsilon, clip, minLearningRate, dropout;
    bool nesterov = false;
    std::string schedule = "constant";
    std::uint64_t warmup = 0;
    std::uint64_t seed = 1;
    std::string bound = "proven";
    std::uint64_t block = 128; ///< half the log of 256 for a few per cent more time
    std::optional<std::uint64_t> checkpointEvery;
    std::uint64_t stateRootEvery = 1;
    std::uint64_t evaluateEvery = 0;
    std::vector<std::string> trainerKeys; ///< key files
    std::string title;
    std::string out;
};

struct WrittenOrder {
    format::Order order;
    base::Digest digest;
    base::fs::path folder;
    std::uint64_t parameters = 0;
    std::optional<base::fs::path> newKey; ///< the key pair that was made
    std::vector<std::string> notes;       ///< sentences for the person
};

/// Writes order.json and all that it refers to into `request.out`, which must be new or empty. On failure nothing is
/// left behind.
[[nodiscard]] base::Result<WrittenOrder> writeOrder(const NewOrder& request);

} // namespace assay::cli
