// SPDX-License-Identifier: Apache-2.0
#include "core/format/dataset.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/crypto/sha256.h"
#include "core/format/detail/names.h"
#include "core/format/detail/sample_source.h"
#include "core/format/detail/tags.h"
#include "core/merkle/tree.h"

namespace assay::format {

using base::ByteView;
using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// Pixel p becomes RN(p / 255): one IEEE division in FP64, then one rounding to FP32.
const std::array<float, 256>& pixelTable() {
    static const std::array<float, 256> kTable = [] {
        std::array<float, 256> table{};
        for (std::size_t p = 0; p < table.size(); ++p) {
            table[p] = static_cast<float>(static_cast<double>(p) / 255.0);
        }
        return table;
    }();
    return kTable;
}

Result<Digest> hashBytes(ByteView bytes, std::string_view phase, std::uint64_t& done, std::uint64_t total,
                         const base::ProgressFn& progress, const std::stop_token& stop) {
    constexpr std::size_t kPart = 8 << 20;
    crypto::Sha256 hash;
    for (std::size_t at = 0; at < bytes.size(); at += kPart) {
        if (stop.stop_requested()) {
            return fail(ErrorCode::cancelled, "stopped while the data were being checked");
        }
        const auto part = bytes.subspan(at, std::min(kPart, bytes.size() - at));
        hash.update(part);
        done += part.size();
        if (progress) {
            progress({phase, done, total, "bytes"});
        }
    }
    return hash.finish();
}

Error differs(const base::fs::path& path, std::string message) {
    return Error{ErrorCode::malformed, std::move(message), path.string(), std::nullopt,
                 "name the folder with the files of the order (--data)"};
}

} // namespace

struct Dataset::State {
    DataSpec spec;
    std::vector<base::MappedFile> files;
    detail::SampleSource source;
    std::vector<Digest> digests;

    [[nodiscard]] std::uint64_t fileIndex(std::uint64_t index) const {
        ASSAY_ASSERT(index < digests.size());
        return index < spec.samples ? index : source.total - spec.heldOut + (index - spec.samples);
    }
    [[nodiscard]] ByteView bytes(std::uint64_t index) const {
        const auto at = fileIndex(index);
        const auto& run = source.runOf(at);
        return {run.values + (at - run.first) * run.valueStride, static_cast<std::size_t>(source.bytesPerSample)};
    }
    [[nodiscard]] std::uint64_t label(std::uint64_t index) const {
        const auto at = fileIndex(index);
        const auto& run = source.runOf(at);
        return run.labels != nullptr ? run.labels[(at - run.first) * run.labelStride] : kNoLabel;
    }
    [[nodiscard]] Result<void> digestSamples(const std::stop_token& stop) {
        const auto count = spec.samples + spec.heldOut;
        digests.resize(static_cast<std::size_t>(count)); // so that label() and bytes() accept every index
        for (std::uint64_t i = 0; i < count; ++i) {
            if (i % 4096 == 0 && stop.stop_requested()) {
                return fail(ErrorCode::cancelled, "stopped while the data were being checked");
            }
            digests[static_cast<std::size_t>(i)] = sampleDigestOf(bytes(i), label(i));
        }
        return {};
    }
};

Digest sampleDigestOf(ByteView bytes, std::uint64_t label) {
    // 0x00 is the RFC 9162 leaf prefix.
    base::ByteWriter head;
    head.put(std::uint8_t{0});
    head.putText(detail::kSampleTag);
    head.put(label);
    head.put(static_cast<std::uint64_t>(bytes.size()));
    crypto::Sha256 hash;
    hash.update(head.bytes());
    hash.update(bytes);
    return hash.finish();
}

