// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_orders.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "core/crypto/ed25519.h"
#include "core/engine/site_digests.h"
#include "core/format/dataset.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/models/initial_state.h"

namespace assay::test {

using base::Result;
namespace fs = base::fs;

namespace {

/// Setup that must work; a failure is a bug of the test.
template <typename T>
T must(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "test setup: %s\n", result.error().toString().c_str());
        std::abort();
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(*result);
    }
}

/// Text with some structure, so that a loss goes down: words drawn by a small fixed generator.
std::string sampleText(std::size_t size) {
    static const char* const kWords[] = {"the ",   "step ", "of a ",   "loss ", "goes ",
                                         "down, ", "and ",  "rounds ", "to ",   "even. "};
    std::string text;
    std::uint32_t state = 12345;
    while (text.size() < size) {
        state = state * 1664525u + 1013904223u;
        text += kWords[(state >> 16) % std::size(kWords)];
    }
    text.resize(size);
    return text;
}

format::DataSpec makeData(const OrderWish& wish, const fs::path& folder) {
    must(base::writeFileAtomic(folder / "text.txt", sampleText(wish.textBytes)));
    models::ModelRequest sizes;
    sizes.context = 8;
    sizes.image = {1, 8, 8};
    if (wish.model) {
        wish.model(sizes);
    }
    format::DatasetRequest request;
    request.path = folder;
    request.files = {"text.txt"};
    request.reader = wish.kind == "gpt" ? "text" : "bytes";
    request.context = wish.kind == "gpt" ? sizes.context : 0;
    request.imageShape = wish.kind == "gpt" ? std::vector<std::int64_t>{} : sizes.image;
    return must(format::Dataset::build(request));
}

} // namespace

OrderFolder makeOrder(const OrderWish& wish) {
    OrderFolder result{must(base::TemporaryFolder::create("assay-engine-test")), {}, {}};
    const auto& folder = result.folder.path();
    auto& order = result.order;
    order.data = makeData(wish, folder);
    models::ModelRequest model;
    model.kind = wish.kind;
    model.width = wish.kind == "cnn" ? 4 : 16;
    model.layers = 1;
    model.context = 8;
    model.image = {1, 8, 8};
    if (wish.model) {
        wish.model(model);
    }
    model.vocabulary = order.data.classes;
    model.classes = order.data.classes;
    result.program = must(models::buildProgram(model));
    if (wish.program) {
        wish.program(result.program);
    }
    order.title = wish.kind;
    order.loop.steps = 6;
    order.loop.batch = 4;
    order.optimizer.learningRate = 0.05f;
    order.numerics.block = 16;
    order.checkpointEvery = 2;
    order.seed = 11;
    order.metric = "accuracy";
    order.initialiser = models::kInitialiser;
    if (wish.order) {
        wish.order(order);
    }
    const auto tensors = must(models::initialState(result.program, order.seed));
    std::vector<format::TensorView> views;
    for (const auto& tensor : tensors) {
        views.push_back({tensor.name, "F32", tensor.shape, format::bytesOf(tensor.values)});
    }
    order.initialState = must(format::writeSafetensors(folder / "init.safetensors", views)).sha256;
    must(base::writeFileAtomic(folder / "program.json", must(format::serialiseProgram(result.program))));
    order.program = format::programDigest(result.program);
    must(base::writeFileAtomic(result.file(), must(format::serialiseOrder(order))));
    must(base::makeFolders(folder / "out"));
    return result;
}

