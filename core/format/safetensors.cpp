// SPDX-License-Identifier: Apache-2.0
#include "core/format/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/crypto/sha256.h"
#include "core/format/detail/json_cursor.h"
#include "core/format/json.h"

namespace assay::format {

using base::ByteView;
using base::failAt;
using base::Result;
using detail::JsonCursor;

namespace {

constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxDims = 16;
constexpr std::uint64_t kMaxElements = 1ULL << 48; // times 8 bytes fits 64 bits
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> kDtypes{{{"BF16", 2},
                                                                              {"BOOL", 1},
                                                                              {"F16", 2},
                                                                              {"F32", 4},
                                                                              {"F64", 8},
                                                                              {"F8_E4M3", 1},
                                                                              {"F8_E5M2", 1},
                                                                              {"I16", 2},
                                                                              {"I32", 4},
                                                                              {"I64", 8},
                                                                              {"I8", 1},
                                                                              {"U16", 2},
                                                                              {"U32", 4},
                                                                              {"U64", 8},
                                                                              {"U8", 1}}};

struct Entry {
    TensorView tensor;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t headerOffset = 0; ///< where errors point
};

/// {"key":"value",...}, contents ignored.
Result<void> skipMetadata(JsonCursor& cursor) {
    ASSAY_CHECK(cursor.expect('{'));
    if (cursor.accept('}')) {
        return {};
    }
    do {
        ASSAY_CHECK(cursor.string(kMaxSafetensorsHeader));
        ASSAY_CHECK(cursor.expect(':'));
        ASSAY_CHECK(cursor.string(kMaxSafetensorsHeader));
    } while (cursor.accept(','));
    return cursor.expect('}');
}

Result<void> readShape(JsonCursor& cursor, std::vector<std::int64_t>& shape) {
    ASSAY_CHECK(cursor.expect('['));
    if (cursor.accept(']')) {
        return {};
    }
    do {
        ASSAY_TRY(size, cursor.integer());
        if (size < 0) {
            return base::fail(cursor.error("negative dimension"));
        }
        if (shape.size() == kMaxDims) {
            return base::fail(cursor.error(fmt::format("more than {} dimensions", kMaxDims)));
        }
        shape.push_back(size);
    } while (cursor.accept(','));
    return cursor.expect(']');
}

Result<void> readOffsets(JsonCursor& cursor, Entry& entry) {
    ASSAY_CHECK(cursor.expect('['));
    ASSAY_TRY(begin, cursor.integer());
    ASSAY_CHECK(cursor.expect(','));
    ASSAY_TRY(end, cursor.integer());
    if (begin < 0 || end < begin) {
        return base::fail(cursor.error("data offsets that are negative or run backwards"));
    }
    entry.begin = static_cast<std::uint64_t>(begin);
    entry.end = static_cast<std::uint64_t>(end);
    return cursor.expect(']');
}

/// {"dtype":...,"shape":[...],"data_offsets":[begin,end]} in any order, each field once.
Result<void> readEntry(JsonCursor& cursor, Entry& entry) {
    entry.headerOffset = cursor.offset();
    const auto& name = entry.tensor.name;
    ASSAY_CHECK(cursor.expect('{'));
    bool dtype = false;
    bool shape = false;
    bool offsets = false;
    do {
        ASSAY_TRY(field, cursor.string(kMaxName));
        ASSAY_CHECK(cursor.expect(':'));
        bool* seen = field == "dtype"          ? &dtype
                     : field == "shape"        ? &shape
                     : field == "data_offsets" ? &offsets
                                               : nullptr;
        if (seen == nullptr || *seen) {
            return base::fail(cursor.error(
                fmt::format("tensor \"{}\": {} field \"{}\"", name, seen == nullptr ? "unknown" : "repeated", field)));
        }
        *seen = true;
        if (seen == &dtype) {
            ASSAY_TRY(text, cursor.string(16));
            entry.tensor.dtype = std::move(text);
        } else if (seen == &shape) {
            ASSAY_CHECK(readShape(cursor, entry.tensor.shape));
        } else {
            ASSAY_CHECK(readOffsets(cursor, entry));
        }
    } while (cursor.accept(','));
    ASSAY_CHECK(cursor.expect('}'));
    if (!dtype || !shape || !offsets) {
        return failAt(fmt::format("tensor \"{}\": needs dtype, shape and data_offsets", name), entry.headerOffset);
    }
    return {};
}

/// dtype x shape must be the range's length, and the range must lie inside the data.
Result<void> checkEntry(const Entry& entry, std::uint64_t dataSize) {
    const auto bad = [&](std::string what) {
        return failAt(fmt::format("tensor \"{}\": {}", entry.tensor.name, what), entry.headerOffset);
    };
    const auto size = dtypeSize(entry.tensor.dtype);
    if (size == 0) {
        return bad(fmt::format("unknown dtype \"{}\"", entry.tensor.dtype));
    }
    const auto count = elementCount(entry.tensor.shape);
    if (!count) {
        return bad(count.error().message);
    }
    if (entry.end > dataSize) {
        return bad(fmt::format("data ends at {}, the file holds {} bytes of data", entry.end, dataSize));
    }
    if (*count * size != entry.end - entry.begin) {
        return bad(fmt::format("{} elements of {} take {} bytes, the range has {}", *count, entry.tensor.dtype,
                               *count * size, entry.end - entry.begin));
    }
    return {};
}

/// Ranges must follow each other without a gap or an overlap, from the first to the last byte of the data.
Result<void> checkTiling(const std::vector<Entry>& entries, std::uint64_t dataSize) {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(entries[a].begin, entries[a].end) < std::pair(entries[b].begin, entries[b].end);
    });
    std::uint64_t at = 0;
    for (const auto index : order) {
        const auto& entry = entries[index];
        if (entry.begin != at) {
            return failAt(
                fmt::format("tensor \"{}\": data begins at {}, expected {} ({})", entry.tensor.name, entry.begin, at,
                            entry.begin < at ? "it overlaps another tensor" : "bytes that belong to no tensor"),
                entry.headerOffset);
        }
        at = entry.end;
    }
    if (at != dataSize) {
        return failAt(fmt::format("the tensors end at byte {} of the data, the file holds {}", at, dataSize), 0);
    }
    return {};
}

