// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/order_new.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/cli/console.h"
#include "core/crypto/ed25519.h"
#include "core/crypto/self_test.h"
#include "core/format/dataset.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/models/built_in.h"
#include "core/models/initial_state.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

const fs::path kLicenceFolder = "/usr/share/common-licenses";
constexpr std::uint64_t kMaxTextFile = 1ULL << 32;
constexpr std::uint64_t kCopyLimit = 256ULL << 20; ///< larger data files are linked instead of copied
constexpr std::string_view kOwnNames[] = {"order.json", "program.json", "init.safetensors", "trainer.pem"};

/// A folder that collects the files of a new order; they appear in the target together, order.json last.
class Staging {
public:
    static Result<Staging> open(const fs::path& target) {
        Staging staging;
        staging.m_target = target;
        staging.m_folder = target / ".assay-new";
        std::error_code code;
        staging.m_madeTarget = !fs::exists(target, code);
        ASSAY_CHECK(base::makeFolders(target));
        fs::remove_all(staging.m_folder, code); // of an earlier attempt that was killed
        if (!fs::is_empty(target, code) || code) {
            return fail(Error{ErrorCode::usage, "the folder is not empty, and nothing is overwritten", target.string(),
                              std::nullopt, "a new folder for --out"});
        }
        ASSAY_CHECK(base::makeFolders(staging.m_folder));
        return staging;
    }
    Staging(Staging&& other) noexcept { swap(other); }
    Staging& operator=(Staging&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Staging() {
        std::error_code code;
        if (!m_folder.empty()) {
            fs::remove_all(m_folder, code);
            if (m_madeTarget && fs::is_empty(m_target, code)) {
                fs::remove(m_target, code);
            }
        }
    }
    [[nodiscard]] const fs::path& folder() const { return m_folder; }
    Result<void> publish() {
        std::vector<fs::path> names;
        std::error_code code;
        for (const auto& entry : fs::directory_iterator(m_folder, code)) {
            if (entry.path().filename() != "order.json") {
                names.push_back(entry.path().filename());
            }
        }
        names.emplace_back("order.json");
        for (const auto& name : names) {
            fs::rename(m_folder / name, m_target / name, code);
            if (code) {
                return fail(base::systemError(m_target / name, "cannot create", code.value()));
            }
        }
        return base::syncFolder(m_target);
    }

private:
    Staging() = default;
    void swap(Staging& other) {
        std::swap(m_target, other.m_target);
        std::swap(m_folder, other.m_folder);
        std::swap(m_madeTarget, other.m_madeTarget);
    }
    fs::path m_target;
    fs::path m_folder;
    bool m_madeTarget = false;
};

struct Source {
    std::string reader; ///< "idx", "cifar10", "text"
    std::vector<std::string> paths;
};

Result<Source> parseSource(const std::vector<std::string>& data) {
    Source source;
    for (const auto& item : data) {
        const auto colon = item.find(':');
        const auto head = item.substr(0, colon);
        const bool known = colon != std::string::npos && (head == "idx" || head == "cifar10" || head == "text");
        if (!known && source.reader.empty()) {
            return fail(ErrorCode::usage,
                        fmt::format("--data is \"{}\", expected idx:DIR, cifar10:DIR or text:FILE", item),
                        "for example --data text:book.txt");
        }
        if (known && !source.reader.empty() && head != source.reader) {
            return fail(ErrorCode::usage, fmt::format("--data mixes {} and {}", source.reader, head),
                        "give one kind of data");
        }
        if (known) {
            source.reader = head;
        }
        source.paths.push_back(known ? item.substr(colon + 1) : item);
        if (source.paths.back().empty()) {
            return fail(ErrorCode::usage, fmt::format("--data {} names no path", item),
                        fmt::format("{}:PATH", source.reader));
        }
    }
    if (source.reader != "text" && source.paths.size() > 1) {
        return fail(ErrorCode::usage,
                    fmt::format("--data {} takes one folder, not {}", source.reader, source.paths.size()), {});
    }
    return source;
}

/// The texts of the machine's licence folder in the order of their names, each file once (links lead to some of them
/// twice).
Result<std::string> licenceText() {
    std::error_code code;
    std::set<fs::path> names;
    for (const auto& entry : fs::directory_iterator(kLicenceFolder, code)) {
        names.insert(entry.path());
    }
    if (code || names.empty()) {
        return fail(Error{ErrorCode::unreadable,
                          "there are no licence texts here, which orders without --data train on",
                          kLicenceFolder.string(), std::nullopt, "--data text:FILE with any text"});
    }
    std::set<fs::path> seen;
    std::string text;
    for (const auto& name : names) {
        const auto real = fs::canonical(name, code);
        if (!code && fs::is_regular_file(real, code) && seen.insert(real).second) {
            ASSAY_TRY(part, base::readTextFile(real, kMaxTextFile));
            text += part;
        }
    }
    return text;
}

Result<void> copyOrLink(const fs::path& from, const fs::path& to, std::uint64_t total,
                        std::vector<std::string>& notes) {
    std::error_code code;
    if (total > kCopyLimit) {
        const auto real = fs::canonical(from, code);
        if (!code) {
            fs::create_symlink(real, to, code);
        }
        if (!code) {
            notes.push_back(fmt::format("{} is linked, not copied: it must stay where it is", real.string()));
            return {};
        }
    }
    fs::copy_file(from, to, code);
    if (code) {
        return fail(base::systemError(to, fmt::format("cannot copy {}", from.string()), code.value()));
    }
    fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, code);
    return {};
}

