// SPDX-License-Identifier: Apache-2.0
#include "core/format/bundle.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "core/format/detail/names.h"
#include "core/format/detail/submission_files.h"
#include "core/format/submission.h"

namespace assay::format {

using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

/// A tar ends with two zero blocks; writers pad to records of 10240 bytes.
constexpr std::uint64_t kTarBlock = 512;
constexpr std::uint64_t kLeastEnd = 2 * kTarBlock;
constexpr std::uint64_t kMostEnd = 2 * 10240;

struct ReadCloser {
    void operator()(archive* handle) const { archive_read_free(handle); }
};
struct WriteCloser {
    void operator()(archive* handle) const { archive_write_free(handle); }
};
struct EntryCloser {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string problemOf(archive* handle) {
    const char* text = archive_error_string(handle);
    return text != nullptr ? text : "unknown error";
}

/// Unpacks entry by entry, checking each before anything of it is written.
class Unpacker {
public:
    Unpacker(const fs::path& bundle, const fs::path& target, const BundleLimits& limits)
        : m_bundle(bundle), m_target(target), m_limits(limits) {}

    Result<void> run() {
        ASSAY_TRY(mapped, base::MappedFile::open(m_bundle));
        const auto bytes = mapped.bytes();
        m_archiveSize = bytes.size();
        const std::unique_ptr<archive, ReadCloser> reader(archive_read_new());
        // Plain tar only: what is not compressed cannot be a decompression bomb.
        if (reader == nullptr || archive_read_support_format_tar(reader.get()) != ARCHIVE_OK) {
            return fail(ErrorCode::environment, "libarchive cannot read tar files");
        }
        if (bytes.empty() || archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
            return fail(notABundle());
        }
        for (;;) {
            archive_entry* entry = nullptr;
            const int status = archive_read_next_header(reader.get(), &entry);
            const auto at =
                static_cast<std::uint64_t>(std::max<std::int64_t>(archive_read_header_position(reader.get()), 0));
            if (status == ARCHIVE_EOF) {
                return checkEnd(bytes, at);
            }
            if (status != ARCHIVE_OK) {
                return fail(malformed(fmt::format("not a readable tar entry: {}", problemOf(reader.get())), at));
            }
            ASSAY_CHECK(unpackEntry(reader.get(), entry, at));
        }
    }

private:
    Error notABundle() const {
        auto error = malformed("not a submission: neither its folder nor its bundle, which is an uncompressed tar", 0);
        error.remedy = "name the folder or bundle that `assay train --out` wrote; an order goes to --order";
        return error;
    }
    Error malformed(std::string message, std::uint64_t at) const {
        return Error{ErrorCode::malformed, std::move(message), m_bundle.string(), at, {}};
    }

    /// Kind, name and size of an entry; nothing is written before this says yes.
    Result<std::string> checkEntry(archive_entry* entry, std::uint64_t at) {
        const char* raw = archive_entry_pathname(entry);
        const std::string name = raw != nullptr ? raw : "";
        const auto bad = [&](std::string_view what) {
            return fail(malformed(fmt::format("entry \"{}\": {}", name, what), at));
        };
        if (!detail::isRelativePath(name)) {
            return bad("not a relative path without \"..\" and empty parts");
        }
        if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr ||
            archive_entry_filetype(entry) != AE_IFREG) {
            return bad("only regular files are accepted, no links, folders or devices");
        }
        if (!detail::isSubmissionFile(name)) {
            return bad("a submission has no such file");
        }
        if (!m_names.insert(detail::foldCase(name)).second) {
            return bad("the name occurs twice (upper and lower case count as equal)");
        }
        if (m_names.size() > m_limits.files) {
            return bad(fmt::format("more than {} files", m_limits.files));
        }
        if (archive_entry_sparse_count(entry) > 0) {
            return bad("sparse files are not accepted");
        }
        const auto size = archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : -1;
        if (size < 0 || static_cast<std::uint64_t>(size) > m_limits.fileBytes) {
            return bad(fmt::format("size {} is missing or above the limit of {}", size, m_limits.fileBytes));
        }
        m_total += static_cast<std::uint64_t>(size);
        if (m_total > m_limits.totalBytes || m_total > m_archiveSize) {
            return bad(fmt::format("the entries claim {} bytes, the bundle has {} (limit {})", m_total, m_archiveSize,
                                   m_limits.totalBytes));
        }
        return name;
    }

    Result<void> unpackEntry(archive* reader, archive_entry* entry, std::uint64_t at) {
        ASSAY_TRY(name, checkEntry(entry, at));
        const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
        const auto path = m_target / name;
        ASSAY_CHECK(base::makeFolders(path.parent_path()));
        ASSAY_TRY(file, base::AppendFile::open(path, 0));
        for (;;) {
            const void* data = nullptr;
            std::size_t count = 0;
            std::int64_t offset = 0;
            const int status = archive_read_data_block(reader, &data, &count, &offset);
            if (status == ARCHIVE_EOF) {
                break;
            }
            if (status != ARCHIVE_OK || static_cast<std::uint64_t>(offset) != file.size() ||
                count > size - file.size()) {
                return fail(malformed(
                    fmt::format("entry \"{}\": {}", name,
                                status != ARCHIVE_OK ? problemOf(reader) : "more data than its size, or a hole"),
                    at));
            }
            ASSAY_CHECK(file.append({static_cast<const std::uint8_t*>(data), count}));
        }
        if (file.size() != size) {
            return fail(malformed(
                fmt::format("entry \"{}\": {} bytes of data, its header says {}", name, file.size(), size), at));
        }
        return {};
    }

