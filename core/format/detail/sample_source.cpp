// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/sample_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/format/cifar10.h"
#include "core/format/idx.h"
#include "core/format/text_data.h"

namespace assay::format::detail {

using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Error malformedFile(const std::string& file, std::string message) {
    return Error{ErrorCode::malformed, std::move(message), file, std::nullopt, {}};
}

void addRun(SampleSource& source, SampleRun run) {
    run.first = source.total;
    source.total += run.count;
    if (run.labels != nullptr) {
        for (std::uint64_t i = 0; i < run.count; ++i) {
            source.largestLabel = std::max<std::uint64_t>(source.largestLabel, run.labels[i * run.labelStride]);
        }
    }
    source.runs.push_back(std::move(run));
}

Result<void> readIdx(const std::vector<std::string>& names, const std::vector<ByteView>& files, SampleSource& source) {
    for (std::size_t i = 0; i + 1 < files.size(); i += 2) {
        auto images = parseIdx(files[i]);
        if (!images) {
            return fail(images.error().inFile(names[i]));
        }
        auto labels = parseIdx(files[i + 1]);
        if (!labels) {
            return fail(labels.error().inFile(names[i + 1]));
        }
        if (images->itemShape.size() < 2) {
            return fail(malformedFile(names[i], "expected images of height x width or channels x height x width"));
        }
        if (!labels->itemShape.empty() || labels->items != images->items) {
            return fail(malformedFile(names[i + 1],
                                      fmt::format("expected {} labels for the images of {}", images->items, names[i])));
        }
        auto shape = images->itemShape;
        if (shape.size() == 2) {
            shape.insert(shape.begin(), 1);
        }
        if (!source.imageShape.empty() && source.imageShape != shape) {
            return fail(
                malformedFile(names[i], fmt::format("images of {} do not fit those before of {}",
                                                    fmt::join(shape, " x "), fmt::join(source.imageShape, " x "))));
        }
        source.imageShape = shape;
        source.bytesPerSample = images->values.size() / images->items;
        source.ownTestSamples = i >= 2 ? images->items : 0;
        addRun(source,
               {images->values.data(), source.bytesPerSample, labels->values.data(), 1, 0, images->items, names[i]});
    }
    return {};
}

Result<void> readCifar10(const std::vector<std::string>& names, const std::vector<ByteView>& files,
                         SampleSource& source) {
    source.imageShape = {3, 32, 32};
    source.bytesPerSample = kCifar10Pixels;
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto records = parseCifar10(files[i]);
        if (!records) {
            return fail(records.error().inFile(names[i]));
        }
        source.ownTestSamples = names[i].starts_with("test") && i > 0 ? *records : 0;
        addRun(source, {files[i].data() + 1, kCifar10Record, files[i].data(), kCifar10Record, 0, *records, names[i]});
    }
    return {};
}

Result<void> readWindows(const std::string& name, ByteView file, std::uint64_t window, bool lastIsLabel,
                         SampleSource& source) {
    auto count = countWindows(file, window);
    if (!count) {
        return fail(count.error().inFile(name));
    }
    source.bytesPerSample = lastIsLabel ? window - 1 : window;
    addRun(source, {file.data(), window, lastIsLabel ? file.data() + window - 1 : nullptr, window, 0, *count, name});
    return {};
}

} // namespace

const SampleRun& SampleSource::runOf(std::uint64_t fileIndex) const {
    auto run =
        std::upper_bound(runs.begin(), runs.end(), fileIndex,
                         [](std::uint64_t index, const SampleRun& candidate) { return index < candidate.first; });
    return *(run - 1);
}

Result<SampleSource> readSamples(const std::string& reader, const std::vector<std::string>& names,
                                 const std::vector<ByteView>& files, std::uint64_t context,
                                 const std::vector<std::int64_t>& imageShape) {
    SampleSource source;
    if (reader == "idx") {
        if (files.size() % 2 != 0) {
            return fail(ErrorCode::usage, "idx needs pairs of an image file and a label file");
        }
        ASSAY_CHECK(readIdx(names, files, source));
    } else if (reader == "cifar10") {
        ASSAY_CHECK(readCifar10(names, files, source));
    } else if (reader == "text" || reader == "bytes") {
        if (files.size() != 1) {
            return fail(ErrorCode::usage, fmt::format("the reader {} takes exactly one file", reader));
        }
        std::uint64_t window = context + 1;
        if (reader == "bytes") {
            source.imageShape = imageShape;
            window = 1;
            for (const auto size : imageShape) {
                window *= static_cast<std::uint64_t>(size);
            }
            ++window;
        }
        ASSAY_CHECK(readWindows(names[0], files[0], window, reader == "bytes", source));
    } else {
        return fail(ErrorCode::usage, fmt::format("unknown reader \"{}\"", reader), "idx, cifar10, text or bytes");
    }
    return source;
}

Result<std::vector<std::string>> findDataFiles(const std::string& reader, const base::fs::path& folder) {
    std::vector<std::string> found;
    std::string wanted;
    const auto exists = [&](const std::string& name) { return base::fs::is_regular_file(folder / name); };
    if (reader == "idx") {
        wanted =
            "train-images-idx3-ubyte and train-labels-idx1-ubyte, or t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte";
        for (const char* part : {"train", "t10k"}) {
            for (const char* separator : {"-", "."}) { // both spellings are in circulation
                const auto images = fmt::format("{}-images{}idx3-ubyte", part, separator);
                const auto labels = fmt::format("{}-labels{}idx1-ubyte", part, separator);
                if (exists(images) && exists(labels)) {
                    found.push_back(images);
                    found.push_back(labels);
                    break;
                }
            }
        }
    } else if (reader == "cifar10") {
        wanted = "data_batch_1.bin to data_batch_5.bin and test_batch.bin";
        for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                                 "data_batch_5.bin", "test_batch.bin"}) {
            if (exists(name)) {
                found.emplace_back(name);
            }
        }
    } else {
        wanted = "exactly one file (or name the file itself)";
        std::error_code code;
        for (const auto& entry : base::fs::directory_iterator(folder, code)) {
            if (entry.is_regular_file(code)) {
                found.push_back(entry.path().filename().string());
            }
        }
        if (found.size() != 1) {
            found.clear();
        }
    }
    if (found.empty()) {
        return fail(Error{ErrorCode::usage, fmt::format("no data for the reader {} here", reader), folder.string(),
                          std::nullopt, fmt::format("a folder with {}", wanted)});
    }
    return found;
}

} // namespace assay::format::detail
