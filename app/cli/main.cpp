// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "app/cli/parser.h"
#include "app/cli/verbs/verbs.h"
#include "core/base/process.h"

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error to report, not a reason to vanish
    std::signal(SIGXFSZ, SIG_IGN); // likewise a file that hits its size limit
    assay::base::keepStandardStreams();
    assay::cli::Session session;
    session.arguments.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
    assay::cli::VerbSpec root("assay",
                              "Checks that a training run which somebody else carried out was done as ordered");
    declareVerbs(root, session);
    return assay::cli::runCommandLine(root, session);
}
