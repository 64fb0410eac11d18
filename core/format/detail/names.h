// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/format/json.h"

namespace assay::format::detail {

/// A file name without any folder: not empty, at most 255 bytes of UTF-8, no '/', '\\' or control character, not "." or
/// "..".
[[nodiscard]] inline bool isPlainName(std::string_view name) {
    if (name.empty() || name.size() > 255 || name == "." || name == ".." || !isUtf8(name)) {
        return false;
    }
    for (const char c : name) {
        if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            return false;
        }
    }
    return true;
}

/// A relative path with '/' whose every part is a plain name; at most 1024 bytes.
[[nodiscard]] inline bool isRelativePath(std::string_view path) {
    if (path.size() > 1024) {
        return false;
    }
    for (;;) {
        const auto slash = path.find('/');
        if (!isPlainName(path.substr(0, slash))) {
            return false;
        }
        if (slash == std::string_view::npos) {
            return true;
        }
        path.remove_prefix(slash + 1);
    }
}

/// A name of a value, tensor or operator: 1 to 512 bytes of UTF-8 without control characters or blanks.
[[nodiscard]] inline bool isValueName(std::string_view name) {
    if (name.empty() || name.size() > 512 || !isUtf8(name)) {
        return false;
    }
    for (const char c : name) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) {
            return false;
        }
    }
    return true;
}

/// ASCII letters to lower case, for finding names that some file systems cannot tell apart.
[[nodiscard]] inline std::string foldCase(std::string_view name) {
    std::string folded(name);
    for (char& c : folded) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return folded;
}

} // namespace assay::format::detail
