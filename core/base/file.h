// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace assay::base {

namespace fs = std::filesystem;

/// Reads a whole regular file. `limit` in bytes: a larger file is `malformed` without being read. Links are followed.
[[nodiscard]] Result<ByteVector> readFile(const fs::path& path, std::uint64_t limit);
[[nodiscard]] Result<std::string> readTextFile(const fs::path& path, std::uint64_t limit);

/// Writes via a temporary file in the same folder, fsync, rename, fsync of the folder: after a crash either the old or the
/// new content is there, whole. `environment` with a remedy on a full disk or missing permission; the temporary is removed.
[[nodiscard]] Result<void> writeFileAtomic(const fs::path& path, ByteView bytes);
[[nodiscard]] Result<void> writeFileAtomic(const fs::path& path, std::string_view text);
/// Creates folders as needed; `environment` if it cannot.
[[nodiscard]] Result<void> makeFolders(const fs::path& path);
/// fsync of a folder, so that names created in it survive a power cut.
[[nodiscard]] Result<void> syncFolder(const fs::path& path);
[[nodiscard]] Result<std::uint64_t> fileSize(const fs::path& path);
/// Error for the current `errno` on `path`, with a remedy for the common ones (ENOSPC, EACCES, ENOENT, EROFS).
[[nodiscard]] Error systemError(const fs::path& path, std::string_view action, int errorNumber);

/// Read-only view of a whole file (mmap; an empty file gives an empty view). Movable; unmaps on destruction.
/// A file that shrinks while mapped raises SIGBUS, so evidence is opened only where nobody else writes it.
class MappedFile {
public:
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();
    [[nodiscard]] static Result<MappedFile> open(const fs::path& path);
    [[nodiscard]] ByteView bytes() const { return {m_data, m_size}; }

private:
    const std::uint8_t* m_data = nullptr;
    std::size_t m_size = 0;
};

/// Exclusive advisory lock (flock on `path`, created if missing). Held while the object lives; freed by the kernel when the
/// process dies, so a kill never leaves a stale lock.
class FileLock {
public:
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();
    /// `environment` if another process holds it.
    [[nodiscard]] static Result<FileLock> acquire(const fs::path& path);

private:
    explicit FileLock(int fd) : m_fd(fd) {}
    int m_fd = -1;
};

/// Appends records to a file and makes them durable on `sync`. Opened for append, created if missing.
class AppendFile {
public:
    AppendFile(AppendFile&& other) noexcept;
    AppendFile& operator=(AppendFile&& other) noexcept;
    AppendFile(const AppendFile&) = delete;
    AppendFile& operator=(const AppendFile&) = delete;
    ~AppendFile();
    /// Cuts the file to `keep` bytes first if it is longer (a torn tail after a crash).
    [[nodiscard]] static Result<AppendFile> open(const fs::path& path, std::uint64_t keep);
    [[nodiscard]] Result<void> append(ByteView bytes);
    [[nodiscard]] Result<void> sync();
    [[nodiscard]] std::uint64_t size() const { return m_size; }

private:
    AppendFile(int fd, fs::path path, std::uint64_t size) : m_fd(fd), m_path(std::move(path)), m_size(size) {}
    int m_fd = -1;
    fs::path m_path;
    std::uint64_t m_size = 0;
};

/// A new private folder under the system's temporary folder; removed with all content on destruction.
class TemporaryFolder {
public:
    [[nodiscard]] static Result<TemporaryFolder> create(std::string_view prefix = "assay");
    TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::move(other.m_path)) { other.m_path.clear(); }
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const fs::path& path() const { return m_path; }

private:
    explicit TemporaryFolder(fs::path path) : m_path(std::move(path)) {}
    fs::path m_path;
};

} // namespace assay::base
