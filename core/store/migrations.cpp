// SPDX-License-Identifier: Apache-2.0
#include "core/store/detail/migrations.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/store/detail/database.h"

namespace assay::store::detail {

namespace {

base::Result<std::int64_t> single(Database& database, std::string_view sql) {
    ASSAY_TRY(query, database.query(sql));
    ASSAY_TRY(row, query.next());
    return row ? query.integer(0) : 0;
}

base::Result<int> identifyInOneTransaction(Database& database) {
    ASSAY_TRY(application, single(database, "PRAGMA application_id"));
    ASSAY_TRY(version, single(database, "PRAGMA user_version"));
    ASSAY_TRY(objects, single(database, "SELECT count(*) FROM sqlite_schema"));
    const auto newest = static_cast<std::int64_t>(migrations().size());
    if (application == 0 && version == 0 && objects == 0) {
        return 0;
    }
    base::Error error{base::ErrorCode::malformed, {}, database.path().string(), std::nullopt, {}};
    if (application != kApplicationId || version < 1) {
        error.message = "this SQLite file belongs to another program; it was left as it is";
        error.remedy = "choose another file with --store or ASSAY_STORE";
        return base::fail(std::move(error));
    }
    if (version > newest) {
        error.code = base::ErrorCode::environment;
        error.message = fmt::format(
            "the audit store has schema version {}, this release knows versions up to {}; it was left as it is",
            version, newest);
        error.remedy = "use the newer release, or choose another file with --store or ASSAY_STORE";
        return base::fail(std::move(error));
    }
    return static_cast<int>(version);
}

/// Version of our own file, 0 for an empty one; an error for anything else. Writes nothing. All of it is read in one
/// transaction: between two separate reads another process may turn an empty file into a store.
base::Result<int> identify(Database& database) {
    if (database.inTransaction()) {
        return identifyInOneTransaction(database);
    }
    ASSAY_CHECK(database.execute("BEGIN"));
    auto version = identifyInOneTransaction(database);
    ASSAY_CHECK(database.execute("ROLLBACK"));
    return version;
}

} // namespace

base::Result<void> migrate(Database& database, int target) {
    ASSAY_ASSERT(target >= 1 && target <= static_cast<int>(migrations().size()));
    ASSAY_TRY(before, identify(database));
    ASSAY_CHECK(database.configure(Database::Mode::readWrite));
    if (before >= target) {
        return {};
    }
    ASSAY_TRY(transaction, Transaction::begin(database));
    ASSAY_TRY(version, identify(database)); // another process may have been faster
    for (const auto& migration : migrations()) {
        if (migration.version > version && migration.version <= target) {
            ASSAY_CHECK(database.execute(migration.sql));
        }
    }
    if (version < target) {
        ASSAY_CHECK(database.execute(
            fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, target).c_str()));
    }
    return transaction.commit();
}

base::Result<void> requireCurrent(Database& database) {
    ASSAY_TRY(version, identify(database));
    const auto newest = static_cast<int>(migrations().size());
    if (version != newest) {
        return base::fail(
            base::Error{base::ErrorCode::environment,
                        fmt::format("the audit store has schema version {}, version {} is needed", version, newest),
                        database.path().string(), std::nullopt, "open it once for writing, which updates it"});
    }
    return database.configure(Database::Mode::readOnly);
}

} // namespace assay::store::detail
