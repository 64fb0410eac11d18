// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/cli/input.h"
#include "app/cli/json_text.h"
#include "app/cli/verbs/order_check.h"
#include "app/cli/verbs/order_new.h"
#include "app/cli/verbs/order_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/models/built_in.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<void> refuseForeign(const NewOrder& request) {
    const auto refuse = [&](bool given, const char* option, const char* owner) -> Result<void> {
        if (!given || request.program == owner) {
            return {};
        }
        return fail(ErrorCode::usage, fmt::format("{} does not go with --program {}", option, request.program),
                    fmt::format("leave {} out, or use --program {}", option, owner));
    };
    ASSAY_CHECK(refuse(request.heads != 0, "--heads", "gpt"));
    ASSAY_CHECK(refuse(request.context != 0, "--context", "gpt"));
    return refuse(request.feedForward != 0, "--feed-forward", "gpt");
}

Result<int> runNew(Session& session, const NewOrder& request) {
    ASSAY_CHECK(refuseForeign(request));
    ASSAY_TRY(written, writeOrder(request));
    for (const auto& note : written.notes) {
        session.console.note(note);
    }
    if (written.newKey) {
        session.console.note(
            fmt::format("no --trainer-key given: made a key pair for the trainer in {} (secret, readable by you only); "
                        "its public half is in the order",
                        written.newKey->string()));
    }
    const auto file = (written.folder / "order.json").string();
    if (session.json) {
        JsonObject json("assay.order-new");
        json.add("order", file).add("digest", written.digest.toHex()).add("program", written.order.program.toHex());
        json.add("initial_state", written.order.initialState.toHex()).add("parameters", written.parameters);
        json.add("samples", written.order.data.samples).add("held_out", written.order.data.heldOut);
        json.add("steps", written.order.loop.steps).add("checkpoint_every", written.order.checkpointEvery);
        written.newKey ? json.add("new_key", written.newKey->string()) : json.raw("new_key", "null");
        session.console.printLine(json.text());
        return 0;
    }
    session.console.print(fmt::format("{}\n{}\nNext: assay train {}\n", file,
                                      describeOrder(written.order, written.digest, written.parameters),
                                      shellWord(file)));
    return 0;
}

struct OrderOptions {
    std::string order;
    std::string data;
};

Result<int> runShow(Session& session, const OrderOptions& options) {
    ASSAY_TRY(file, findOrder(options.order));
    ASSAY_TRY(order, readOrder(file));
    const auto digest = format::orderDigest(order);
    const auto program = readProgramOf(file);
    std::optional<std::uint64_t> parameters;
    if (program) {
        parameters = models::parameterCount(*program);
    }
    if (session.json) {
        session.console.printLine(orderJson("assay.order-show", order, digest, parameters).text());
    } else {
        session.console.print(describeOrder(order, digest, parameters));
    }
    return 0;
}

Result<int> runCheck(Session& session, const OrderOptions& options) {
    ASSAY_TRY(file, findOrder(options.order));
    ASSAY_TRY(report, checkOrderFiles(file, dataFolder(options.data, file)));
    if (session.json) {
        JsonArray checks;
        for (const auto& check : report.checks) {
            checks.raw(
                JsonObject().add("name", check.name).add("passed", check.passed).add("detail", check.detail).text());
        }
        session.console.printLine(JsonObject("assay.order-check")
                                      .add("order", file.string())
                                      .add("digest", report.digest.toHex())
                                      .add("passed", report.passed())
                                      .add("checks", checks)
                                      .text());
        return report.passed() ? 0 : 1;
    }
    const auto& console = session.console;
    session.console.printLine(report.passed() ? console.toned(Tone::good, "The order is complete and consistent.")
                                              : console.toned(Tone::bad, "The order does not fit together."));
    for (const auto& check : report.checks) {
        const auto word = check.passed ? console.toned(Tone::good, "passed") : console.toned(Tone::bad, "failed");
        session.console.print(fmt::format("  {}  {:<14} {}\n", word, check.name, printable(check.detail)));
    }
    session.console.print(fmt::format("Digest: {}\n", report.digest.toHex()));
    return report.passed() ? 0 : 1;
}