OrderFolder makeStandardOrder(std::string_view kind) {
    OrderWish wish;
    wish.kind = kind;
    if (kind == "mlp") {
        wish.model = [](models::ModelRequest& model) { model.dropout = 0.2f; };
    } else if (kind == "cnn") {
        wish.order = [](format::Order& order) { order.optimizer.momentum = 0.9f; };
    } else {
        wish.model = [](models::ModelRequest& model) { model.dropout = 0.1f; };
        wish.order = [](format::Order& order) {
            order.optimizer = {};
            order.optimizer.kind = "adamw";
            order.optimizer.learningRate = 0.003f;
            order.optimizer.weightDecay = 0.01f;
            order.optimizer.beta1 = 0.9f;
            order.optimizer.beta2 = 0.999f;
            order.optimizer.epsilon = 1e-8f;
            order.optimizer.clipNorm = 1.0f;
            order.optimizer.schedule = "cosine";
            order.optimizer.warmup = 2;
            order.metric = "loss";
        };
    }
    return makeOrder(wish);
}

OrderFolder makeOrderWithEntries() {
    OrderWish wish;
    wish.textBytes = 40000; // a batch of 64 samples of 256 bytes, and some held out
    wish.model = [](models::ModelRequest& model) {
        model.width = 256;
        model.layers = 2;
        model.image = {1, 16, 16};
    };
    wish.order = [](format::Order& order) {
        order.loop.steps = 4;
        order.loop.batch = 64;
        order.numerics.block = 256;
        order.optimizer.momentum = 0.9f;
    };
    return makeOrder(wish);
}

Result<void> DigestList::completed(std::uint64_t step, const engine::Site& site, std::span<float> values) {
    m_lines.push_back(fmt::format("{} {} {} {}", step, site.index, site.name, engine::siteDigest(values).toHex()));
    return {};
}

tensor::KernelProfile profileOf(std::string_view text) {
    const auto profile = must(tensor::KernelProfile::parse(text));
    must(tensor::activate(profile));
    return profile;
}

const std::string& testKey() {
    static const std::string pem = [] {
        const base::ByteVector seed(32, 7);
        return must(must(crypto::PrivateKey::fromSeed(seed)).toPem());
    }();
    return pem;
}

Result<engine::TrainResult> trainTo(const OrderFolder& order, const fs::path& out, const TrainOptions& options) {
    engine::TrainRequest request;
    request.orderFile = order.file();
    request.out = out;
    request.keyPem = testKey();
    request.profile = profileOf(options.profile);
    request.profileText = request.profile.toString();
    request.resume = options.resume;
    request.siteDigests = options.siteDigests;
    request.engineVersion = "test";
    engine::RunControl control;
    engine::TrainEvents events;
    events.step = [&](const engine::StepReport& report) {
        if (options.stopAfter != 0 && report.outcome->leaf.step == options.stopAfter) {
            control.requestStop();
        }
    };
    return engine::train(request, events, control);
}

Replayed replayOf(const OrderFolder& order, const fs::path& path, const ReplayOptions& options) {
    const auto profile = profileOf(options.profile);
    const auto submission = must(format::Submission::open(path));
    const auto data = must(format::Dataset::open(order.order.data, order.data()));
    auto session = must(engine::Session::create(options.order != nullptr ? *options.order : order.order,
                                                submission.program(), profile));
    DigestList digests;
    engine::ReplayRequest request;
    request.spans = options.spans.empty() ? std::vector<engine::StepSpan>{{1, submission.steps()}} : options.spans;
    request.ignoreLog = options.ignoreLog;
    request.verifiedThrough = options.verifiedThrough;
    request.hooks = {&digests};
    Replayed replayed;
    engine::ReplayEvents events;
    events.step = [&](const engine::ReplayStep& step) { replayed.steps.push_back(step.step); };
    engine::RunControl control;
    replayed.result = must(engine::replay(session, data, submission, request, events, control));
    replayed.digests = digests.lines();
    return replayed;
}

engine::Divergence firstFailure(const engine::ReplayResult& result) {
    const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                    [](const auto& finding) { return finding.failure; });
    return found == result.findings.end() ? engine::Divergence{} : found->where;
}

std::vector<std::pair<std::string, std::string>> contentOf(const fs::path& folder) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            const auto bytes = must(base::readFile(entry.path(), ~std::uint64_t{0}));
            files.emplace_back(fs::relative(entry.path(), folder).string(), std::string(base::asText(bytes)));
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace assay::test
