// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace assay::base {

namespace {

class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_fd >= 0) {
            ::close(m_fd);
        }
    }
    [[nodiscard]] int get() const { return m_fd; }

private:
    int m_fd;
};

Result<std::uint64_t> regularSize(int fd, const fs::path& path) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        return fail(systemError(path, "cannot read", errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail(Error{ErrorCode::unreadable, "not a regular file", path.string(), std::nullopt, {}});
    }
    return static_cast<std::uint64_t>(info.st_size);
}

Result<void> writeAll(int fd, ByteView bytes, const fs::path& path) {
    while (!bytes.empty()) {
        const auto written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail(systemError(path, "cannot write", errno));
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

/// What cannot be opened is unreadable, unless it is this process that has run out of something.
Error cannotOpen(const fs::path& path, int errorNumber) {
    auto error = systemError(path, "cannot open", errorNumber);
    const bool exhausted =
        errorNumber == EMFILE || errorNumber == ENFILE || errorNumber == ENOMEM || errorNumber == EIO;
    error.code = exhausted ? ErrorCode::environment : ErrorCode::unreadable;
    if (errorNumber == EMFILE) {
        error.remedy = "allow more open files (ulimit -n)";
    }
    return error;
}

/// A place where nothing can be made is a matter of the machine, also where a part of the path is missing.
Error cannotCreate(const fs::path& path, std::string_view action, int errorNumber) {
    auto error = systemError(path, action, errorNumber);
    error.code = ErrorCode::environment;
    return error;
}

} // namespace

Error systemError(const fs::path& path, std::string_view action, int errorNumber) {
    Error error;
    error.file = path.string();
    error.message = fmt::format("{}: {}", action, std::strerror(errorNumber));
    error.code = ErrorCode::environment;
    switch (errorNumber) {
    case ENOSPC:
    case EDQUOT:
        error.remedy = "free some disk space, then run the same command again";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        error.remedy = "choose a folder that you may write, or change its permissions";
        break;
    case ENOENT:
    case ENOTDIR:
        error.code = ErrorCode::unreadable;
        error.remedy = "check the path";
        break;
    default:
        break;
    }
    return error;
}

Result<ByteVector> readFile(const fs::path& path, std::uint64_t limit) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) {
        return fail(cannotOpen(path, errno));
    }
    ASSAY_TRY(size, regularSize(fd.get(), path));
    if (size > limit) {
        return fail(Error{ErrorCode::malformed,
                          fmt::format("file has {} bytes, at most {} are accepted here", size, limit),
                          path.string(),
                          limit,
                          {}});
    }
    ByteVector bytes(size);
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto got = ::read(fd.get(), bytes.data() + at, bytes.size() - at);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail(systemError(path, "cannot read", errno));
        }
        if (got == 0) {
            bytes.resize(at);
            break;
        }
        at += static_cast<std::size_t>(got);
    }
    return bytes;
}

Result<std::string> readTextFile(const fs::path& path, std::uint64_t limit) {
    ASSAY_TRY(bytes, readFile(path, limit));
    return std::string(asText(bytes));
}

Result<void> writeFileAtomic(const fs::path& path, ByteView bytes) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::string temporary = (folder / fmt::format(".{}.XXXXXX", path.filename().string())).string();
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) {
        return fail(cannotCreate(path, "cannot create", errno));
    }
    auto result = [&]() -> Result<void> {
        const Descriptor owned(fd);
        ASSAY_CHECK(writeAll(fd, bytes, path));
        if (::fchmod(fd, 0644) != 0 || ::fsync(fd) != 0) {
            return fail(systemError(path, "cannot write", errno));
        }
        return {};
    }();
    if (result && ::rename(temporary.c_str(), path.c_str()) != 0) {
        result = fail(systemError(path, "cannot replace", errno));
    }
    if (!result) {
        ::unlink(temporary.c_str());
        return result;
    }
    return syncFolder(folder);
}

Result<void> writeFileAtomic(const fs::path& path, std::string_view text) {
    return writeFileAtomic(path, asBytes(text));
}

Result<void> makeFolders(const fs::path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) {
        return fail(cannotCreate(path, "cannot create folder", code.value()));
    }
    return {};
}

Result<void> syncFolder(const fs::path& path) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) {
        return fail(systemError(path, "cannot sync folder", errno));
    }
    return {};
}

Result<std::uint64_t> fileSize(const fs::path& path) {
    std::error_code code;
    const auto size = fs::file_size(path, code);
    if (code) {
        auto error = systemError(path, "cannot read", code.value());
        error.code = ErrorCode::unreadable;
        return fail(std::move(error));
    }
    return size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    return *this;
}

MappedFile::~MappedFile() {
    if (m_data != nullptr) {
        ::munmap(const_cast<std::uint8_t*>(m_data), m_size);
    }
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) {
        return fail(cannotOpen(path, errno));
    }
    ASSAY_TRY(size, regularSize(fd.get(), path));
    MappedFile mapped;
    if (size > 0) {
        void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
        if (data == MAP_FAILED) {
            return fail(systemError(path, "cannot map", errno));
        }
        mapped.m_data = static_cast<const std::uint8_t*>(data);
        mapped.m_size = size;
    }
    return mapped;
}

FileLock::FileLock(FileLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

FileLock::~FileLock() {
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

Result<FileLock> FileLock::acquire(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return fail(systemError(path, "cannot open lock", errno));
    }
    FileLock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return fail(Error{ErrorCode::environment, "another process is working on this", path.string(), std::nullopt,
                          "wait until it has finished, or stop it first"});
    }
    return lock;
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)), m_size(other.m_size) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    std::swap(m_path, other.m_path);
    std::swap(m_size, other.m_size);
    return *this;
}

AppendFile::~AppendFile() {
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

Result<AppendFile> AppendFile::open(const fs::path& path, std::uint64_t keep) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        return fail(systemError(path, "cannot open", errno));
    }
    AppendFile file(fd, path, 0);
    ASSAY_TRY(size, regularSize(fd, path));
    file.m_size = size;
    if (size > keep) {
        if (::ftruncate(fd, static_cast<off_t>(keep)) != 0) {
            return fail(systemError(path, "cannot cut", errno));
        }
        file.m_size = keep;
    }
    return file;
}

Result<void> AppendFile::append(ByteView bytes) {
    auto result = writeAll(m_fd, bytes, m_path);
    if (!result) {
        // Do not leave half a record: readers would call the file malformed.
        if (::ftruncate(m_fd, static_cast<off_t>(m_size)) != 0) {
            return fail(systemError(m_path, "cannot cut", errno));
        }
        return result;
    }
    m_size += bytes.size();
    return {};
}

Result<void> AppendFile::sync() {
    if (::fdatasync(m_fd) != 0) {
        return fail(systemError(m_path, "cannot sync", errno));
    }
    return {};
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view prefix) {
    std::error_code code;
    auto root = fs::temp_directory_path(code);
    if (code) {
        root = "/tmp";
    }
    std::string name = (root / fmt::format("{}-XXXXXX", prefix)).string();
    if (::mkdtemp(name.data()) == nullptr) {
        return fail(systemError(root, "cannot create a temporary folder", errno));
    }
    return TemporaryFolder(fs::path(name));
}

TemporaryFolder::~TemporaryFolder() {
    if (!m_path.empty()) {
        std::error_code code;
        fs::remove_all(m_path, code);
    }
}

} // namespace assay::base
