// SPDX-License-Identifier: Apache-2.0
#include "core/store/audit_store.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "core/store/detail/migrations.h"
#include "core/store/detail/state.h"

namespace assay::store {

namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

/// Looks at the first bytes with plain reads, so that SQLite never opens (and never recovers, locks or creates files
/// beside) a file that is obviously something else. application_id is big-endian at offset 68
/// (https://www.sqlite.org/fileformat2.html, 1.3).
base::Result<void> refuseForeignFile(const base::fs::path& path) {
    std::error_code error;
    const auto status = base::fs::status(path, error);
    if (!base::fs::exists(status)) {
        return {};
    }
    const auto refuse = [&](std::string text) {
        return base::fail(base::Error{base::ErrorCode::malformed, std::move(text), path.string(), std::nullopt,
                                      "choose another file with --store or ASSAY_STORE"});
    };
    if (!base::fs::is_regular_file(status)) {
        return refuse("the audit store must be a regular file");
    }
    std::FILE* file = std::fopen(path.c_str(), "rbe");
    if (file == nullptr) {
        return base::fail(base::systemError(path, "open the audit store", errno));
    }
    std::array<unsigned char, 100> head{};
    const auto got = std::fread(head.data(), 1, head.size(), file);
    std::fclose(file);
    if (got == 0) {
        return {}; // an empty file becomes a new store
    }
    if (got < head.size() || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) {
        return refuse("this file is not an audit store; it was left as it is");
    }
    const auto id = static_cast<std::uint32_t>(head[68]) << 24 | static_cast<std::uint32_t>(head[69]) << 16 |
                    static_cast<std::uint32_t>(head[70]) << 8 | static_cast<std::uint32_t>(head[71]);
    // 0: a new store whose first commit is still in the write-ahead log, or another program's file; SQLite will tell.
    if (id != 0 && id != static_cast<std::uint32_t>(detail::kApplicationId)) {
        return refuse("this SQLite file belongs to another program; it was left as it is");
    }
    return {};
}

} // namespace

std::int64_t detail::nowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string_view auditStateName(AuditState state) {
    switch (state) {
    case AuditState::running:
        return "running";
    case AuditState::paused:
        return "paused";
    case AuditState::interrupted:
        return "interrupted";
    case AuditState::finished:
        return "finished";
    }
    return "interrupted";
}

int currentSchemaVersion() {
    return static_cast<int>(detail::migrations().size());
}

AuditStore::AuditStore(std::unique_ptr<State> state) : m_state(std::move(state)) {}
AuditStore::AuditStore(AuditStore&&) noexcept = default;
AuditStore& AuditStore::operator=(AuditStore&&) noexcept = default;
AuditStore::~AuditStore() = default;

base::Result<AuditStore> AuditStore::open(const base::fs::path& path, Mode mode) {
    ASSAY_CHECK(refuseForeignFile(path));
    auto state = std::make_unique<State>();
    state->owner = currentOwner();
    if (mode == Mode::readOnly) {
        ASSAY_TRY(database, detail::Database::open(path, detail::Database::Mode::readOnly));
        state->database = std::move(database);
        ASSAY_CHECK(detail::requireCurrent(*state->database));
        return AuditStore(std::move(state));
    }
    if (path.has_parent_path()) {
        if (auto made = base::makeFolders(path.parent_path()); !made) {
            auto error = std::move(made).error();
            error.code = base::ErrorCode::environment; // a place to write to, so nothing is wrong with anybody's input
            error.message = "no place for the audit store: " + error.message;
            error.remedy = "choose another place with --store or ASSAY_STORE";
            return base::fail(std::move(error));
        }
    }
    ASSAY_TRY(database, detail::Database::open(path, detail::Database::Mode::readWrite));
    state->database = std::move(database);
    ASSAY_CHECK(detail::migrate(*state->database, currentSchemaVersion()));
    return AuditStore(std::move(state));
}

const base::fs::path& AuditStore::path() const {
    return m_state->database->path();
}

base::Result<void> AuditStore::checkIntegrity() const {
    ASSAY_TRY(query, m_state->database->query("PRAGMA integrity_check(1)"));
    ASSAY_TRY(row, query.next());
    const std::string answer = row ? query.text(0) : "no answer";
    if (answer != "ok") {
        return base::fail(base::Error{base::ErrorCode::malformed, fmt::format("the audit store is damaged: {}", answer),
                                      path().string(), std::nullopt,
                                      "move it away and start a new one; \"sqlite3 FILE .recover\" may save its rows"});
    }
    ASSAY_TRY(keys, m_state->database->query("PRAGMA foreign_key_check"));
    ASSAY_TRY(orphan, keys.next());
    if (orphan) {
        return base::fail(
            base::Error{base::ErrorCode::malformed,
                        fmt::format("the audit store is damaged: table {} refers to nothing", keys.text(0)),
                        path().string(),
                        std::nullopt,
                        {}});
    }
    return {};
}

} // namespace assay::store