/// Views sorted by name, checked. Pointers into `tensors`.
Result<std::vector<const TensorView*>> sortedForWriting(std::span<const TensorView> tensors) {
    std::vector<const TensorView*> sorted;
    for (const auto& tensor : tensors) {
        sorted.push_back(&tensor);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& tensor = *sorted[i];
        const auto bad = [&](std::string_view what) {
            return base::fail(base::ErrorCode::malformed, fmt::format("tensor \"{}\": {}", tensor.name, what));
        };
        if (tensor.name.size() > kMaxName || tensor.name == kMetadata || !isUtf8(tensor.name)) {
            return bad("the name is not allowed");
        }
        if (i > 0 && sorted[i - 1]->name == tensor.name) {
            return bad("the name occurs twice");
        }
        ASSAY_TRY(count, elementCount(tensor.shape));
        if (tensor.shape.size() > kMaxDims || dtypeSize(tensor.dtype) == 0 ||
            count * dtypeSize(tensor.dtype) != tensor.bytes.size()) {
            return bad("dtype, shape and length do not agree");
        }
    }
    return sorted;
}

std::string headerFor(const std::vector<const TensorView*>& sorted) {
    std::string json = "{";
    std::uint64_t at = 0;
    for (const auto* tensor : sorted) {
        if (tensor != sorted.front()) {
            json += ',';
        }
        detail::appendJsonString(json, tensor->name);
        json += fmt::format(":{{\"data_offsets\":[{},{}],\"dtype\":\"{}\",\"shape\":[{}]}}", at,
                            at + tensor->bytes.size(), tensor->dtype, fmt::join(tensor->shape, ","));
        at += tensor->bytes.size();
    }
    json += '}';
    json.resize((json.size() + 7) / 8 * 8, ' ');
    return json;
}

} // namespace

std::uint64_t dtypeSize(std::string_view dtype) {
    for (const auto& [name, size] : kDtypes) {
        if (name == dtype) {
            return size;
        }
    }
    return 0;
}

Result<std::uint64_t> elementCount(std::span<const std::int64_t> shape) {
    std::uint64_t count = 1;
    for (const auto size : shape) {
        if (size < 0) {
            return base::fail(base::ErrorCode::malformed, fmt::format("negative dimension {}", size));
        }
        if (count != 0 && static_cast<std::uint64_t>(size) > (kMaxElements - 1) / count) {
            return base::fail(base::ErrorCode::malformed, "2^48 elements or more");
        }
        count *= static_cast<std::uint64_t>(size);
    }
    return count;
}

