// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"

/// Orders, programs, submissions and data sets. Every byte on disk is specified in FORMAT.md beside this file.
namespace assay::format {

/// One file of a data set. Orders hold digests, never paths: `name` is a plain file name inside the data folder.
struct DataFile {
    std::string name;
    std::uint64_t size = 0; ///< bytes
    base::Digest sha256;
    bool operator==(const DataFile&) const = default;
};

/// Which samples, in which order, read how. Sample indices 0 .. samples-1 are for training, samples ..
/// samples+heldOut-1 are held out: the *last* `heldOut` samples of the files.
struct DataSpec {
    std::string reader; ///< "idx", "cifar10", "text" or "bytes"
    std::vector<DataFile> files;
    std::uint64_t samples = 0; ///< training samples, at least 1
    std::uint64_t heldOut = 0;
    std::uint64_t context = 0;            ///< text: tokens per sample; 0 for the other readers
    std::vector<std::int64_t> imageShape; ///< idx, cifar10, bytes: channels, height, width; empty for text
    std::uint64_t classes = 0;            ///< labels are 0 .. classes-1; text: size of the vocabulary (256)
    std::string task;                     ///< "classification" or "next-token"
    base::Digest sampleRoot;              ///< RFC 9162 root over the digests of all samples + heldOut samples
    std::string transform;                ///< "unit/1" (pixel p -> RN(p / 255)) or "none/1" (tokens)
    bool operator==(const DataSpec&) const = default;
};

struct LoopSpec {
    std::uint64_t steps = 0; ///< at least 1
    std::uint64_t batch = 0; ///< 1 .. samples, at most 2^24
    std::string sampleOrder = "keyed-permutation/1";
    bool operator==(const LoopSpec&) const = default;
};

struct OptimizerSpec {
    std::string kind = "sgd"; ///< "sgd" or "adamw"
    float learningRate = 0;   ///< peak, after warm-up
    float momentum = 0;       ///< sgd
    float weightDecay = 0;
    float beta1 = 0;    ///< adamw
    float beta2 = 0;    ///< adamw
    float epsilon = 0;  ///< adamw
    float clipNorm = 0; ///< largest gradient norm, 0 = no clipping
    bool nesterov = false;
    std::string schedule = "constant"; ///< "constant" or "cosine"
    std::uint64_t warmup = 0;          ///< steps of linear warm-up
    float minLearningRate = 0;         ///< cosine: value at the last step
    bool operator==(const OptimizerSpec&) const = default;
};

struct NumericsSpec {
    std::string mode = "interval";
    std::string bound = "proven"; ///< "proven" or "empirical"
    std::uint64_t block = 256;    ///< terms per product block, 1 .. 65536
    bool operator==(const NumericsSpec&) const = default;
};

/// What the client asked for. The verifier takes every value from the order that the client holds. Value type.
struct Order {
    using DataFile = format::DataFile;
    using DataSpec = format::DataSpec;
    using LoopSpec = format::LoopSpec;
    using OptimizerSpec = format::OptimizerSpec;
    using NumericsSpec = format::NumericsSpec;

    std::uint64_t semantics = 1; ///< version of operators, reduction trees, bounds and functions
    std::string kind = "training";
    std::string title;
    base::Digest program;      ///< SHA-256 of the program.json file
    base::Digest initialState; ///< SHA-256 of the init.safetensors file
    std::string initialiser;   ///< how that file was made, e.g. "philox-normal/1"
    DataSpec data;
    LoopSpec loop;
    OptimizerSpec optimizer;
    NumericsSpec numerics;
    std::uint64_t stateRootEvery = 1;  ///< steps; the last step always has a state root
    std::uint64_t checkpointEvery = 0; ///< steps, a multiple of stateRootEvery; the last step always has a checkpoint
    std::uint64_t evaluateEvery = 0;   ///< steps; 0 = no evaluation values in the leaves
    std::uint64_t seed = 0;            ///< below 2^53
    std::uint64_t boundExceededBudget = 0; ///< disputes that may end "bound exceeded"
    std::string metric;                    ///< "accuracy", "loss" or empty
    std::vector<std::string> trainerKeys;  ///< raw Ed25519 public keys, 64 lower-case hex digits each; sorted, unique
    bool operator==(const Order&) const = default;
};

/// The newest `semantics` that this release executes.
inline constexpr std::uint64_t kSemantics = 1;
inline constexpr std::uint64_t kMaxOrderBytes = 1ULL << 20;

/// Checks every value and every rule between values (`malformed`, naming the field as a path such as "loop.batch").
[[nodiscard]] base::Result<void> validateOrder(const Order& order);
/// Canonical bytes of order.json. `malformed` if validateOrder fails.
[[nodiscard]] base::Result<std::string> serialiseOrder(const Order& order);
/// Strict inverse: accepts exactly what serialiseOrder makes; offset of the first bad byte otherwise.
[[nodiscard]] base::Result<Order> parseOrder(base::ByteView bytes);
/// SHA-256 of the canonical bytes. Precondition: the order is valid (parsed, or serialised without error).
[[nodiscard]] base::Digest orderDigest(const Order& order);

struct FieldDifference {
    std::string field; ///< path, e.g. "optimizer.learning_rate"
    std::string a;     ///< as text; FP32 values as decimal with their bits in parentheses
    std::string b;
};
/// Every field in which two orders differ, in file order; empty if they are equal.
[[nodiscard]] std::vector<FieldDifference> describeDifferences(const Order& a, const Order& b);

/// Sample indices of step `step` (1-based), in batch order: position p of epoch e is permuteIndex(seed, e, samples, p);
/// each epoch has samples / batch steps, its last partial batch is dropped. Preconditions: valid order, step >= 1.
[[nodiscard]] std::vector<std::uint64_t> batchIndices(const Order& order, std::uint64_t step);

/// Whether the leaf of `step` carries a state root, whether a checkpoint file is due, whether an evaluation value is
/// due. Step 0 has a state root and no checkpoint (init.safetensors is its file).
[[nodiscard]] bool stateRootDue(const Order& order, std::uint64_t step);
[[nodiscard]] bool checkpointDue(const Order& order, std::uint64_t step);
[[nodiscard]] bool evaluationDue(const Order& order, std::uint64_t step);

} // namespace assay::format
