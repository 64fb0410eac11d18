// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace assay::base {

/// What kind of failure happened. A *finding* (a proof that does not verify, an inadmissible value) is never an Error.
enum class ErrorCode {
    usage,         ///< the caller asked for something that makes no sense (exit 2)
    malformed,     ///< bytes that violate a format (exit 3)
    unreadable,    ///< a file that is missing or cannot be read (exit 3)
    environment,   ///< the machine cannot do it: disk full, no permission, missing library, busy (exit 4)
    notApplicable, ///< valid request, but this input has nothing it could apply to (exit 2)
    cancelled,     ///< stopped on request; state kept (exit 130)
    internal       ///< our own bug or a translated unexpected exception (exit 70)
};

/// A failure with all a person needs: what, where (file and byte offset), and what to try. Value type, thread-safe.
struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;                 ///< what is wrong and what was expected, one sentence, no trailing full stop
    std::string file;                    ///< path, empty where none
    std::optional<std::uint64_t> offset; ///< byte offset in `file`
    std::string remedy;                  ///< what to try, empty where nothing is known

    /// "FILE:OFFSET: message (try: remedy)".
    [[nodiscard]] std::string toString() const;
    /// Returns a copy that names `path` if no file was named yet.
    [[nodiscard]] Error inFile(std::string_view path) const;
};

/// Process exit code for an error code, as documented for the command line.
[[nodiscard]] int exitCodeFor(ErrorCode code);
/// Stable lower-case name ("malformed").
[[nodiscard]] std::string_view toString(ErrorCode code);

template <typename T>
using Result = tl::expected<T, Error>;

/// Shorthands: `return fail(ErrorCode::malformed, "...")`.
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy = {});
[[nodiscard]] tl::unexpected<Error> failAt(std::string message, std::uint64_t offset);
[[nodiscard]] tl::unexpected<Error> fail(Error error);

} // namespace assay::base

/// Evaluates a Result expression; returns its error from the enclosing function or binds its value to `name`.
#define ASSAY_TRY(name, expression)                                                                                    \
    auto name##Result = (expression);                                                                                  \
    if (!name##Result) {                                                                                               \
        return ::assay::base::fail(std::move(name##Result).error());                                                   \
    }                                                                                                                  \
    auto& name = *name##Result

/// As ASSAY_TRY for Result<void>, or where the value is not needed.
#define ASSAY_CHECK(expression)                                                                                        \
    do {                                                                                                               \
        if (auto assayCheckResult = (expression); !assayCheckResult) {                                                 \
            return ::assay::base::fail(std::move(assayCheckResult).error());                                           \
        }                                                                                                              \
    } while (false)
