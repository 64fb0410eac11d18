// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/submission_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/format/submission.h"

namespace assay::format {

std::string logName(std::uint64_t step) {
    return fmt::format("{}/{:06d}.rlog", detail::kLogFolder, step);
}

std::string checkpointName(std::uint64_t step) {
    return fmt::format("{}/{:06d}.safetensors", detail::kCheckpointFolder, step);
}

} // namespace assay::format

namespace assay::format::detail {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// The number between the slash and the dot, if the whole name is what `make` gives for it.
template <typename Make>
std::optional<std::uint64_t> stepOf(std::string_view name, std::string_view folder, Make make) {
    if (name.size() <= folder.size() + 1 || !name.starts_with(folder)) {
        return std::nullopt;
    }
    std::uint64_t step = 0;
    const auto* first = name.data() + folder.size() + 1;
    const auto parsed = std::from_chars(first, name.data() + name.size(), step);
    if (parsed.ec != std::errc() || make(step) != name) {
        return std::nullopt;
    }
    return step;
}

} // namespace

std::optional<std::uint64_t> stepOfLog(std::string_view name) {
    return stepOf(name, kLogFolder, logName);
}

std::optional<std::uint64_t> stepOfCheckpoint(std::string_view name) {
    return stepOf(name, kCheckpointFolder, checkpointName);
}

bool isSubmissionFile(std::string_view name) {
    static constexpr std::array kNames{kManifestName, kOrderName,      kProgramName,    kInitName,       kLeavesName,
                                       kStepsName,    kStepsIndexName, kCommitmentName, kAttestationName};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || stepOfLog(name).value_or(0) > 0 ||
           stepOfCheckpoint(name).value_or(0) > 0;
}

Result<std::vector<ScannedFile>> scanFolder(const base::fs::path& folder) {
    namespace fs = base::fs;
    std::vector<ScannedFile> files;
    const auto bad = [](const fs::path& path, std::string what) {
        return fail(
            Error{ErrorCode::malformed, std::move(what), path.string(), std::nullopt, "remove it from the submission"});
    };
    const auto scan = [&](const fs::path& where, const std::string& prefix) -> Result<std::vector<std::string>> {
        std::vector<std::string> folders;
        std::error_code code;
        for (fs::directory_iterator it(where, code), end; !code && it != end; it.increment(code)) {
            const auto name = it->path().filename().string();
            const auto status = it->symlink_status(code);
            if (code) {
                break;
            }
            if (fs::is_directory(status)) {
                if (!prefix.empty() || (name != kLogFolder && name != kCheckpointFolder)) {
                    return bad(it->path(), "a folder that does not belong into a submission");
                }
                folders.push_back(name);
            } else if (fs::is_regular_file(status)) {
                files.push_back({prefix + name, it->file_size(code)});
            } else {
                return bad(it->path(), "neither a regular file nor a folder");
            }
        }
        if (code) {
            return fail(base::systemError(where, "cannot read the folder", code.value()));
        }
        return folders;
    };
    ASSAY_TRY(folders, scan(folder, ""));
    for (const auto& name : folders) {
        ASSAY_CHECK(scan(folder / name, name + "/"));
    }
    std::sort(files.begin(), files.end(), [](const ScannedFile& a, const ScannedFile& b) { return a.name < b.name; });
    return files;
}

Result<void> syncFileSystem(const base::fs::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return fail(base::systemError(folder, "cannot sync", errno));
    }
    const int result = ::syncfs(fd);
    const int number = errno;
    ::close(fd);
    if (result != 0) {
        return fail(base::systemError(folder, "cannot sync", number));
    }
    return {};
}

} // namespace assay::format::detail
