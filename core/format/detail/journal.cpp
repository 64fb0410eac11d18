// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/journal.h"

#include <charconv>

#include <fmt/format.h>

#include "core/format/json.h"

namespace assay::format::detail {

using base::fail;
using base::failAt;
using base::Result;

namespace {

constexpr std::string_view kHead = "assay-journal/1";
constexpr std::string_view kProfile = "profile ";
constexpr std::uint64_t kMaxJournalBytes = 16ULL << 20;
constexpr std::size_t kMaxProfileText = 1024;

} // namespace

bool Journal::apply(std::uint64_t firstStep, std::string profile) {
    bool changed = false;
    while (!m_changes.empty() && m_changes.back().firstStep > firstStep) {
        m_changes.pop_back();
        changed = true;
    }
    if (!m_changes.empty() && m_changes.back().profile == profile) {
        return changed;
    }
    if (!m_changes.empty() && m_changes.back().firstStep == firstStep) {
        m_changes.pop_back();
        if (!m_changes.empty() && m_changes.back().profile == profile) {
            return true;
        }
    }
    m_changes.push_back({firstStep, std::move(profile)});
    return true;
}

Result<void> Journal::parseLine(std::string_view line, std::uint64_t offset) {
    std::uint64_t step = 0;
    if (line.starts_with(kProfile)) {
        const auto* first = line.data() + kProfile.size();
        const auto* end = line.data() + line.size();
        const auto parsed = std::from_chars(first, end, step);
        if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == ' ' && step >= 1) {
            static_cast<void>(apply(step, std::string(parsed.ptr + 1, end)));
            return {};
        }
    }
    return failAt("unknown line in the journal of an unfinished training", offset);
}

Result<Journal> Journal::read(const base::fs::path& folder) {
    const auto path = folder / kJournalName;
    ASSAY_TRY(text, base::readTextFile(path, kMaxJournalBytes));
    Journal journal;
    std::size_t at = 0;
    for (bool isHead = true;; isHead = false) {
        const auto end = text.find('\n', at);
        if (end == std::string::npos) {
            break; // a torn line was never acted on
        }
        const auto line = std::string_view(text).substr(at, end - at);
        auto result = isHead ? (line == kHead ? Result<void>{} : failAt("not a journal of Assay", 0))
                             : journal.parseLine(line, at);
        if (!result) {
            return fail(result.error().inFile(path.string()));
        }
        at = end + 1;
    }
    if (journal.m_changes.empty() || journal.m_changes.front().firstStep != 1) {
        return fail(base::Error{
            base::ErrorCode::malformed, "the journal names no kernel profile for step 1", path.string(), at, {}});
    }
    journal.m_size = at;
    return journal;
}

Result<Journal> Journal::create(const base::fs::path& folder, const std::string& profile) {
    const auto head = fmt::format("{}\n", kHead);
    ASSAY_TRY(file, base::AppendFile::open(folder / kJournalName, 0));
    ASSAY_CHECK(file.append(base::asBytes(head)));
    Journal journal;
    journal.m_size = head.size();
    ASSAY_CHECK(journal.setProfile(folder, 1, profile));
    return journal;
}

Result<void> Journal::setProfile(const base::fs::path& folder, std::uint64_t firstStep, const std::string& profile) {
    if (profile.empty() || profile.size() > kMaxProfileText || !isUtf8(profile) ||
        profile.find('\n') != std::string::npos) {
        return fail(base::ErrorCode::usage, "a kernel profile is one line of at most 1024 bytes");
    }
    if (!apply(firstStep, profile)) {
        return {};
    }
    const auto line = fmt::format("{}{} {}\n", kProfile, firstStep, profile);
    ASSAY_TRY(file, base::AppendFile::open(folder / kJournalName, m_size));
    ASSAY_CHECK(file.append(base::asBytes(line)));
    m_size = file.size();
    return file.sync();
}

std::vector<ProfileRange> Journal::ranges(std::uint64_t lastStep) const {
    std::vector<ProfileRange> ranges;
    for (std::size_t i = 0; i < m_changes.size() && m_changes[i].firstStep <= lastStep; ++i) {
        const auto next = i + 1 < m_changes.size() ? m_changes[i + 1].firstStep - 1 : lastStep;
        ranges.push_back({m_changes[i].firstStep, std::min(next, lastStep), m_changes[i].profile});
    }
    return ranges;
}

} // namespace assay::format::detail
