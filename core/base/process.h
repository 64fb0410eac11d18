// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace assay::base {

struct ProcessRequest {
    std::vector<std::string> arguments; ///< arguments[0] is the executable path
    std::string input;                  ///< written to its standard input; then stdin stays open until the child ends, so a
                                        ///< child can take end-of-file as "my parent died"
    std::function<void(std::string_view line)> onOutputLine; ///< each stdout line without its newline
    bool inheritStderr = true;
};

struct ProcessEnd {
    int exitCode = -1; ///< valid when signal == 0
    int signal = 0;    ///< terminating signal, 0 if none
};

/// Runs a child to its end, delivering stdout line by line on the calling thread. When `stop` is requested the child gets the
/// line "cancel" on stdin once (it should end in an orderly way with its state kept). The child gets SIGKILL if the calling
/// process dies (PR_SET_PDEATHSIG). `environment` if it cannot be started. A stdout line is limited to 64 MiB.
[[nodiscard]] Result<ProcessEnd> runProcess(const ProcessRequest& request, std::stop_token stop = {});

/// Standard input, output and error that the caller closed are opened on /dev/null, so that no file of ours gets their
/// numbers and is mixed with messages. Output is opened for reading only: writing a result nowhere must still fail.
/// For the first lines of main().
void keepStandardStreams();

/// Folder of the running executable (/proc/self/exe).
[[nodiscard]] std::string executableFolder();

} // namespace assay::base
