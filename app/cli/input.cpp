// SPDX-License-Identifier: Apache-2.0
#include "app/cli/input.h"

#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

Result<std::string> readInput(const std::string& file, std::uint64_t limit) {
    if (file != "-") {
        return base::readTextFile(file, limit);
    }
    std::string text;
    char buffer[1 << 16];
    for (;;) {
        const auto got = std::fread(buffer, 1, sizeof buffer, stdin);
        text.append(buffer, got);
        if (text.size() > limit) {
            return fail(ErrorCode::malformed, fmt::format("standard input holds more than {} bytes", limit));
        }
        if (got < sizeof buffer) {
            if (std::ferror(stdin) != 0) {
                return fail(base::systemError("-", "cannot read standard input", errno));
            }
            return text;
        }
    }
}

Result<void> refuseExisting(const fs::path& path) {
    std::error_code code;
    if (fs::exists(fs::symlink_status(path, code))) {
        return fail(Error{ErrorCode::usage, "is there already and is not overwritten", path.string(), std::nullopt,
                          "choose another name, or remove it first"});
    }
    return path.has_parent_path() ? base::makeFolders(path.parent_path()) : Result<void>{};
}

Result<fs::path> findOrder(const std::string& path) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
        const auto inside = fs::path(path) / "order.json";
        if (!fs::exists(inside, code)) {
            return fail(Error{ErrorCode::unreadable, "this folder holds no order.json", path, std::nullopt,
                              "name the order's own folder or file; assay order new makes one"});
        }
        return inside;
    }
    if (!fs::exists(path, code)) {
        return fail(Error{ErrorCode::unreadable, "there is no such order", path, std::nullopt,
                          "check the path; assay order new makes an order"});
    }
    return fs::path(path);
}

fs::path dataFolder(const std::string& given, const fs::path& orderFile) {
    if (!given.empty()) {
        return given;
    }
    return orderFile.has_parent_path() ? orderFile.parent_path() : fs::path(".");
}

} // namespace assay::cli