    /// From the end marker on there may be nothing but the zero blocks of a tar.
    Result<void> checkEnd(ByteView bytes, std::uint64_t at) const {
        const auto rest = bytes.subspan(std::min<std::size_t>(at, bytes.size()));
        // No further than an end may reach: a sparse file has any number of zeros for nothing.
        const auto end = rest.first(std::min<std::size_t>(rest.size(), kMostEnd));
        const auto other = std::find_if(end.begin(), end.end(), [](std::uint8_t byte) { return byte != 0; });
        if (other != end.end()) {
            return fail(
                malformed("data after the end of the archive", at + static_cast<std::uint64_t>(other - end.begin())));
        }
        if (rest.size() < kLeastEnd || rest.size() > kMostEnd) {
            return fail(malformed(fmt::format("{} zero bytes at the end, expected {} to {} (cut off, or padded)",
                                              rest.size(), kLeastEnd, kMostEnd),
                                  at));
        }
        return {};
    }

    fs::path m_bundle, m_target;
    BundleLimits m_limits;
    std::uint64_t m_archiveSize = 0;
    std::uint64_t m_total = 0;
    std::unordered_set<std::string> m_names; // case-folded
};

Result<void> writeEntry(archive* writer, const fs::path& folder, const std::string& name) {
    ASSAY_TRY(file, base::MappedFile::open(folder / name));
    const auto bytes = file.bytes();
    const std::unique_ptr<archive_entry, EntryCloser> entry(archive_entry_new());
    if (entry == nullptr) {
        return fail(ErrorCode::environment, "out of memory");
    }
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) {
        return fail(ErrorCode::environment, fmt::format("cannot write {}: {}", name, problemOf(writer)));
    }
    constexpr std::size_t kPart = 4 << 20;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto part = bytes.subspan(at, std::min(kPart, bytes.size() - at));
        const auto written = archive_write_data(writer, part.data(), part.size());
        if (written <= 0) {
            return fail(ErrorCode::environment, fmt::format("cannot write {}: {}", name, problemOf(writer)),
                        "free some disk space");
        }
        at += static_cast<std::size_t>(written);
    }
    return {};
}

Result<void> writeArchive(const fs::path& target, const fs::path& folder, const std::vector<std::string>& names) {
    const std::unique_ptr<archive, WriteCloser> writer(archive_write_new());
    // Restricted pax is plain ustar unless a file of 8 GiB needs more.
    if (writer == nullptr || archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
        archive_write_open_filename(writer.get(), target.c_str()) != ARCHIVE_OK) {
        return fail(
            Error{ErrorCode::environment,
                  fmt::format("cannot create: {}", writer != nullptr ? problemOf(writer.get()) : "out of memory"),
                  target.string(), std::nullopt, "choose a folder that you may write"});
    }
    for (const auto& name : names) {
        auto written = writeEntry(writer.get(), folder, name);
        if (!written) {
            return fail(written.error().inFile(target.string()));
        }
    }
    if (archive_write_close(writer.get()) != ARCHIVE_OK) {
        return fail(Error{ErrorCode::environment, fmt::format("cannot finish: {}", problemOf(writer.get())),
                          target.string(), std::nullopt, "free some disk space"});
    }
    ASSAY_TRY(size, base::fileSize(target));
    ASSAY_TRY(file, base::AppendFile::open(target, size));
    return file.sync();
}

} // namespace

bool isBundle(const fs::path& path) {
    std::error_code code;
    return fs::is_regular_file(path, code);
}

Result<void> packBundle(const fs::path& folder, const fs::path& bundle) {
    if (isBundle(folder)) {
        return fail(Error{ErrorCode::usage, "this is a bundle already", folder.string(), std::nullopt, {}});
    }
    ASSAY_TRY(submission, Submission::open(folder));
    std::vector<std::string> names{std::string(kManifestName), std::string(kAttestationName)};
    for (const auto& entry : submission.manifest().files) {
        names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    const auto parent = bundle.has_parent_path() ? bundle.parent_path() : fs::path(".");
    const auto temporary = parent / fmt::format(".{}.partial", bundle.filename().string());
    auto written = writeArchive(temporary, folder, names);
    std::error_code code;
    if (written) {
        fs::rename(temporary, bundle, code);
        if (code) {
            written = fail(base::systemError(bundle, "cannot replace", code.value()));
        }
    }
    if (!written) {
        fs::remove(temporary, code);
        return written;
    }
    return base::syncFolder(parent);
}

Result<base::TemporaryFolder> unpackBundle(const fs::path& bundle, const BundleLimits& limits) {
    ASSAY_TRY(target, base::TemporaryFolder::create("assay-bundle"));
    ASSAY_CHECK(Unpacker(bundle, target.path(), limits).run());
    return std::move(target);
}

} // namespace assay::format
