// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/cli/console.h"

namespace assay::cli {

/// How the progress of a long verb is shown on standard error.
enum class ProgressMode { automatic, line, jsonLines, none };

/// One run of the program: where to write, and what every verb needs to know.
struct Session {
    Console console;
    std::vector<std::string> arguments; ///< as given, without the program's own name
    std::string verb;                   ///< "order new"
    bool json = false;                  ///< the result as one JSON object
    ProgressMode progress = ProgressMode::automatic;

    /// The present command line as text for a shell, with `extra` appended unless it is there already.
    [[nodiscard]] std::string commandWith(std::string_view extra) const;
};

} // namespace assay::cli
