// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace assay::store::detail {

class Database;

/// A prepared statement in use. Binding is positional; columns are read after next() said true. The destructor resets
/// it and clears its bindings, so no half-read query keeps the write-ahead log from being emptied. A failed bind shows
/// up in next() or run().
class Query {
public:
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    Query(Query&& other) noexcept;
    Query& operator=(Query&&) = delete;
    ~Query();

    Query& bind(std::int64_t value);
    Query& bind(std::uint64_t value); ///< values beyond 2^63-1 are a failed bind
    Query& bind(std::uint32_t value) { return bind(static_cast<std::int64_t>(value)); }
    Query& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
    Query& bind(bool value) { return bind(static_cast<std::int64_t>(value ? 1 : 0)); }
    Query& bind(double value);
    Query& bind(std::string_view value);
    Query& bind(const std::string& value) { return bind(std::string_view(value)); }
    Query& bind(const char* value) { return bind(std::string_view(value)); }
    template <typename T>
    Query& bind(const std::optional<T>& value) {
        return value ? bind(*value) : bindNull();
    }
    Query& bindNull();

    [[nodiscard]] base::Result<bool> next(); ///< true: a row is there
    [[nodiscard]] base::Result<void> run();  ///< runs to the end; rows are ignored
    void rewind();                           ///< for the next set of bindings

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::uint64_t natural(int column) const; ///< negative values (a damaged file) read as 0
    [[nodiscard]] std::uint32_t word(int column) const;    ///< likewise, cut to 32 bits
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const; ///< NULL reads as empty
    [[nodiscard]] std::optional<std::string> optionalText(int column) const;
    [[nodiscard]] std::optional<std::uint64_t> optionalNatural(int column) const;
    [[nodiscard]] std::optional<std::uint32_t> optionalWord(int column) const;

private:
    friend class Database;
    Query(Database& database, sqlite3_stmt* statement) : m_database(&database), m_statement(statement) {}
    Database* m_database;
    sqlite3_stmt* m_statement;
    int m_bound = 0;
    bool m_bindFailed = false;
};

/// One SQLite connection with its prepared statements. Not thread-safe. Movable only through its owner (fixed address).
class Database {
public:
    enum class Mode { readWrite, readOnly };
    [[nodiscard]] static base::Result<std::unique_ptr<Database>> open(const base::fs::path& path, Mode mode);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    /// Settings of every connection; readWrite also turns the file into WAL mode, so only after the file is known to be
    /// ours.
    [[nodiscard]] base::Result<void> configure(Mode mode);

    /// Cached by text: one use at a time per text.
    [[nodiscard]] base::Result<Query> query(std::string_view sql);
    /// Statements without parameters, several allowed.
    [[nodiscard]] base::Result<void> execute(const char* sql);
    [[nodiscard]] std::int64_t lastInsertId() const;
    [[nodiscard]] std::int64_t changes() const; ///< rows that the last statement changed
    [[nodiscard]] bool inTransaction() const;
    [[nodiscard]] const base::fs::path& path() const { return m_path; }
    /// Error for a SQLite result code, with a remedy.
    [[nodiscard]] base::Error errorFor(int code) const;

private:
    friend class Query;
    struct Cached {
        sqlite3_stmt* statement;
        bool inUse;
    };
    Database(sqlite3* handle, base::fs::path path) : m_handle(handle), m_path(std::move(path)) {}
    void release(sqlite3_stmt* statement);
    sqlite3* m_handle;
    base::fs::path m_path;
    std::map<std::string, Cached, std::less<>> m_statements;
};

/// A write transaction (BEGIN IMMEDIATE); rolled back unless commit() succeeded.
class Transaction {
public:
    [[nodiscard]] static base::Result<Transaction> begin(Database& database);
    Transaction(Transaction&& other) noexcept : m_database(other.m_database) { other.m_database = nullptr; }
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    [[nodiscard]] base::Result<void> commit();

private:
    explicit Transaction(Database& database) : m_database(&database) {}
    Database* m_database;
};

} // namespace assay::store::detail
