// SPDX-License-Identifier: Apache-2.0
// Input: one byte that chooses what is parsed, eight bytes of site size for sections, then the bytes to parse. Whatever
// is accepted must be the one encoding of what was decoded, and every error must carry an offset inside the input.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/bytes.h"
#include "core/numerics/log_codec.h"

namespace {

void require(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void fuzzSection(assay::base::ByteView bytes, std::uint64_t values, std::uint64_t baseOffset) {
    using namespace assay::numerics;
    const auto log = decodeSection(bytes, values, baseOffset);
    if (!log) {
        require(log.error().code == assay::base::ErrorCode::malformed && log.error().offset.has_value());
        require(*log.error().offset >= baseOffset && *log.error().offset <= baseOffset + bytes.size());
        return;
    }
    require(log->empty() || log->back().index < values);
    const assay::base::ByteVector again = encodeSection(*log, values);
    require(assay::base::ByteView(again).size() == bytes.size());
    require(std::equal(again.begin(), again.end(), bytes.begin()));
}

void fuzzFile(assay::base::ByteView bytes, std::uint64_t values) {
    using namespace assay::numerics;
    const auto file = decodeStepLog(bytes);
    if (!file) {
        require(file.error().code == assay::base::ErrorCode::malformed && file.error().offset.has_value());
        require(*file.error().offset <= bytes.size());
        return;
    }
    std::vector<assay::base::ByteVector> sections;
    for (const auto& section : file->sections) {
        require(section.bytes.data() == bytes.data() + section.offset);
        sections.emplace_back(section.bytes.begin(), section.bytes.end());
        fuzzSection(section.bytes, values, section.offset);
    }
    const assay::base::ByteVector again = encodeStepLog(file->order, file->step, sections);
    require(again.size() == bytes.size() && std::equal(again.begin(), again.end(), bytes.begin()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 9) {
        return 0;
    }
    const auto values = assay::base::loadLe<std::uint64_t>(data + 1);
    const assay::base::ByteView rest{data + 9, size - 9};
    if ((data[0] & 1U) != 0) {
        fuzzFile(rest, values);
    } else {
        fuzzSection(rest, values, 0);
    }
    return 0;
}