void addNew(VerbSpec& group, Session& session) {
    auto& verb = group.verb("new", "Write an order and all that it refers to, ready to train");
    verb.about("Writes DIR/order.json, program.json, init.safetensors and the data files. Without --data the order "
               "trains on the "
               "licence texts of this machine (gpt: next byte; mlp and cnn: windows of 16 x 16 bytes, next byte as "
               "class). Without "
               "--trainer-key a key pair is made in DIR/trainer.pem.");
    auto o = std::make_shared<NewOrder>();
    verb.path("--out", "DIR", "new or empty folder for the order", o->out).needed();
    verb.choice("--program", "KIND", "model", o->program, {"mlp", "cnn", "gpt"}).byDefault("gpt");
    auto& data =
        verb.list("--data", "SOURCE", "idx:DIR (MNIST files), cifar10:DIR, or text:FILE and further files", o->data);
    data.byDefault("licence texts");
    data.isPath = true;
    verb.integer("--samples", "N", "training samples", o->samples, 1).byDefault("all but the held-out ones");
    verb.integer("--held-out", "N", "samples for the metric", o->heldOut)
        .byDefault("the data's own test set, or a tenth");
    verb.integer("--steps", "N", "training steps", o->steps, 1, 1ULL << 32).byDefault("20");
    verb.integer("--batch", "N", "samples per step", o->batch, 1, 1ULL << 32).byDefault("8");
    verb.integer("--width", "N", "channels or hidden width", o->width, 1, 1 << 16)
        .byDefault("gpt 128, mlp 256, cnn 64");
    verb.integer("--layers", "N", "transformer blocks, hidden layers or residual blocks", o->layers, 1, 512)
        .byDefault("gpt 2, mlp 2, cnn 1");
    verb.integer("--context", "N", "gpt: tokens per sample", o->context, 1, 1 << 16).byDefault("64");
    verb.integer("--heads", "N", "gpt: attention heads, a divisor of the width", o->heads, 1, 1 << 16)
        .byDefault("one per 64 channels");
    verb.integer("--feed-forward", "N", "gpt: width inside a block", o->feedForward, 1, 1 << 18)
        .byDefault("4 times the width");
    verb.real("--dropout", "P", "probability, at least 0 and less than 1", o->dropout, 0.0f).byDefault("0");
    verb.choice("--optimizer", "KIND", "update rule", o->optimizer, {"sgd", "adamw"})
        .byDefault("gpt adamw, otherwise sgd");
    verb.real("--lr", "X", "learning rate", o->learningRate, 0.0f).byDefault("adamw 0.001, sgd 0.05");
    verb.choice("--schedule", "KIND", "of the learning rate", o->schedule, {"constant", "cosine"})
        .byDefault("constant");
    verb.integer("--warmup", "N", "steps of linear warm-up", o->warmup).byDefault("0");
    verb.real("--min-lr", "X", "cosine: learning rate at the end", o->minLearningRate, 0.0f).byDefault("0");
    verb.real("--momentum", "X", "sgd", o->momentum, 0.0f).byDefault("0.9");
    verb.flag("--nesterov", "sgd: Nesterov momentum", o->nesterov);
    verb.real("--beta1", "X", "adamw", o->beta1, 0.0f).byDefault("0.9");
    verb.real("--beta2", "X", "adamw", o->beta2, 0.0f).byDefault("0.999");
    verb.real("--epsilon", "X", "adamw", o->epsilon, 0.0f).byDefault("1e-8");
    verb.real("--weight-decay", "X", "decay of the weights", o->weightDecay, 0.0f).byDefault("adamw 0.01, sgd 0");
    verb.real("--clip", "X", "largest gradient norm", o->clip, 0.0f).byDefault("no clipping");
    verb.integer("--seed", "N", "of initial state, sample order and dropout", o->seed).byDefault("1");
    verb.choice("--bound", "KIND", "which error bound decides what the log must hold", o->bound,
                {"proven", "empirical"})
        .byDefault("proven");
    verb.integer("--block", "N", "terms per block of a product", o->block, 1, 65536).byDefault("128");
    verb.integer("--checkpoint-every", "N", "steps between checkpoints, 0 for the last step only", o->checkpointEvery,
                 0, 1ULL << 32)
        .byDefault("a fifth of the steps");
    verb.integer("--state-root-every", "N", "steps between commitments to the whole state", o->stateRootEvery, 1,
                 1ULL << 32)
        .byDefault("1");
    verb.integer("--evaluate-every", "N", "steps between values of the metric, 0 for none", o->evaluateEvery, 0,
                 1ULL << 32)
        .byDefault("0");
    verb.list("--trainer-key", "PEM", "key whose signature counts, public or private", o->trainerKeys)
        .byDefault("a new pair");
    verb.text("--title", "TEXT", "name for people", o->title).byDefault("describes the model");
    addJsonOption(verb, session);
    verb.action([o](Session& s) { return runNew(s, *o); });
    verb.example("assay order new --program gpt --data text:book.txt --steps 200 --batch 16 --out job",
                 "a GPT on one's own text");
    verb.example("assay order new --program cnn --data idx:mnist --steps 100 --batch 32 --out job", "a CNN on MNIST");
}

} // namespace

void addOrder(VerbSpec& root, Session& session) {
    auto& group = root.verb("order", "Write, validate and describe orders");
    addNew(group, session);
    {
        auto& verb = group.verb("check", "Validate an order and the files that it refers to");
        verb.about("Checks order, program, initial state (its digest, its tensors, and that the seed gives it) and "
                   "data. Exit code 1 if "
                   "something does not match, 3 if a file is missing or malformed.");
        auto options = std::make_shared<OrderOptions>();
        verb.argument("ORDER", "order.json, or its folder", options->order);
        verb.path("--data", "DIR", "folder with the data files", options->data).byDefault("the order's folder");
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runCheck(s, *options); });
    }
    {
        auto& verb = group.verb("show", "Describe an order in words, and print its digest");
        auto options = std::make_shared<OrderOptions>();
        verb.argument("ORDER", "order.json, or its folder", options->order);
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runShow(s, *options); });
    }
}

} // namespace assay::cli