/// Puts the data files into the staging folder and describes them.
Result<format::DataSpec> stageData(const NewOrder& request, const fs::path& folder, std::vector<std::string>& notes) {
    const bool gpt = request.program == "gpt";
    ASSAY_TRY(source, parseSource(request.data));
    format::DatasetRequest wanted;
    wanted.samples = request.samples;
    wanted.heldOut = request.heldOut.value_or(0);
    wanted.noHeldOut = request.heldOut == 0u;
    if (source.reader == "idx" || source.reader == "cifar10") {
        if (gpt) {
            return fail(ErrorCode::usage,
                        fmt::format("a gpt trains on text, and --data {} holds images", source.reader),
                        "--data text:FILE, or --program cnn");
        }
        wanted.reader = source.reader;
        wanted.path = source.paths[0];
        ASSAY_TRY(spec, format::Dataset::build(wanted));
        std::uint64_t total = 0;
        for (const auto& file : spec.files) {
            total += file.size;
        }
        for (const auto& file : spec.files) {
            ASSAY_CHECK(copyOrLink(wanted.path / file.name, folder / file.name, total, notes));
        }
        return spec;
    }
    std::string name = "text.txt";
    if (source.reader.empty()) {
        ASSAY_TRY(text, licenceText());
        name = "licences.txt";
        ASSAY_CHECK(base::writeFileAtomic(folder / name, text));
        notes.push_back(fmt::format("no --data given: training on the {} of licence texts in {}", byteText(text.size()),
                                    kLicenceFolder.string()));
    } else if (source.paths.size() == 1) {
        const fs::path path = source.paths[0];
        ASSAY_TRY(size, base::fileSize(path));
        const auto own = path.filename().string();
        if (std::find(std::begin(kOwnNames), std::end(kOwnNames), own) == std::end(kOwnNames) &&
            !own.starts_with('.')) {
            name = own;
        }
        ASSAY_CHECK(copyOrLink(path, folder / name, size, notes));
    } else {
        std::string text;
        for (const auto& path : source.paths) {
            ASSAY_TRY(part, base::readTextFile(path, kMaxTextFile));
            text += part;
        }
        ASSAY_CHECK(base::writeFileAtomic(folder / name, text));
    }
    wanted.path = folder;
    wanted.files = {name};
    if (gpt) {
        wanted.reader = "text";
        wanted.context = request.context != 0 ? request.context : 64;
    } else {
        wanted.reader = "bytes";
        wanted.imageShape = {1, 16, 16};
    }
    auto spec = format::Dataset::build(wanted);
    if (!spec) {
        auto error = std::move(spec).error();
        if (!source.paths.empty()) {
            error.file = source.paths[0]; // the copy is about to vanish
        }
        return fail(std::move(error));
    }
    return spec;
}

