// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/log_statistics.h"

#include <algorithm>

#include "core/numerics/log_codec.h"

namespace assay::cli {

base::Result<StepLogCount> countStepLog(base::ByteView file) {
    // The number of values only bounds indices; how many a site really has, its program says.
    constexpr std::uint64_t kAnyValues = 1ULL << 48;
    ASSAY_TRY(log, numerics::decodeStepLog(file));
    StepLogCount count;
    count.order = log.order;
    count.step = log.step;
    count.bytes = file.size();
    for (const auto& section : log.sections) {
        ASSAY_TRY(entries, numerics::decodeSection(section.bytes, kAnyValues, section.offset));
        const auto whole = std::count_if(entries.begin(), entries.end(), [](const auto& entry) { return entry.whole; });
        count.sections.push_back({section.bytes.size(), entries.size(), static_cast<std::uint64_t>(whole)});
        count.entries += entries.size();
        count.whole += static_cast<std::uint64_t>(whole);
    }
    return count;
}

} // namespace assay::cli
