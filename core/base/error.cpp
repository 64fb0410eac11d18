// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <fmt/format.h>

namespace assay::base {

std::string Error::toString() const {
    std::string text;
    if (!file.empty()) {
        text += file;
        if (offset) {
            text += fmt::format(", byte {}", *offset);
        }
        text += ": ";
    } else if (offset) {
        text += fmt::format("byte {}: ", *offset);
    }
    text += message;
    if (!remedy.empty()) {
        text += fmt::format(". Try: {}", remedy);
    }
    return text;
}

Error Error::inFile(std::string_view path) const {
    Error copy = *this;
    if (copy.file.empty()) {
        copy.file = path;
    }
    return copy;
}

int exitCodeFor(ErrorCode code) {
    switch (code) {
    case ErrorCode::usage:
    case ErrorCode::notApplicable:
        return 2;
    case ErrorCode::malformed:
    case ErrorCode::unreadable:
        return 3;
    case ErrorCode::environment:
        return 4;
    case ErrorCode::cancelled:
        return 130;
    case ErrorCode::internal:
        return 70;
    }
    return 70;
}

std::string_view toString(ErrorCode code) {
    switch (code) {
    case ErrorCode::usage:
        return "usage";
    case ErrorCode::malformed:
        return "malformed";
    case ErrorCode::unreadable:
        return "unreadable";
    case ErrorCode::environment:
        return "environment";
    case ErrorCode::notApplicable:
        return "not_applicable";
    case ErrorCode::cancelled:
        return "cancelled";
    case ErrorCode::internal:
        return "internal";
    }
    return "internal";
}

tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy) {
    return tl::unexpected<Error>(Error{code, std::move(message), {}, std::nullopt, std::move(remedy)});
}

tl::unexpected<Error> failAt(std::string message, std::uint64_t offset) {
    return tl::unexpected<Error>(Error{ErrorCode::malformed, std::move(message), {}, offset, {}});
}

tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

} // namespace assay::base