Result<format::Program> makeProgram(const NewOrder& request, const format::DataSpec& data) {
    models::ModelRequest model;
    model.kind = request.program;
    model.width = request.width;
    model.layers = request.layers;
    model.heads = request.heads;
    model.feedForward = request.feedForward;
    model.context = data.context;
    model.vocabulary = data.classes;
    model.classes = data.classes;
    model.image = data.imageShape;
    model.dropout = request.dropout.value_or(0.0f);
    return models::buildProgram(model);
}

Result<format::OptimizerSpec> makeOptimizer(const NewOrder& request) {
    format::OptimizerSpec spec;
    spec.kind = !request.optimizer.empty() ? request.optimizer : request.program == "gpt" ? "adamw" : "sgd";
    const bool adamw = spec.kind == "adamw";
    const auto refuse = [&](bool given, const char* option) -> Result<void> {
        if (!given) {
            return {};
        }
        return fail(ErrorCode::usage, fmt::format("{} does not go with --optimizer {}", option, spec.kind),
                    fmt::format("leave {} out, or use --optimizer {}", option, adamw ? "sgd" : "adamw"));
    };
    if (adamw) {
        ASSAY_CHECK(refuse(request.momentum.has_value(), "--momentum"));
        ASSAY_CHECK(refuse(request.nesterov, "--nesterov"));
        spec.beta1 = request.beta1.value_or(0.9f);
        spec.beta2 = request.beta2.value_or(0.999f);
        spec.epsilon = request.epsilon.value_or(1e-8f);
    } else {
        ASSAY_CHECK(refuse(request.beta1.has_value(), "--beta1"));
        ASSAY_CHECK(refuse(request.beta2.has_value(), "--beta2"));
        ASSAY_CHECK(refuse(request.epsilon.has_value(), "--epsilon"));
        spec.momentum = request.momentum.value_or(0.9f);
        spec.nesterov = request.nesterov;
    }
    spec.learningRate = request.learningRate.value_or(adamw ? 0.001f : 0.05f);
    spec.weightDecay = request.weightDecay.value_or(adamw ? 0.01f : 0.0f);
    spec.clipNorm = request.clip.value_or(0.0f);
    spec.schedule = request.schedule;
    spec.warmup = request.warmup;
    spec.minLearningRate = request.minLearningRate.value_or(0.0f);
    if (spec.schedule != "cosine") {
        ASSAY_CHECK(refuse(request.minLearningRate.has_value(), "--min-lr"));
    }
    if (spec.warmup > request.steps) {
        return fail(ErrorCode::usage,
                    fmt::format("--warmup {} is longer than the training of {} steps", spec.warmup, request.steps),
                    "a smaller --warmup, or more --steps");
    }
    return spec;
}

std::uint64_t checkpointInterval(const NewOrder& request) {
    if (request.checkpointEvery) {
        return *request.checkpointEvery;
    }
    // Five segments by default, so that an audit can sample and a killed trainer loses little.
    const auto wanted = (request.steps + 4) / 5;
    return (wanted + request.stateRootEvery - 1) / request.stateRootEvery * request.stateRootEvery;
}

Result<base::Digest> writeInitialState(const format::Program& program, std::uint64_t seed, const fs::path& file) {
    ASSAY_TRY(tensors, models::initialState(program, seed));
    std::vector<format::TensorView> views;
    for (const auto& tensor : tensors) {
        views.push_back({tensor.name, "F32", tensor.shape, format::bytesOf(tensor.values)});
    }
    ASSAY_TRY(written, format::writeSafetensors(file, views));
    return written.sha256;
}

