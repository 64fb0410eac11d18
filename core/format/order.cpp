// SPDX-License-Identifier: Apache-2.0
#include "core/format/order.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/crypto/sha256.h"
#include "core/format/detail/names.h"
#include "core/format/detail/object_reader.h"
#include "core/format/json.h"
#include "cuda/arith/philox.h"

namespace assay::format {

using base::ErrorCode;
using base::fail;
using base::Result;
using detail::ObjectReader;

namespace {

constexpr std::string_view kFormat = "assay/order/1";

JsonValue number(std::uint64_t value) {
    return JsonValue(static_cast<std::int64_t>(value));
}

JsonValue toJson(const DataSpec& data) {
    JsonValue::Array files;
    for (const auto& file : data.files) {
        files.emplace_back(
            JsonValue::Object{{"name", file.name}, {"sha256", file.sha256.toHex()}, {"size", number(file.size)}});
    }
    JsonValue::Array shape(data.imageShape.begin(), data.imageShape.end());
    return JsonValue::Object{{"classes", number(data.classes)},
                             {"context", number(data.context)},
                             {"files", std::move(files)},
                             {"held_out", number(data.heldOut)},
                             {"image_shape", std::move(shape)},
                             {"reader", data.reader},
                             {"sample_root", data.sampleRoot.toHex()},
                             {"samples", number(data.samples)},
                             {"task", data.task},
                             {"transform", data.transform}};
}

JsonValue toJson(const OptimizerSpec& optimizer) {
    using detail::realToHex;
    return JsonValue::Object{{"beta1_f32", realToHex(optimizer.beta1)},
                             {"beta2_f32", realToHex(optimizer.beta2)},
                             {"clip_norm_f32", realToHex(optimizer.clipNorm)},
                             {"epsilon_f32", realToHex(optimizer.epsilon)},
                             {"kind", optimizer.kind},
                             {"learning_rate_f32", realToHex(optimizer.learningRate)},
                             {"min_learning_rate_f32", realToHex(optimizer.minLearningRate)},
                             {"momentum_f32", realToHex(optimizer.momentum)},
                             {"nesterov", optimizer.nesterov},
                             {"schedule", optimizer.schedule},
                             {"warmup", number(optimizer.warmup)},
                             {"weight_decay_f32", realToHex(optimizer.weightDecay)}};
}

JsonValue toJson(const Order& order) {
    JsonValue::Array keys(order.trainerKeys.begin(), order.trainerKeys.end());
    return JsonValue::Object{{"bound_exceeded_budget", number(order.boundExceededBudget)},
                             {"checkpoint_every", number(order.checkpointEvery)},
                             {"data", toJson(order.data)},
                             {"evaluate_every", number(order.evaluateEvery)},
                             {"format", std::string(kFormat)},
                             {"initial_state", order.initialState.toHex()},
                             {"initialiser", order.initialiser},
                             {"kind", order.kind},
                             {"loop", JsonValue::Object{{"batch", number(order.loop.batch)},
                                                        {"sample_order", order.loop.sampleOrder},
                                                        {"steps", number(order.loop.steps)}}},
                             {"metric", order.metric},
                             {"numerics", JsonValue::Object{{"block", number(order.numerics.block)},
                                                            {"bound", order.numerics.bound},
                                                            {"mode", order.numerics.mode}}},
                             {"optimizer", toJson(order.optimizer)},
                             {"program", order.program.toHex()},
                             {"seed", number(order.seed)},
                             {"semantics", number(order.semantics)},
                             {"state_root_every", number(order.stateRootEvery)},
                             {"title", order.title},
                             {"trainer_keys", std::move(keys)}};
}

Result<void> readData(const JsonValue& value, DataSpec& data) {
    ObjectReader reader(value, "data");
    reader.count("classes", data.classes);
    reader.count("context", data.context);
    std::size_t index = 0;
    for (const auto& item : reader.array("files")) {
        DataFile file;
        ObjectReader fields(item, fmt::format("data.files.{}", index++));
        fields.text("name", file.name);
        fields.digest("sha256", file.sha256);
        fields.count("size", file.size);
        reader.adopt(fields.finish());
        data.files.push_back(std::move(file));
    }
    reader.count("held_out", data.heldOut);
    reader.integers("image_shape", data.imageShape);
    reader.text("reader", data.reader);
    reader.digest("sample_root", data.sampleRoot);
    reader.count("samples", data.samples);
    reader.text("task", data.task);
    reader.text("transform", data.transform);
    return reader.finish();
}

Result<void> readLoop(const JsonValue& value, LoopSpec& loop) {
    ObjectReader reader(value, "loop");
    reader.count("batch", loop.batch);
    reader.text("sample_order", loop.sampleOrder);
    reader.count("steps", loop.steps);
    return reader.finish();
}

Result<void> readNumerics(const JsonValue& value, NumericsSpec& numerics) {
    ObjectReader reader(value, "numerics");
    reader.count("block", numerics.block);
    reader.text("bound", numerics.bound);
    reader.text("mode", numerics.mode);
    return reader.finish();
}

Result<void> readOptimizer(const JsonValue& value, OptimizerSpec& optimizer) {
    ObjectReader reader(value, "optimizer");
    reader.real("beta1", optimizer.beta1);
    reader.real("beta2", optimizer.beta2);
    reader.real("clip_norm", optimizer.clipNorm);
    reader.real("epsilon", optimizer.epsilon);
    reader.text("kind", optimizer.kind);
    reader.real("learning_rate", optimizer.learningRate);
    reader.real("min_learning_rate", optimizer.minLearningRate);
    reader.real("momentum", optimizer.momentum);
    reader.boolean("nesterov", optimizer.nesterov);
    reader.text("schedule", optimizer.schedule);
    reader.count("warmup", optimizer.warmup);
    reader.real("weight_decay", optimizer.weightDecay);
    return reader.finish();
}

/// Collects the first broken rule; every check names its field.
class Rules {
public:
    void require(bool holds, std::string_view field, std::string_view expected, std::string remedy = {}) {
        if (!holds && m_result) {
            m_result = fail(ErrorCode::malformed, fmt::format("{}: expected {}", field, expected), std::move(remedy));
        }
    }
    void range(std::string_view field, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
        if (value < low || value > high) {
            require(false, field, fmt::format("{} to {}, found {}", low, high, value));
        }
    }
    void real(std::string_view field, float value, double low, double high) {
        const bool negativeZero = value == 0.0f && std::signbit(value);
        if (!std::isfinite(value) || negativeZero || value < low || value > high) {
            require(false, field, fmt::format("a finite value of {} to {}, found {}", low, high, value));
        }
    }
    void oneOf(std::string_view field, const std::string& value, std::initializer_list<std::string_view> allowed) {
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
            require(false, field, fmt::format("one of {}, found \"{}\"", fmt::join(allowed, ", "), value));
        }
    }
    void line(std::string_view field, const std::string& value, std::size_t limit) {
        require(value.size() <= limit && isUtf8(value), field, fmt::format("UTF-8 text of at most {} bytes", limit));
    }
    [[nodiscard]] Result<void> take() { return std::move(m_result); }

private:
    Result<void> m_result;
};

constexpr double kLargest = 3.0e38;
constexpr std::uint64_t kMaxSamples = 1ULL << 40;
constexpr std::uint64_t kMaxBatch = 1ULL << 24;

void checkData(const DataSpec& data, Rules& rules) {
    rules.oneOf("data.reader", data.reader, {"idx", "cifar10", "text", "bytes"});
    const bool text = data.reader == "text";
    rules.range("data.samples", data.samples, 1, kMaxSamples);
    rules.range("data.held_out", data.heldOut, 0, kMaxSamples);
    rules.range("data.files (count)", data.files.size(), 1, 64);
    if (data.reader == "idx") {
        rules.require(data.files.size() % 2 == 0, "data.files", "pairs of an image file and a label file");
    } else if (data.reader != "cifar10") {
        rules.require(data.files.size() == 1, "data.files", "exactly one file");
    }
    for (std::size_t i = 0; i < data.files.size(); ++i) {
        const auto& name = data.files[i].name;
        const auto field = fmt::format("data.files.{}.name", i);
        rules.require(detail::isPlainName(name), field, "a plain file name without folders");
        rules.range(fmt::format("data.files.{}.size", i), data.files[i].size, 1, 1ULL << 48);
        for (std::size_t k = 0; k < i; ++k) {
            rules.require(data.files[k].name != name, field, "a name that occurs once");
        }
    }
    rules.require(data.task == (text ? "next-token" : "classification"), "data.task",
                  text ? "next-token" : "classification");
    rules.require(data.transform == (text ? "none/1" : "unit/1"), "data.transform", text ? "none/1" : "unit/1");
    if (text) {
        rules.range("data.context", data.context, 1, 1 << 20);
        rules.require(data.imageShape.empty(), "data.image_shape", "no dimensions for text");
    } else {
        rules.require(data.context == 0, "data.context", "0 for images");
        rules.require(data.imageShape.size() == 3, "data.image_shape", "channels, height and width");
        for (const auto size : data.imageShape) {
            rules.require(size >= 1 && size <= 4096, "data.image_shape", "dimensions of 1 to 4096");
        }
    }
    rules.range("data.classes", data.classes, 1, 1 << 20);
    if (text || data.reader == "bytes") {
        rules.require(data.classes == 256, "data.classes", "256 for bytes");
    }
    if (data.reader == "bytes" && data.imageShape.size() == 3) {
        rules.require(data.imageShape[0] == 1, "data.image_shape", "one channel for bytes");
    }
    if (data.reader == "cifar10") {
        rules.require(data.imageShape == std::vector<std::int64_t>{3, 32, 32}, "data.image_shape",
                      "3, 32, 32 for CIFAR-10");
        rules.require(data.classes == 10, "data.classes", "10 for CIFAR-10");
    }
}

void checkOptimizer(const OptimizerSpec& optimizer, std::uint64_t steps, Rules& rules) {
    rules.oneOf("optimizer.kind", optimizer.kind, {"sgd", "adamw"});
    rules.oneOf("optimizer.schedule", optimizer.schedule, {"constant", "cosine"});
    rules.real("optimizer.learning_rate", optimizer.learningRate, 0, kLargest);
    rules.real("optimizer.min_learning_rate", optimizer.minLearningRate, 0, kLargest);
    rules.require(!(optimizer.minLearningRate > optimizer.learningRate), "optimizer.min_learning_rate",
                  "at most optimizer.learning_rate");
    rules.real("optimizer.weight_decay", optimizer.weightDecay, 0, kLargest);
    rules.real("optimizer.clip_norm", optimizer.clipNorm, 0, kLargest);
    rules.real("optimizer.momentum", optimizer.momentum, 0, 1);
    rules.real("optimizer.beta1", optimizer.beta1, 0, 1);
    rules.real("optimizer.beta2", optimizer.beta2, 0, 1);
    rules.real("optimizer.epsilon", optimizer.epsilon, 0, kLargest);
    if (optimizer.kind == "adamw") {
        rules.require(optimizer.beta1 < 1.0f && optimizer.beta2 < 1.0f, "optimizer.beta1, optimizer.beta2",
                      "values below 1");
        rules.require(optimizer.epsilon > 0.0f, "optimizer.epsilon", "a value above 0 for adamw");
        rules.require(!optimizer.nesterov, "optimizer.nesterov", "false for adamw");
    }
    rules.require(!optimizer.nesterov || optimizer.momentum > 0.0f, "optimizer.nesterov", "a momentum above 0");
    rules.range("optimizer.warmup", optimizer.warmup, 0, steps);
}

} // namespace

