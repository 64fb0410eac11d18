// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "core/format/submission.h"
#include "tests/support/format_fixtures.h"

namespace {

using namespace assay;

/// A valid submission in memory, made once.
const std::map<std::string, base::ByteVector>& original() {
    static const std::map<std::string, base::ByteVector> kFiles = [] {
        std::map<std::string, base::ByteVector> files;
        const auto folder = base::TemporaryFolder::create("assay-fuzz");
        if (!folder || !test::tinySubmission(folder->path() / "s")) {
            std::abort();
        }
        const auto root = folder->path() / "s";
        for (const auto& entry : base::fs::recursive_directory_iterator(root)) {
            if (entry.is_regular_file()) {
                files[base::fs::relative(entry.path(), root).string()] = *base::readFile(entry.path(), 1 << 20);
            }
        }
        return files;
    }();
    return kFiles;
}

void write(const base::fs::path& path, base::ByteView bytes) {
    auto file = base::AppendFile::open(path, 0);
    if (!file || !file->append(bytes)) {
        std::abort();
    }
}

} // namespace

/// Input: edits of a valid submission, each: file number (1 byte), what to do (1), offset (2), length (1), bytes. The
/// manifest is made anew, as a consistent liar would, unless it is itself edited. Whatever opens can be read to the end
/// without a crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto files = original();
    bool manifestEdited = false;
    for (std::size_t at = 0; at + 5 <= size;) {
        auto file = std::next(files.begin(), data[at] % static_cast<std::ptrdiff_t>(files.size()));
        auto& bytes = file->second;
        const auto place = std::min<std::size_t>(base::loadLe<std::uint16_t>(data + at + 2), bytes.size());
        const auto length = std::min<std::size_t>(data[at + 4], size - at - 5);
        const auto* source = data + at + 5;
        manifestEdited = manifestEdited || file->first == format::kManifestName;
        switch (data[at + 1] % 4) {
        case 0: // overwrite
            bytes.resize(std::max(bytes.size(), place + length));
            std::copy(source, source + length, bytes.begin() + static_cast<std::ptrdiff_t>(place));
            break;
        case 1: // insert
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), source, source + length);
            break;
        case 2: // cut
            bytes.resize(place);
            break;
        default: // remove the file
            if (files.size() > 1) {
                files.erase(file);
            }
        }
        at += 5 + length;
    }
    static const auto folder = base::TemporaryFolder::create("assay-fuzz");
    const auto root = folder->path() / "s";
    std::error_code code;
    base::fs::remove_all(root, code);
    base::fs::create_directories(root / "logs", code);
    base::fs::create_directories(root / "checkpoints", code);
    format::Manifest manifest;
    for (const auto& [name, bytes] : files) {
        if (name != format::kManifestName && name != format::kAttestationName) {
            manifest.files.push_back({name, bytes.size(), crypto::sha256(bytes)});
        }
    }
    for (const auto& [name, bytes] : files) {
        write(root / name, name == format::kManifestName && !manifestEdited
                               ? base::asBytes(format::serialiseManifest(manifest))
                               : bytes);
    }
    const auto submission = format::Submission::open(root);
    if (!submission) {
        return 0;
    }
    for (std::uint64_t step = 0; step < submission->leaves(); ++step) {
        if (const auto record = submission->step(step)) {
            (void)format::leafHash(record->leaf);
        }
        (void)submission->log(step);
    }
    for (const auto step : submission->checkpoints()) {
        (void)submission->checkpoint(step);
    }
    const auto findings = submission->verifyFiles();
    if (!findings || (!manifestEdited && !findings->empty())) {
        std::abort();
    }
    return 0;
}