Result<DataSpec> Dataset::build(const DatasetRequest& request) {
    auto folder = request.path;
    auto names = request.files;
    std::error_code code;
    if (base::fs::is_regular_file(request.path, code)) {
        folder = request.path.parent_path();
        names = {request.path.filename().string()};
    } else if (!base::fs::is_directory(request.path, code)) {
        return fail(Error{ErrorCode::unreadable, "no such folder or file", request.path.string(), std::nullopt,
                          "check the path"});
    }
    const bool text = request.reader == "text";
    const bool bytes = request.reader == "bytes";
    if (text && (request.context < 1 || request.context > (1 << 20))) {
        return fail(ErrorCode::usage, fmt::format("a text sample has 1 to 1048576 tokens, found {}", request.context));
    }
    const auto fits = [](std::int64_t size) { return size >= 1 && size <= 4096; };
    if (bytes && (request.imageShape.size() != 3 || request.imageShape[0] != 1 || !fits(request.imageShape[1]) ||
                  !fits(request.imageShape[2]))) {
        return fail(ErrorCode::usage, "the reader bytes needs an image shape of 1 x height x width, each at most 4096");
    }
    if (names.empty()) {
        ASSAY_TRY(found, detail::findDataFiles(request.reader, folder));
        names = std::move(found);
    }
    State state;
    std::vector<ByteView> views;
    for (const auto& name : names) {
        if (!detail::isPlainName(name)) {
            return fail(ErrorCode::usage, fmt::format("\"{}\" is not a plain file name", name));
        }
        ASSAY_TRY(file, base::MappedFile::open(folder / name));
        views.push_back(file.bytes());
        state.spec.files.push_back({name, file.bytes().size(), crypto::sha256(file.bytes())});
        state.files.push_back(std::move(file));
    }
    ASSAY_TRY(source,
              detail::readSamples(request.reader, names, views, text ? request.context : 0, request.imageShape));
    state.source = std::move(source);
    const auto total = state.source.total;

    auto& spec = state.spec;
    spec.reader = request.reader;
    spec.heldOut = request.heldOut;
    if (spec.heldOut == 0 && !request.noHeldOut) {
        const auto wanted = state.source.ownTestSamples != 0 ? state.source.ownTestSamples : total / 10;
        spec.heldOut = std::min(wanted, total - std::min(total, std::max<std::uint64_t>(request.samples, 1)));
    }
    spec.samples = request.samples != 0 ? request.samples : total - std::min(total, spec.heldOut);
    if (spec.samples == 0 || spec.samples > total || spec.heldOut > total - spec.samples) {
        return fail(Error{ErrorCode::usage,
                          fmt::format("the data hold {} samples, not {} for training and {} held out", total,
                                      request.samples, spec.heldOut),
                          folder.string(), std::nullopt, "ask for fewer samples, or a shorter context"});
    }
    spec.context = text ? request.context : 0;
    spec.imageShape = state.source.imageShape;
    spec.classes = text || bytes ? 256 : request.reader == "cifar10" ? 10 : state.source.largestLabel + 1;
    spec.task = text ? "next-token" : "classification";
    spec.transform = text ? "none/1" : "unit/1";
    ASSAY_CHECK(state.digestSamples({}));
    spec.sampleRoot = merkle::rootOf(state.digests);
    return spec;
}