Result<void> addKeys(const NewOrder& request, const fs::path& folder, WrittenOrder& result) {
    std::set<std::string> keys;
    for (const auto& file : request.trainerKeys) {
        ASSAY_TRY(key, crypto::readPublicKey(file));
        keys.insert(key.toHex());
    }
    if (keys.empty()) {
        ASSAY_CHECK(crypto::selfTest());
        ASSAY_TRY(key, crypto::PrivateKey::generate());
        ASSAY_CHECK(crypto::writePrivateKey(folder / "trainer.pem", key));
        ASSAY_TRY(publicKey, key.publicKey());
        keys.insert(publicKey.toHex());
        result.newKey = result.folder / "trainer.pem";
    }
    result.order.trainerKeys.assign(keys.begin(), keys.end());
    return {};
}

/// An order that breaks a rule of the format came from options here, so the person gets a usage error, not a malformed
/// one.
Error asUsage(Error error) {
    if (error.code == ErrorCode::malformed) {
        error.code = ErrorCode::usage;
    }
    return error;
}

} // namespace

Result<WrittenOrder> writeOrder(const NewOrder& request) {
    fs::path target = fs::path(request.out).lexically_normal();
    if (!target.has_filename()) {
        target = target.parent_path();
    }
    ASSAY_TRY(optimizer, makeOptimizer(request));
    if (const auto every = checkpointInterval(request); every % request.stateRootEvery != 0) {
        return fail(
            ErrorCode::usage,
            fmt::format(
                "--checkpoint-every {} is no multiple of --state-root-every {}: a checkpoint needs its state root",
                every, request.stateRootEvery),
            fmt::format("--checkpoint-every {}", (every / request.stateRootEvery + 1) * request.stateRootEvery));
    }
    ASSAY_TRY(staging, Staging::open(target));
    const auto& folder = staging.folder();
    WrittenOrder result;
    result.folder = target;
    auto& order = result.order;
    ASSAY_TRY(data, stageData(request, folder, result.notes));
    if (request.batch > data.samples) {
        return fail(
            ErrorCode::usage,
            fmt::format("--batch {} is more than the {} training samples of the data", request.batch, data.samples),
            fmt::format("--batch {} or less{}", data.samples, data.reader == "text" ? ", or a shorter --context" : ""));
    }
    ASSAY_TRY(program, makeProgram(request, data));
    result.parameters = models::parameterCount(program);
    ASSAY_TRY(programText, format::serialiseProgram(program));
    ASSAY_CHECK(base::writeFileAtomic(folder / "program.json", programText));
    ASSAY_TRY(initialState, writeInitialState(program, request.seed, folder / "init.safetensors"));
    order.title = !request.title.empty() ? request.title : program.title;
    order.program = format::programDigest(program);
    order.initialState = initialState;
    order.initialiser = models::kInitialiser;
    order.data = data;
    order.loop.steps = request.steps;
    order.loop.batch = request.batch;
    order.optimizer = optimizer;
    order.numerics.bound = request.bound;
    order.numerics.block = request.block;
    order.stateRootEvery = request.stateRootEvery;
    order.checkpointEvery = checkpointInterval(request);
    order.evaluateEvery = request.evaluateEvery;
    order.seed = request.seed;
    order.metric = data.task == "next-token" ? "loss" : "accuracy";
    ASSAY_CHECK(addKeys(request, folder, result));
    auto text = format::serialiseOrder(order);
    if (!text) {
        return fail(asUsage(std::move(text).error()));
    }
    ASSAY_CHECK(base::writeFileAtomic(folder / "order.json", *text));
    result.digest = format::orderDigest(order);
    ASSAY_CHECK(staging.publish());
    return result;
}

} // namespace assay::cli
