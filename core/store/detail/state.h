// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/store/audit_store.h"
#include "core/store/detail/database.h"

namespace assay::store {

struct AuditStore::State {
    std::unique_ptr<detail::Database> database;
    std::string owner; ///< of this process

    /// Inside a transaction: `usage` unless this process works on the audit; also notes the time of the change.
    [[nodiscard]] base::Result<void> requireOwned(AuditId id);
    /// Inside a transaction.
    [[nodiscard]] base::Result<void> writeJournal(std::optional<AuditId> id, std::string_view action,
                                                  std::string_view detail);
};

namespace detail {
[[nodiscard]] std::int64_t nowMs(); ///< Unix time
/// SQLite reads a negative limit as "all"; ours is never that.
[[nodiscard]] inline std::int64_t limitOf(std::size_t limit) {
    return static_cast<std::int64_t>(limit & 0x7fffffffU);
}
} // namespace detail

} // namespace assay::store