Result<Dataset> Dataset::open(const DataSpec& spec, const base::fs::path& folder, const base::ProgressFn& progress,
                              std::stop_token stop) {
    auto state = std::make_unique<State>();
    state->spec = spec;
    std::error_code code;
    const bool isFile = base::fs::is_regular_file(folder, code);
    if (isFile && spec.files.size() != 1) {
        return fail(differs(folder, fmt::format("the order names {} data files, this is one file", spec.files.size())));
    }
    std::uint64_t total = 0;
    for (const auto& file : spec.files) {
        total += file.size;
    }
    std::uint64_t done = 0;
    std::vector<std::string> names;
    std::vector<ByteView> views;
    for (const auto& file : spec.files) {
        const auto path = isFile ? folder : folder / file.name;
        auto mapped = base::MappedFile::open(path);
        if (!mapped) {
            auto error = mapped.error();
            error.remedy = "name the folder with the files of the order (--data)";
            return fail(std::move(error));
        }
        if (mapped->bytes().size() != file.size) {
            return fail(differs(
                path, fmt::format("the data file has {} bytes, the order says {}", mapped->bytes().size(), file.size)));
        }
        ASSAY_TRY(digest, hashBytes(mapped->bytes(), "checking data", done, total, progress, stop));
        if (digest != file.sha256) {
            return fail(differs(path, fmt::format("the data file has SHA-256 {}, the order says {}", digest.toHex(),
                                                  file.sha256.toHex())));
        }
        names.push_back(path.string());
        views.push_back(mapped->bytes());
        state->files.push_back(std::move(*mapped));
    }
    ASSAY_TRY(source, detail::readSamples(spec.reader, names, views, spec.context, spec.imageShape));
    state->source = std::move(source);
    if (spec.samples < 1 || spec.samples > state->source.total || spec.heldOut > state->source.total - spec.samples) {
        return fail(ErrorCode::malformed, fmt::format("the order asks for {} + {} samples, its data files hold {}",
                                                      spec.samples, spec.heldOut, state->source.total));
    }
    if (state->source.imageShape != spec.imageShape) {
        return fail(ErrorCode::malformed,
                    fmt::format("the order says images of {}, its data files hold {}",
                                fmt::join(spec.imageShape, " x "), fmt::join(state->source.imageShape, " x ")));
    }
    ASSAY_CHECK(state->digestSamples(stop));
    if (spec.task == "classification") {
        for (std::uint64_t i = 0; i < spec.samples + spec.heldOut; ++i) {
            if (state->label(i) >= spec.classes) {
                const auto at = state->fileIndex(i);
                const auto& run = state->source.runOf(at);
                return fail(
                    differs(run.file,
                            fmt::format("sample {} (item {} of this file) has the label {}, the order knows {} classes",
                                        i, at - run.first, state->label(i), spec.classes)));
            }
        }
    }
    if (const auto root = merkle::rootOf(state->digests); root != spec.sampleRoot) {
        return fail(ErrorCode::malformed, fmt::format("the samples have the root {}, the order says {}: its files "
                                                      "match, so its samples, reader or counts do not",
                                                      root.toHex(), spec.sampleRoot.toHex()));
    }
    return Dataset(std::move(state));
}

Dataset::Dataset(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

const DataSpec& Dataset::spec() const {
    return m_state->spec;
}

std::uint64_t Dataset::size() const {
    return m_state->digests.size();
}

std::uint64_t Dataset::samples() const {
    return m_state->spec.samples;
}

std::uint64_t Dataset::heldOut() const {
    return m_state->spec.heldOut;
}

const Digest& Dataset::sampleDigest(std::uint64_t index) const {
    ASSAY_ASSERT(index < size());
    return m_state->digests[static_cast<std::size_t>(index)];
}

std::vector<Digest> Dataset::sampleDigests(std::span<const std::uint64_t> indices) const {
    std::vector<Digest> digests;
    digests.reserve(indices.size());
    for (const auto index : indices) {
        digests.push_back(sampleDigest(index));
    }
    return digests;
}

std::uint64_t Dataset::valuesPerSample() const {
    return m_state->spec.task == "next-token" ? m_state->spec.context : m_state->source.bytesPerSample;
}

ByteView Dataset::sampleBytes(std::uint64_t index) const {
    return m_state->bytes(index);
}

void Dataset::copyImages(std::span<const std::uint64_t> indices, float* out) const {
    ASSAY_ASSERT(m_state->spec.task == "classification");
    const auto& table = pixelTable();
    for (const auto index : indices) {
        const auto pixels = m_state->bytes(index);
        out = std::transform(pixels.begin(), pixels.end(), out, [&](std::uint8_t pixel) { return table[pixel]; });
    }
}

void Dataset::copyLabels(std::span<const std::uint64_t> indices, std::int64_t* out) const {
    ASSAY_ASSERT(m_state->spec.task == "classification");
    for (const auto index : indices) {
        *out++ = static_cast<std::int64_t>(m_state->label(index));
    }
}

void Dataset::copyTokens(std::span<const std::uint64_t> indices, std::int64_t* tokens, std::int64_t* targets) const {
    ASSAY_ASSERT(m_state->spec.task == "next-token");
    for (const auto index : indices) {
        const auto window = m_state->bytes(index);
        tokens = std::copy(window.begin(), window.end() - 1, tokens);
        targets = std::copy(window.begin() + 1, window.end(), targets);
    }
}

} // namespace assay::format
