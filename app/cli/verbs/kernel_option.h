// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/verb_spec.h"

namespace assay::cli {

/// An option that takes a kernel profile. The engine checks it: it knows the processor.
OptionSpec& addKernelOption(VerbSpec& verb, std::string name, std::string help, std::string& target);

} // namespace assay::cli