Result<void> validateOrder(const Order& order) {
    Rules rules;
    rules.require(order.semantics >= 1 && order.semantics <= kSemantics, "semantics",
                  fmt::format("1 to {}, found {}", kSemantics, order.semantics), "a newer release of Assay");
    rules.oneOf("kind", order.kind, {"training"});
    rules.line("title", order.title, 1024);
    rules.line("initialiser", order.initialiser, 256);
    rules.range("loop.steps", order.loop.steps, 1, 1ULL << 32);
    rules.oneOf("loop.sample_order", order.loop.sampleOrder, {"keyed-permutation/1"});
    checkData(order.data, rules);
    rules.range("loop.batch", order.loop.batch, 1, std::min(order.data.samples, kMaxBatch));
    checkOptimizer(order.optimizer, order.loop.steps, rules);
    rules.oneOf("numerics.mode", order.numerics.mode, {"interval"});
    rules.oneOf("numerics.bound", order.numerics.bound, {"proven", "empirical"});
    rules.range("numerics.block", order.numerics.block, 1, 65536);
    rules.range("state_root_every", order.stateRootEvery, 1, 1ULL << 32);
    rules.range("checkpoint_every", order.checkpointEvery, 0, 1ULL << 32);
    rules.require(order.stateRootEvery == 0 || order.checkpointEvery % order.stateRootEvery == 0, "checkpoint_every",
                  "a multiple of state_root_every");
    rules.range("evaluate_every", order.evaluateEvery, 0, 1ULL << 32);
    rules.oneOf("metric", order.metric, {"", "accuracy", "loss"});
    rules.require(order.evaluateEvery == 0 || (order.data.heldOut > 0 && !order.metric.empty()), "evaluate_every",
                  "0 where there is no metric or no held-out sample");
    rules.range("seed", order.seed, 0, static_cast<std::uint64_t>(kMaxJsonInteger));
    rules.range("bound_exceeded_budget", order.boundExceededBudget, 0, 1 << 20);
    rules.range("trainer_keys (count)", order.trainerKeys.size(), 0, 64);
    for (std::size_t i = 0; i < order.trainerKeys.size(); ++i) {
        rules.require(detail::isLowerHex(order.trainerKeys[i], 64), "trainer_keys",
                      "raw Ed25519 keys of 64 lower-case hex digits");
        rules.require(i == 0 || order.trainerKeys[i - 1] < order.trainerKeys[i], "trainer_keys",
                      "sorted keys, each once");
    }
    return rules.take();
}

