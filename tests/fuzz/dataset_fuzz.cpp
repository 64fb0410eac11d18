// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/format/dataset.h"
#include "tests/support/format_fixtures.h"

/// Input: reader (1 byte), context or image side (1 byte), where the second file begins (2 bytes), then one or two data
/// files. A description that `build` makes must open again, and every sample must be readable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    static const auto folder = base::TemporaryFolder::create("assay-fuzz");
    if (size < 4 || !folder) {
        return 0;
    }
    static constexpr const char* kReaders[] = {"idx", "cifar10", "text", "bytes"};
    format::DatasetRequest request;
    request.reader = kReaders[data[0] % 4];
    request.path = folder->path();
    request.context = request.reader == "text" ? data[1] : 0;
    request.imageShape = {1, data[1] % 16, 2};
    const base::ByteView all(data + 4, size - 4);
    const auto split =
        request.reader == "idx" ? std::min<std::size_t>(base::loadLe<std::uint16_t>(data + 2), all.size()) : all.size();
    const auto write = [&](const char* name, base::ByteView bytes) {
        auto file = base::AppendFile::open(folder->path() / name, 0);
        if (!file || !file->append(bytes)) {
            std::abort();
        }
        request.files.emplace_back(name);
    };
    write("a", all.first(split));
    if (request.reader == "idx") {
        write("b", all.subspan(split));
    }
    const auto spec = format::Dataset::build(request);
    if (!spec) {
        return 0;
    }
    const auto opened = format::Dataset::open(*spec, folder->path());
    if (!opened) {
        std::abort();
    }
    for (std::uint64_t i = 0; i < opened->size(); ++i) {
        const std::uint64_t index[] = {i};
        if (spec->task == "next-token") {
            std::vector<std::int64_t> tokens(spec->context);
            std::vector<std::int64_t> targets(spec->context);
            opened->copyTokens(index, tokens.data(), targets.data());
        } else {
            std::vector<float> pixels(opened->valuesPerSample());
            std::int64_t label = -1;
            opened->copyImages(index, pixels.data());
            opened->copyLabels(index, &label);
            if (label < 0 || static_cast<std::uint64_t>(label) >= spec->classes || pixels.back() > 1.0f) {
                std::abort();
            }
        }
    }
    return 0;
}
