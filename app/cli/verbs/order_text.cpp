// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/order_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.h"
#include "core/crypto/ed25519.h"

namespace assay::cli {

using base::Result;

Result<format::Order> readOrder(const base::fs::path& file) {
    ASSAY_TRY(bytes, base::readFile(file, format::kMaxOrderBytes));
    auto order = format::parseOrder(bytes);
    if (!order) {
        auto error = std::move(order).error().inFile(file.string());
        if (error.remedy.empty()) {
            error.remedy = "name an order.json as assay order new writes it; it must not be edited by hand";
        }
        return base::fail(std::move(error));
    }
    return order;
}

Result<format::Program> readProgramOf(const base::fs::path& orderFile) {
    const auto file = orderFile.parent_path() / "program.json";
    ASSAY_TRY(bytes, base::readFile(file, format::kMaxProgramBytes));
    auto program = format::parseProgram(bytes);
    if (!program) {
        return base::fail(std::move(program).error().inFile(file.string()));
    }
    return program;
}

std::string shapeText(std::span<const std::int64_t> shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string operatorCensus(const format::Program& program) {
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (const auto& op : program.operators) {
        bool found = false;
        for (auto& [kind, count] : counts) {
            if (kind == op.kind) {
                ++count;
                found = true;
            }
        }
        if (!found) {
            counts.emplace_back(op.kind, 1);
        }
    }
    std::vector<std::string> words;
    for (const auto& [kind, count] : counts) {
        words.push_back(fmt::format("{} x {}", count, kind));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

namespace {

std::string optimizerText(const format::OptimizerSpec& o) {
    std::string text = fmt::format("{}, learning rate {}", o.kind, o.learningRate);
    if (o.schedule == "cosine") {
        text += fmt::format(" falling as a cosine to {}", o.minLearningRate);
    } else {
        text += " constant";
    }
    if (o.warmup > 0) {
        text += fmt::format(" after {} steps of warm-up", o.warmup);
    }
    if (o.kind == "adamw") {
        text += fmt::format(", betas {} and {}, epsilon {}", o.beta1, o.beta2, o.epsilon);
    } else if (o.momentum > 0) {
        text += fmt::format(", {}momentum {}", o.nesterov ? "Nesterov " : "", o.momentum);
    }
    if (o.weightDecay > 0) {
        text += fmt::format(", weight decay {}", o.weightDecay);
    }
    if (o.clipNorm > 0) {
        text += fmt::format(", gradient norm at most {}", o.clipNorm);
    }
    return text;
}

std::string dataText(const format::DataSpec& data) {
    std::uint64_t bytes = 0;
    std::vector<std::string> names;
    for (const auto& file : data.files) {
        bytes += file.size;
        names.push_back(printable(file.name));
    }
    const auto what = data.reader == "text"
                          ? fmt::format("samples of {} tokens", data.context)
                          : fmt::format("images of {}, {} classes", fmt::join(data.imageShape, " x "), data.classes);
    return fmt::format("{} ({}, reader {}): {} {} for training, {} held out", fmt::join(names, ", "), byteText(bytes),
                       data.reader, grouped(data.samples), what, grouped(data.heldOut));
}

std::string commitmentText(const format::Order& order) {
    std::string text = "a leaf per step, state root ";
    text += order.stateRootEvery == 1 ? "in each" : fmt::format("every {} steps", order.stateRootEvery);
    text += order.checkpointEvery == 0
                ? ", checkpoint after the last step"
                : fmt::format(", checkpoint every {} steps and after the last", order.checkpointEvery);
    if (order.evaluateEvery > 0) {
        text += fmt::format(", {} every {} steps", order.metric, order.evaluateEvery);
    }
    return text;
}

} // namespace

std::string describeOrder(const format::Order& order, const base::Digest& digest,
                          std::optional<std::uint64_t> parameters) {
    std::vector<std::vector<std::string>> rows{
        {"title", printable(order.title)},
        {"digest", digest.toHex()},
        {"program", parameters ? fmt::format("{} ({} parameters)", order.program.shortHex(), grouped(*parameters))
                               : order.program.toHex()},
        {"initial state",
         fmt::format("{} (from {}, seed {})", order.initialState.shortHex(), printable(order.initialiser), order.seed)},
        {"data", dataText(order.data)},
        {"training", fmt::format("{} steps of {} samples", grouped(order.loop.steps), grouped(order.loop.batch))},
        {"optimizer", optimizerText(order.optimizer)},
        {"numerics", fmt::format("{} bound, blocks of {} terms", order.numerics.bound, order.numerics.block)},
        {"commitments", commitmentText(order)},
    };
    if (order.trainerKeys.empty()) {
        rows.push_back({"trainer keys", "none: whoever signs, the signature will not be checked"});
    }
    for (const auto& key : order.trainerKeys) {
        // By the key id, the name that signatures and verdicts use; the order itself holds the raw key.
        const auto publicKey = crypto::PublicKey::fromHex(key);
        rows.push_back({"trainer key", publicKey ? publicKey->keyId() : key});
    }
    return alignColumns(rows, "");
}

JsonObject orderJson(std::string_view schema, const format::Order& order, const base::Digest& digest,
                     std::optional<std::uint64_t> parameters) {
    JsonObject json(schema);
    json.add("digest", digest.toHex()).add("title", order.title).add("parameters", parameters);
    const auto& o = order.optimizer;
    JsonObject decimals;
    const auto real = [&](const char* name, float value) { decimals.raw(name, fmt::format("{}", value)); };
    real("learning_rate", o.learningRate);
    real("min_learning_rate", o.minLearningRate);
    real("momentum", o.momentum);
    real("weight_decay", o.weightDecay);
    real("beta1", o.beta1);
    real("beta2", o.beta2);
    real("epsilon", o.epsilon);
    real("clip_norm", o.clipNorm);
    json.add("decimals", decimals);
    if (auto text = format::serialiseOrder(order)) {
        text->erase(text->find_last_not_of('\n') + 1);
        json.raw("order", *text);
    }
    return json;
}

} // namespace assay::cli
