// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/kernel_option.h"

namespace assay::cli {

OptionSpec& addKernelOption(VerbSpec& verb, std::string name, std::string help, std::string& target) {
    help +=
        ": default, haswell, skylakex, prescott or barcelona, and after commas reversed, splitk, threads=N, noise=X";
    return verb.text(std::move(name), "K", std::move(help), target);
}

} // namespace assay::cli