Result<std::string> serialiseOrder(const Order& order) {
    ASSAY_CHECK(validateOrder(order));
    return writeJson(toJson(order)) + '\n';
}

Result<Order> parseOrder(base::ByteView bytes) {
    ASSAY_TRY(value, readJson(bytes, kMaxOrderBytes));
    Order order;
    ObjectReader reader(value, "");
    std::string format;
    reader.text("format", format);
    if (!reader.failed() && format != kFormat) {
        return base::failAt(fmt::format("format: expected {}, found \"{}\"", kFormat, format), value.offset());
    }
    reader.count("semantics", order.semantics);
    if (!reader.failed() && order.semantics != kSemantics) {
        return fail(ErrorCode::malformed,
                    fmt::format("semantics: this release knows 1 to {}, found {}", kSemantics, order.semantics),
                    "a newer release of Assay");
    }
    reader.count("bound_exceeded_budget", order.boundExceededBudget);
    reader.count("checkpoint_every", order.checkpointEvery);
    const auto nested = [&](std::string_view key, auto&& read, auto& out) {
        if (const auto* item = reader.value(key)) {
            reader.adopt(read(*item, out));
        }
    };
    nested("data", readData, order.data);
    reader.count("evaluate_every", order.evaluateEvery);
    reader.digest("initial_state", order.initialState);
    reader.text("initialiser", order.initialiser);
    reader.text("kind", order.kind);
    nested("loop", readLoop, order.loop);
    reader.text("metric", order.metric);
    nested("numerics", readNumerics, order.numerics);
    nested("optimizer", readOptimizer, order.optimizer);
    reader.digest("program", order.program);
    reader.count("seed", order.seed);
    reader.count("state_root_every", order.stateRootEvery);
    reader.text("title", order.title);
    reader.texts("trainer_keys", order.trainerKeys);
    ASSAY_CHECK(reader.finish());
    ASSAY_CHECK(validateOrder(order));
    return order;
}

