// SPDX-License-Identifier: Apache-2.0
#include "core/store/detail/database.h"

#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/assert.h"

namespace assay::store::detail {

namespace {

constexpr int kBusyMs = 10'000;

/// Switching a file to WAL needs an exclusive lock for a moment, and SQLite does not wait for it by itself.
int enterWal(sqlite3* handle) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMs);
    for (;;) {
        const int code = sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
        if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) {
            return code;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

} // namespace

Query::Query(Query&& other) noexcept
    : m_database(other.m_database), m_statement(other.m_statement), m_bound(other.m_bound),
      m_bindFailed(other.m_bindFailed) {
    other.m_statement = nullptr;
}

Query::~Query() {
    if (m_statement != nullptr) {
        sqlite3_reset(m_statement);
        sqlite3_clear_bindings(m_statement);
        m_database->release(m_statement);
    }
}

Query& Query::bind(std::int64_t value) {
    m_bindFailed |= sqlite3_bind_int64(m_statement, ++m_bound, value) != SQLITE_OK;
    return *this;
}

Query& Query::bind(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        ++m_bound;
        m_bindFailed = true;
        return *this;
    }
    return bind(static_cast<std::int64_t>(value));
}

Query& Query::bind(double value) {
    m_bindFailed |= sqlite3_bind_double(m_statement, ++m_bound, value) != SQLITE_OK;
    return *this;
}

Query& Query::bind(std::string_view value) {
    m_bindFailed |= sqlite3_bind_text64(m_statement, ++m_bound, value.empty() ? "" : value.data(), value.size(),
                                        SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK;
    return *this;
}

Query& Query::bindNull() {
    m_bindFailed |= sqlite3_bind_null(m_statement, ++m_bound) != SQLITE_OK;
    return *this;
}

base::Result<bool> Query::next() {
    if (m_bindFailed) {
        base::Error error{base::ErrorCode::malformed,
                          fmt::format("a value does not fit the audit store ({})", sqlite3_sql(m_statement)),
                          m_database->path().string(),
                          std::nullopt,
                          {}};
        return base::fail(std::move(error));
    }
    ASSAY_ASSERT(m_bound == sqlite3_bind_parameter_count(m_statement));
    const int code = sqlite3_step(m_statement);
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code == SQLITE_DONE) {
        return false;
    }
    base::Error error = m_database->errorFor(code);
    sqlite3_reset(m_statement);
    return base::fail(std::move(error));
}

base::Result<void> Query::run() {
    for (;;) {
        ASSAY_TRY(more, next());
        if (!more) {
            return {};
        }
    }
}

void Query::rewind() {
    sqlite3_reset(m_statement);
    sqlite3_clear_bindings(m_statement);
    m_bound = 0;
    m_bindFailed = false;
}

std::int64_t Query::integer(int column) const {
    return sqlite3_column_int64(m_statement, column);
}

