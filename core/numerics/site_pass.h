// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/numerics/isa.h"
#include "core/numerics/product_bound.h"
#include "core/numerics/rounding_log.h"

namespace assay::numerics {

/// Trainer's side of one product: rounds y to out[rows * cols] and appends an entry for every element in doubt, in
/// index order. One pass over y. Thread-safe for distinct arguments. Elements whose bound is not finite get no entry;
/// `finite` is then false and the step must end as diverged.
RecordStats recordSite(const ProductSite& site, float* out, SiteLog& appendTo);

/// Auditor's side: rounds y to out, taking the logged value wherever an entry is admissible, and lists every broken
/// rule (02: missing, illegal, unfitting, malformed, unordered, out-of-range entries). Where an entry is inadmissible
/// the auditor's own rounding is taken. `entries` are those of this product's index range only, see takeEntriesBelow.
/// With `ignoreLog` it takes its own rounding everywhere and reports no offence.
EnforceStats enforceSite(const ProductSite& site, std::span<const LogEntry> entries, float* out,
                         bool ignoreLog = false);

/// How one element stands from the auditor's side: what it takes, demands and permits. For the judge's neighbours, for
/// tampering on purpose and for display.
struct ElementView {
    double y = 0.0;
    double bound = 0.0; ///< D
    float own = 0.0F;
    KeyInterval takes;
    KeyInterval permits;
    [[nodiscard]] bool demandsEntry() const { return takes.count() > 1; }
    [[nodiscard]] bool permitsEntry() const { return permits.count() > 1; }
};
/// Precondition: index in [indexBase, indexBase + values()).
[[nodiscard]] ElementView viewElement(const ProductSite& site, std::uint64_t index);

} // namespace assay::numerics