base::Digest orderDigest(const Order& order) {
    return crypto::sha256(base::asBytes(writeJson(toJson(order)) + '\n'));
}

namespace {

std::string shownValue(std::string_view key, const JsonValue& value) {
    if (const auto* text = value.text()) {
        if (key.ends_with("_f32")) {
            if (const auto real = detail::realFromHex(*text)) {
                return fmt::format("{} ({})", *real, *text);
            }
        }
        return *text;
    }
    return writeJson(value);
}

void compare(const std::string& path, const JsonValue& a, const JsonValue& b, std::vector<FieldDifference>& out) {
    if (a == b) {
        return;
    }
    const auto under = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (a.object() != nullptr && b.object() != nullptr) {
        // Orders all have the same fields, so the keys agree.
        for (const auto& [key, item] : *a.object()) {
            if (const auto other = b.object()->find(key); other != b.object()->end()) {
                compare(under(key), item, other->second, out);
            }
        }
        return;
    }
    if (a.array() != nullptr && b.array() != nullptr && a.array()->size() == b.array()->size()) {
        for (std::size_t i = 0; i < a.array()->size(); ++i) {
            compare(under(std::to_string(i)), (*a.array())[i], (*b.array())[i], out);
        }
        return;
    }
    auto field = path;
    if (field.ends_with("_f32")) {
        field.resize(field.size() - 4);
    }
    out.push_back({std::move(field), shownValue(path, a), shownValue(path, b)});
}

} // namespace

std::vector<FieldDifference> describeDifferences(const Order& a, const Order& b) {
    std::vector<FieldDifference> out;
    compare("", toJson(a), toJson(b), out);
    return out;
}

std::vector<std::uint64_t> batchIndices(const Order& order, std::uint64_t step) {
    const auto perEpoch = order.data.samples / order.loop.batch;
    const auto epoch = (step - 1) / perEpoch;
    const auto first = (step - 1) % perEpoch * order.loop.batch;
    std::vector<std::uint64_t> indices(order.loop.batch);
    for (std::uint64_t i = 0; i < order.loop.batch; ++i) {
        indices[i] = arith::permuteIndex(order.seed, epoch, order.data.samples, first + i);
    }
    return indices;
}

bool checkpointDue(const Order& order, std::uint64_t step) {
    return step > 0 && (step == order.loop.steps || (order.checkpointEvery > 0 && step % order.checkpointEvery == 0));
}

bool stateRootDue(const Order& order, std::uint64_t step) {
    return step % order.stateRootEvery == 0 || checkpointDue(order, step);
}

bool evaluationDue(const Order& order, std::uint64_t step) {
    return step > 0 && order.evaluateEvery > 0 && (step % order.evaluateEvery == 0 || step == order.loop.steps);
}

} // namespace assay::format
