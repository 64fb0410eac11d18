// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace assay::tensor {

/// How matrix products are computed: which of OpenBLAS's kernels, in which order inside a block, with how many threads.
/// Different profiles give different low bits, as different GPUs do. Text form: parts separated by commas, in any
/// order: `haswell | skylakex | prescott | barcelona | default`, `reversed`, `splitk`, `threads=N`, `noise=X`.
struct KernelProfile {
    std::string core = "default"; ///< an allowed core type; "default": the one that OpenBLAS finds itself
    bool reversed = false;        ///< each block's terms in reverse order
    bool splitK = false;          ///< each block as two products, then added
    int threads = 0;              ///< of OpenBLAS and of our own loops (whose bits do not depend on it); 0: one per CPU
    double noise = 0.0;           ///< adds seeded uniform noise of +- noise * D to every product, 0 <= noise <= 1

    /// `usage` with the allowed parts otherwise. Each part at most once.
    [[nodiscard]] static base::Result<KernelProfile> parse(std::string_view text);
    /// Canonical: core first, then reversed, splitk, threads, noise where they differ from the default.
    [[nodiscard]] std::string toString() const;

    /// Value that the environment variable OPENBLAS_CORETYPE must have when the library loads; nullptr: it must not be
    /// set.
    [[nodiscard]] const char* coreTypeForEnvironment() const;
    /// True if OPENBLAS_CORETYPE is not what this profile needs, so that the process must set or unset it and start
    /// itself again. Reads the environment: call before other threads start.
    [[nodiscard]] bool needsRestart() const;

    bool operator==(const KernelProfile&) const = default;
};

/// Names that `core` may have.
[[nodiscard]] const std::vector<std::string>& allowedCores();
/// `environment` if this CPU lacks instructions that the core type's kernels use (they would crash).
[[nodiscard]] base::Result<void> checkSupported(const KernelProfile& profile);

/// What computes the products, for reports.
struct KernelInfo {
    std::string blas;    ///< OpenBLAS's configuration text (version, options)
    std::string core;    ///< core type that is loaded, as OpenBLAS names it
    int threads = 1;     ///< threads in use
    std::string profile; ///< the profile, canonical, with the thread count filled in
};

/// Checks the CPU, the floating-point environment of this thread and that OpenBLAS loaded the core type asked for
/// (unknown names fall back silently), and sets OpenBLAS's thread count. `environment` (exit 4) otherwise.
/// Process-wide: call once, before any product.
[[nodiscard]] base::Result<KernelInfo> activate(const KernelProfile& profile);

} // namespace assay::tensor