Result<Safetensors> Safetensors::parse(ByteView file) {
    base::ByteReader reader(file);
    ASSAY_TRY(headerSize, reader.get<std::uint64_t>("header length"));
    if (headerSize > kMaxSafetensorsHeader) {
        return failAt(fmt::format("header length {} is above the limit of {}", headerSize, kMaxSafetensorsHeader), 0);
    }
    if (headerSize > reader.remaining()) {
        return failAt(fmt::format("header length {}, but only {} bytes follow", headerSize, reader.remaining()), 0);
    }
    ASSAY_TRY(header, reader.getBytes(headerSize, "header"));
    const ByteView data = file.subspan(static_cast<std::size_t>(8 + headerSize));
    if (header.empty() || header[0] != '{') {
        return failAt("the header does not begin with '{'", 8);
    }

    JsonCursor cursor(base::asText(header), 8);
    ASSAY_CHECK(cursor.expect('{'));
    std::vector<Entry> entries;
    bool metadata = false;
    if (!cursor.accept('}')) {
        do {
            const auto offset = cursor.offset();
            ASSAY_TRY(name, cursor.string(kMaxName));
            ASSAY_CHECK(cursor.expect(':'));
            if (name == kMetadata) {
                if (std::exchange(metadata, true)) {
                    return failAt("__metadata__ occurs twice", offset);
                }
                ASSAY_CHECK(skipMetadata(cursor));
                continue;
            }
            auto& entry = entries.emplace_back();
            entry.tensor.name = std::move(name);
            ASSAY_CHECK(readEntry(cursor, entry));
            ASSAY_CHECK(checkEntry(entry, data.size()));
        } while (cursor.accept(','));
        ASSAY_CHECK(cursor.expect('}'));
    }
    ASSAY_CHECK(cursor.expectEnd());

    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.tensor.name < b.tensor.name; });
    const auto twice = std::adjacent_find(
        entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.tensor.name == b.tensor.name; });
    if (twice != entries.end()) {
        return failAt(fmt::format("tensor \"{}\" occurs twice", twice->tensor.name),
                      std::max(twice->headerOffset, (twice + 1)->headerOffset));
    }
    ASSAY_CHECK(checkTiling(entries, data.size()));

    Safetensors result;
    result.m_file = file;
    result.m_tensors.reserve(entries.size());
    for (auto& entry : entries) {
        entry.tensor.bytes =
            data.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin));
        result.m_tensors.push_back(std::move(entry.tensor));
    }
    return result;
}

Result<Safetensors> Safetensors::open(const base::fs::path& path) {
    ASSAY_TRY(mapped, base::MappedFile::open(path));
    auto parsed = parse(mapped.bytes());
    if (!parsed) {
        return base::fail(parsed.error().inFile(path.string()));
    }
    parsed->m_mapped = std::move(mapped);
    return std::move(*parsed);
}

const TensorView* Safetensors::find(std::string_view name) const {
    const auto found =
        std::lower_bound(m_tensors.begin(), m_tensors.end(), name,
                         [](const TensorView& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return found != m_tensors.end() && found->name == name ? &*found : nullptr;
}

Result<std::vector<float>> floatsOf(const TensorView& tensor) {
    if (tensor.dtype != "F32") {
        return base::fail(base::ErrorCode::malformed,
                          fmt::format("tensor \"{}\" has dtype {}, expected F32", tensor.name, tensor.dtype));
    }
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    if (!values.empty()) {
        std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
    }
    return values;
}

Result<base::ByteVector> serialiseSafetensors(std::span<const TensorView> tensors) {
    ASSAY_TRY(sorted, sortedForWriting(tensors));
    const auto header = headerFor(sorted);
    base::ByteWriter writer;
    writer.put(static_cast<std::uint64_t>(header.size()));
    writer.putText(header);
    for (const auto* tensor : sorted) {
        writer.putBytes(tensor->bytes);
    }
    return writer.take();
}

Result<WrittenFile> writeSafetensors(const base::fs::path& path, std::span<const TensorView> tensors) {
    ASSAY_TRY(sorted, sortedForWriting(tensors));
    const auto header = headerFor(sorted);
    const auto folder = path.has_parent_path() ? path.parent_path() : base::fs::path(".");
    const auto temporary = folder / ("." + path.filename().string() + ".partial");

    const auto write = [&]() -> Result<WrittenFile> {
        ASSAY_TRY(file, base::AppendFile::open(temporary, 0));
        crypto::Sha256 hash;
        const auto put = [&](ByteView bytes) {
            hash.update(bytes);
            return file.append(bytes);
        };
        std::array<std::uint8_t, 8> length{};
        base::storeLe(length.data(), static_cast<std::uint64_t>(header.size()));
        ASSAY_CHECK(put(length));
        ASSAY_CHECK(put(base::asBytes(header)));
        for (const auto* tensor : sorted) {
            ASSAY_CHECK(put(tensor->bytes));
        }
        ASSAY_CHECK(file.sync());
        std::error_code code;
        base::fs::rename(temporary, path, code);
        if (code) {
            return base::fail(base::systemError(path, "cannot replace", code.value()));
        }
        ASSAY_CHECK(base::syncFolder(folder));
        return WrittenFile{file.size(), hash.finish()};
    };
    auto written = write();
    if (!written) {
        std::error_code code;
        base::fs::remove(temporary, code);
    }
    return written;
}

} // namespace assay::format