std::uint64_t Query::natural(int column) const {
    const auto value = integer(column);
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::uint32_t Query::word(int column) const {
    return static_cast<std::uint32_t>(natural(column));
}

double Query::real(int column) const {
    return sqlite3_column_double(m_statement, column);
}

std::string Query::text(int column) const {
    const auto* bytes = sqlite3_column_text(m_statement, column);
    const auto size = sqlite3_column_bytes(m_statement, column);
    return bytes == nullptr ? std::string()
                            : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::optional<std::string> Query::optionalText(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL ? std::nullopt : std::optional(text(column));
}

std::optional<std::uint64_t> Query::optionalNatural(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL ? std::nullopt : std::optional(natural(column));
}

std::optional<std::uint32_t> Query::optionalWord(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL ? std::nullopt : std::optional(word(column));
}

base::Result<std::unique_ptr<Database>> Database::open(const base::fs::path& path, Mode mode) {
    sqlite3* handle = nullptr;
    const int flags = mode == Mode::readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    // One connection is used by one thread at a time, so SQLite's own mutexes are not needed.
    const int code =
        sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    if (handle == nullptr) {
        return base::fail(base::ErrorCode::environment, "SQLite has no memory to open the audit store");
    }
    std::unique_ptr<Database> database(new Database(handle, path));
    if (code != SQLITE_OK) {
        return base::fail(database->errorFor(code));
    }
    sqlite3_busy_timeout(handle, kBusyMs);
    // A store that came from elsewhere must not be able to run anything: no functions in its schema, no writable
    // schema.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return database;
}

base::Result<void> Database::configure(Mode mode) {
    if (mode == Mode::readWrite) {
        if (const int code = enterWal(m_handle); code != SQLITE_OK) {
            return base::fail(errorFor(code));
        }
    }
    // NORMAL: a power cut may lose the last commits but never the file; a killed process loses nothing.
    return execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA "
                   "cell_size_check = ON;"
                   "PRAGMA temp_store = MEMORY");
}

Database::~Database() {
    for (auto& [text, cached] : m_statements) {
        sqlite3_finalize(cached.statement);
    }
    sqlite3_close(m_handle);
}

base::Result<Query> Database::query(std::string_view sql) {
    auto found = m_statements.find(sql);
    if (found == m_statements.end()) {
        sqlite3_stmt* statement = nullptr;
        const int code = sqlite3_prepare_v3(m_handle, sql.data(), static_cast<int>(sql.size()),
                                            SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
        if (code != SQLITE_OK) {
            return base::fail(errorFor(code));
        }
        found = m_statements.emplace(std::string(sql), Cached{statement, false}).first;
    }
    ASSAY_ASSERT(!found->second.inUse);
    found->second.inUse = true;
    return Query(*this, found->second.statement);
}

void Database::release(sqlite3_stmt* statement) {
    for (auto& [text, cached] : m_statements) {
        if (cached.statement == statement) {
            cached.inUse = false;
        }
    }
}

base::Result<void> Database::execute(const char* sql) {
    if (const int code = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr); code != SQLITE_OK) {
        return base::fail(errorFor(code));
    }
    return {};
}

std::int64_t Database::lastInsertId() const {
    return sqlite3_last_insert_rowid(m_handle);
}

std::int64_t Database::changes() const {
    return sqlite3_changes64(m_handle);
}

bool Database::inTransaction() const {
    return sqlite3_get_autocommit(m_handle) == 0;
}

base::Error Database::errorFor(int code) const {
    const std::string said = sqlite3_errmsg(m_handle);
    const int systemErrno = sqlite3_system_errno(m_handle);
    const auto make = [&](base::ErrorCode kind, std::string text, std::string remedy) {
        return base::Error{kind, std::move(text), m_path.string(), std::nullopt, std::move(remedy)};
    };
    switch (code & 0xff) {
    case SQLITE_FULL:
        return make(base::ErrorCode::environment, "no space left for the audit store; what was stored before is kept",
                    "free some space or choose another place with --store or ASSAY_STORE");
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return make(
            base::ErrorCode::environment, fmt::format("cannot write the audit store ({})", said),
            "check the permissions of the file and its folder, or choose another place with --store or ASSAY_STORE");
    case SQLITE_CANTOPEN:
        if (systemErrno != 0 && systemErrno != ENOENT) {
            return base::systemError(m_path, "open the audit store", systemErrno);
        }
        return make(
            base::ErrorCode::environment, fmt::format("cannot open the audit store ({})", said),
            "check that the folder exists and is writable, or choose another place with --store or ASSAY_STORE");
    case SQLITE_IOERR:
        if (systemErrno != 0) {
            return base::systemError(m_path, "read or write the audit store", systemErrno);
        }
        return make(base::ErrorCode::environment, fmt::format("cannot read or write the audit store ({})", said),
                    "check the disk, or choose another place with --store or ASSAY_STORE");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return make(base::ErrorCode::environment, "another process keeps the audit store locked",
                    "wait for the other process or end it");
    case SQLITE_NOMEM:
        return make(base::ErrorCode::environment, "no memory for the audit store", {});
    case SQLITE_NOTADB:
        return make(base::ErrorCode::malformed, "this file is not an audit store; it was left as it is",
                    "choose another file with --store or ASSAY_STORE");
    case SQLITE_CORRUPT:
        return make(base::ErrorCode::malformed, fmt::format("the audit store is damaged ({})", said),
                    "move it away and start a new one; \"sqlite3 FILE .recover\" may save its rows");
    case SQLITE_TOOBIG:
        return make(base::ErrorCode::malformed, "a text is too large for the audit store", {});
    default:
        return make(base::ErrorCode::internal, fmt::format("audit store: {} (SQLite code {})", said, code), {});
    }
}

base::Result<Transaction> Transaction::begin(Database& database) {
    ASSAY_CHECK(database.execute("BEGIN IMMEDIATE"));
    return Transaction(database);
}

Transaction::~Transaction() {
    // SQLite itself has rolled back after some errors (disk full); a second ROLLBACK would only complain.
    if (m_database != nullptr && m_database->inTransaction()) {
        static_cast<void>(m_database->execute("ROLLBACK"));
    }
}

base::Result<void> Transaction::commit() {
    ASSAY_CHECK(m_database->execute("COMMIT"));
    m_database = nullptr;
    return {};
}

} // namespace assay::store::detail
