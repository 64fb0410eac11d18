// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::cli {

struct OrderCheck {
    std::string name; ///< "program", "initial state", "seed", "data"
    bool passed = false;
    std::string detail;
};

struct OrderReport {
    base::Digest digest;
    std::vector<OrderCheck> checks;
    [[nodiscard]] bool passed() const;
};

/// Compares an order with the files beside it and with its data folder. An Error means that a file is missing or
/// malformed.
[[nodiscard]] base::Result<OrderReport> checkOrderFiles(const base::fs::path& orderFile,
                                                        const base::fs::path& dataFolder);

} // namespace assay::cli
