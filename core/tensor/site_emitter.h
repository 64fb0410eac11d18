// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/numerics/product_bound.h"

namespace assay::tensor {

/// Receives every site of an operator in execution order. `site` is the position in the list that forwardSites or
/// backwardSites gave. Implemented by recorder, replayer, tamperer and tests. An error stops the operator at once and
/// is passed on unchanged. Called on the thread that runs the operator.
class SiteEmitter {
public:
    virtual ~SiteEmitter() = default;
    /// One panel of a product site: rounds panel.y to out[panel.values()]. The panels of a site come in increasing and
    /// gapless index order (panel.indexBase = number of values before). `out` points into the site's tensor.
    [[nodiscard]] virtual base::Result<void> product(std::uint32_t site, const numerics::ProductSite& panel,
                                                     float* out) = 0;
    /// The site is complete: all its values, in place. After the last panel of a product; the only call for a site of
    /// specified order (D = 0), whose values are already rounded. Later operators see what is in `values` on return.
    [[nodiscard]] virtual base::Result<void> completed(std::uint32_t site, std::span<float> values) = 0;
};

} // namespace assay::tensor
