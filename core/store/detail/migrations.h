// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "core/base/error.h"

namespace assay::store::detail {

class Database;

struct Migration {
    int version;
    const char* name;
    const char* sql;
};
/// All migrations, numbered 1, 2, 3, ... (generated from resources/sql).
[[nodiscard]] std::span<const Migration> migrations();

/// Marks our files (SQLite's application_id): "ASAY". Persistent.
inline constexpr int kApplicationId = 0x41534159;

/// Refuses foreign files and newer schemas without writing; then applies what is missing, all in one transaction, up to
/// `target`. Safe against other processes that do the same.
[[nodiscard]] base::Result<void> migrate(Database& database, int target);
/// Checks without writing that the file is a store of exactly the current version (for read-only connections).
[[nodiscard]] base::Result<void> requireCurrent(Database& database);

} // namespace assay::store::detail
