// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/crypto/sha256.h"
#include "core/format/detail/journal.h"
#include "core/format/detail/step_index.h"
#include "core/format/detail/submission_files.h"
#include "core/format/submission.h"

namespace assay::format {

using base::AppendFile;
using base::ByteVector;
using base::ByteView;
using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

Result<void> copyFile(const fs::path& from, const fs::path& to) {
    std::error_code code;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
    if (code) {
        return fail(base::systemError(to, "cannot copy", code.value()));
    }
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read,
                    code);
    return {};
}

/// Checks that order, program and initial state belong together; returns the parsed order and program.
Result<std::pair<Order, Program>> checkParts(ByteView orderBytes, ByteView programBytes, const fs::path& initFile) {
    const auto name = [](Result<void> result, std::string_view file) -> Result<void> {
        return result ? Result<void>{} : fail(result.error().inFile(file));
    };
    auto order = parseOrder(orderBytes);
    if (!order) {
        return fail(order.error().inFile(kOrderName));
    }
    auto program = parseProgram(programBytes);
    if (!program) {
        return fail(program.error().inFile(kProgramName));
    }
    const auto differs = [&](std::string_view file, std::string_view field, const Digest& found,
                             const Digest& expected) -> Result<void> {
        if (found == expected) {
            return {};
        }
        return name(fail(ErrorCode::malformed,
                         fmt::format("SHA-256 is {}, the order says {} ({})", found.toHex(), expected.toHex(), field),
                         "keep order, program and initial state of one `assay order new` together"),
                    file);
    };
    ASSAY_CHECK(differs(kProgramName, "program", crypto::sha256(programBytes), order->program));
    ASSAY_TRY(init, base::MappedFile::open(initFile));
    ASSAY_CHECK(differs(initFile.string(), "initial_state", crypto::sha256(init.bytes()), order->initialState));
    return std::pair(std::move(*order), std::move(*program));
}

} // namespace

struct SubmissionWriter::State {
    fs::path folder;
    base::FileLock lock;
    detail::Journal journal;
    Order order;
    Digest orderDigest;
    Program program;
    std::vector<Digest> hashes;      // leaf hashes
    std::vector<std::uint64_t> ends; // end of each record in steps.bin
    bool diverged = false;
    std::optional<AppendFile> leavesFile, stepsFile, indexFile;
    Digest lastHash; // zero before the first leaf

    State(fs::path where, base::FileLock held, detail::Journal notes, std::pair<Order, Program> parts,
          const Digest& digest)
        : folder(std::move(where)), lock(std::move(held)), journal(std::move(notes)), order(std::move(parts.first)),
          orderDigest(digest), program(std::move(parts.second)) {}

    [[nodiscard]] Result<void> openFiles() {
        const auto count = hashes.size();
        ASSAY_TRY(steps, AppendFile::open(folder / kStepsName, ends.empty() ? 0 : ends.back()));
        ASSAY_TRY(index, AppendFile::open(folder / kStepsIndexName, count * detail::kIndexEntry));
        ASSAY_TRY(leaves, AppendFile::open(folder / kLeavesName, count * detail::kHashBytes));
        stepsFile.emplace(std::move(steps));
        indexFile.emplace(std::move(index));
        leavesFile.emplace(std::move(leaves));
        lastHash = hashes.empty() ? Digest{} : hashes.back();
        return {};
    }

    /// Bytes of a record in steps.bin, by its place.
    [[nodiscard]] Result<ByteVector> recordBytes(std::uint64_t step) const {
        const auto begin = step == 0 ? 0 : ends[step - 1];
        ByteVector bytes(ends[step] - begin);
        std::ifstream file(folder / kStepsName, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(begin));
        file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file) {
            return fail(
                Error{ErrorCode::unreadable, "cannot read a step record", (folder / kStepsName).string(), begin, {}});
        }
        return bytes;
    }

    [[nodiscard]] bool isLogIntact(const StepRecord& record) const {
        if (record.logBytes == 0) {
            return true;
        }
        const auto log = base::MappedFile::open(folder / logName(record.leaf.step));
        return log && log->bytes().size() == record.logBytes && crypto::sha256(log->bytes()) == record.logSha256;
    }

    /// Takes over as many leaves as are whole, in order, and backed by their log files.
    [[nodiscard]] Result<void> recover() {
        const auto load = [&](std::string_view name) -> Result<base::MappedFile> {
            std::error_code code;
            return fs::exists(folder / name, code) ? base::MappedFile::open(folder / name) : base::MappedFile();
        };
        ASSAY_TRY(leaves, load(kLeavesName));
        ASSAY_TRY(index, load(kStepsIndexName));
        ASSAY_TRY(steps, load(kStepsName));
        const auto count =
            std::min(leaves.bytes().size() / detail::kHashBytes, index.bytes().size() / detail::kIndexEntry);
        std::uint64_t begin = 0;
        for (std::size_t i = 0; i < count && !diverged; ++i) {
            const auto end = base::loadLe<std::uint64_t>(index.bytes().data() + i * detail::kIndexEntry);
            if (end <= begin || end > steps.bytes().size()) {
                break;
            }
            const auto record = parseStepRecord(steps.bytes().subspan(begin, end - begin), begin);
            const auto hash = *Digest::fromBytes(leaves.bytes().subspan(i * detail::kHashBytes, detail::kHashBytes));
            if (!record || record->leaf.step != i || record->leaf.order != orderDigest ||
                leafHash(record->leaf) != hash ||
                record->leaf.previous != (hashes.empty() ? Digest{} : hashes.back()) || !isLogIntact(*record)) {
                break;
            }
            hashes.push_back(hash);
            ends.push_back(end);
            diverged = record->leaf.diverged;
            begin = end;
        }
        return {};
    }

    /// Removes what no leaf commits to: logs and checkpoints of later steps, half-written files, the seal of an
    /// interrupted finish.
    [[nodiscard]] Result<void> removeLeftovers() const {
        ASSAY_TRY(files, detail::scanFolder(folder));
        for (const auto& file : files) {
            const auto step =
                std::max(detail::stepOfLog(file.name).value_or(0), detail::stepOfCheckpoint(file.name).value_or(0));
            const auto plain = fs::path(file.name).filename().string();
            if (step >= std::max<std::uint64_t>(hashes.size(), 1) || plain.starts_with('.') ||
                file.name == kManifestName || file.name == kCommitmentName || file.name == kAttestationName) {
                std::error_code code;
                fs::remove(folder / file.name, code);
                if (code) {
                    return fail(base::systemError(folder / file.name, "cannot remove", code.value()));
                }
            }
        }
        return {};
    }
};

SubmissionWriter::SubmissionWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
SubmissionWriter::SubmissionWriter(SubmissionWriter&&) noexcept = default;
SubmissionWriter& SubmissionWriter::operator=(SubmissionWriter&&) noexcept = default;
SubmissionWriter::~SubmissionWriter() = default;

Result<SubmissionWriter> SubmissionWriter::create(const fs::path& folderAsGiven, ByteView orderBytes,
                                                  ByteView programBytes, const fs::path& initFile,
                                                  const std::string& profile) {
    ASSAY_TRY(parts, checkParts(orderBytes, programBytes, initFile));
    std::error_code code;
    auto folder = fs::absolute(folderAsGiven, code).lexically_normal();
    if (!folder.has_filename()) {
        folder = folder.parent_path();
    }
    if (fs::exists(folder, code) && !(fs::is_directory(folder, code) && fs::is_empty(folder, code))) {
        const bool unfinished = fs::exists(folder / kJournalName, code);
        return fail(
            Error{ErrorCode::usage, "this place is taken", folder.string(), std::nullopt,
                  unfinished ? "--resume to continue the training there, or another folder" : "another folder"});
    }
    ASSAY_CHECK(base::makeFolders(folder.parent_path()));
    // Everything is made beside the folder and renamed, so that a kill leaves either nothing or something to resume.
    const auto partial = folder.parent_path() / fmt::format(".{}.partial", folder.filename().string());
    ASSAY_CHECK(base::makeFolders(partial / detail::kLogFolder));
    ASSAY_CHECK(base::makeFolders(partial / detail::kCheckpointFolder));
    ASSAY_TRY(lock, base::FileLock::acquire(partial / kJournalName));
    ASSAY_TRY(journal, detail::Journal::create(partial, profile));
    ASSAY_CHECK(base::writeFileAtomic(partial / kOrderName, orderBytes));
    ASSAY_CHECK(base::writeFileAtomic(partial / kProgramName, programBytes));
    ASSAY_CHECK(copyFile(initFile, partial / kInitName));
    for (const auto name : {kLeavesName, kStepsName, kStepsIndexName}) {
        ASSAY_CHECK(AppendFile::open(partial / name, 0));
    }
    ASSAY_CHECK(detail::syncFileSystem(partial));
    fs::rename(partial, folder, code);
    if (code) {
        return fail(base::systemError(folder, "cannot create", code.value()));
    }
    ASSAY_CHECK(base::syncFolder(folder.parent_path()));

    auto state = std::make_unique<State>(folder, std::move(lock), std::move(journal), std::move(parts),
                                         crypto::sha256(orderBytes));
    ASSAY_CHECK(state->openFiles());
    return SubmissionWriter(std::move(state));
}

Result<SubmissionWriter> SubmissionWriter::resume(const fs::path& folder, const std::string& profile) {
    std::error_code code;
    if (!fs::exists(folder / kJournalName, code)) {
        const bool finished = fs::exists(folder / kManifestName, code);
        return fail(Error{
            ErrorCode::usage, finished ? "this training is finished" : "there is no unfinished training here",
            folder.string(), std::nullopt, finished ? "assay verify" : "train without --resume into an empty folder"});
    }
    ASSAY_TRY(lock, base::FileLock::acquire(folder / kJournalName));
    if (fs::file_size(folder / kJournalName, code) == 0 && fs::exists(folder / kManifestName, code)) {
        // Another process finished between the two lines above, and taking the lock made the file anew.
        fs::remove(folder / kJournalName, code);
        return fail(
            Error{ErrorCode::usage, "this training is finished", folder.string(), std::nullopt, "assay verify"});
    }
    ASSAY_TRY(journal, detail::Journal::read(folder));
    ASSAY_TRY(orderBytes, base::readFile(folder / kOrderName, kMaxOrderBytes));
    ASSAY_TRY(programBytes, base::readFile(folder / kProgramName, kMaxProgramBytes));
    ASSAY_TRY(parts, checkParts(orderBytes, programBytes, folder / kInitName));
    auto state = std::make_unique<State>(folder, std::move(lock), std::move(journal), std::move(parts),
                                         crypto::sha256(orderBytes));
    ASSAY_CHECK(state->recover());
    ASSAY_CHECK(state->removeLeftovers());
    ASSAY_CHECK(state->openFiles());
    ASSAY_CHECK(base::makeFolders(folder / detail::kLogFolder));
    ASSAY_CHECK(base::makeFolders(folder / detail::kCheckpointFolder));
    ASSAY_CHECK(state->journal.setProfile(folder, std::max<std::uint64_t>(state->hashes.size(), 1), profile));
    return SubmissionWriter(std::move(state));
}

const fs::path& SubmissionWriter::folder() const {
    return m_state->folder;
}

const Order& SubmissionWriter::order() const {
    return m_state->order;
}

const Digest& SubmissionWriter::orderDigest() const {
    return m_state->orderDigest;
}

const Program& SubmissionWriter::program() const {
    return m_state->program;
}

std::uint64_t SubmissionWriter::leaves() const {
    return m_state->hashes.size();
}

const Digest& SubmissionWriter::lastLeafHash() const {
    return m_state->lastHash;
}

bool SubmissionWriter::diverged() const {
    return m_state->diverged;
}

std::optional<std::uint64_t> SubmissionWriter::lastCheckpoint() const {
    for (std::uint64_t step = leaves(); step-- > 1;) {
        std::error_code code;
        if (checkpointDue(m_state->order, step) && fs::exists(m_state->folder / checkpointName(step), code)) {
            return step;
        }
    }
    return std::nullopt;
}

Result<StepRecord> SubmissionWriter::step(std::uint64_t step) const {
    if (step >= leaves()) {
        return fail(ErrorCode::usage, fmt::format("step {} is not committed yet, there are {} leaves", step, leaves()));
    }
    ASSAY_TRY(bytes, m_state->recordBytes(step));
    return parseStepRecord(bytes, step == 0 ? 0 : m_state->ends[step - 1]);
}

Result<ByteVector> SubmissionWriter::log(std::uint64_t step) const {
    ASSAY_TRY(record, this->step(step));
    auto bytes = base::readFile(m_state->folder / logName(step), record.logBytes);
    return bytes ? std::move(bytes) : fail(bytes.error().inFile((m_state->folder / logName(step)).string()));
}

Result<void> SubmissionWriter::writeCheckpoint(std::span<const TensorView> state) {
    return writeSafetensors(m_state->folder / checkpointName(leaves()), state).map([](const WrittenFile&) {});
}

Result<void> SubmissionWriter::append(const LeafData& leaf, std::span<const Digest> tensorRoots, ByteView log) {
    auto& state = *m_state;
    ASSAY_ASSERT(leaf.step == leaves() && leaf.previous == state.lastHash && !state.diverged);
    ASSAY_ASSERT(log.empty() == (leaf.step == 0 || leaf.diverged));
    StepRecord record;
    record.leaf = leaf;
    record.logBytes = log.size();
    if (leaf.stateRoot) {
        record.tensorRoots.assign(tensorRoots.begin(), tensorRoots.end());
    }
    // The log goes first: a leaf must never be there without it.
    if (!log.empty()) {
        record.logSha256 = crypto::sha256(log);
        ASSAY_TRY(file, AppendFile::open(state.folder / logName(leaf.step), 0));
        ASSAY_CHECK(file.append(log));
    }
    const auto hash = leafHash(leaf);
    const auto bytes = serialiseStepRecord(record);
    // A failed append (disk full) cuts its own file back; the files before it are cut by the next resume.
    ASSAY_CHECK(state.stepsFile->append(bytes));
    ByteVector end(detail::kIndexEntry);
    base::storeLe(end.data(), state.stepsFile->size());
    ASSAY_CHECK(state.indexFile->append(end));
    ASSAY_CHECK(state.leavesFile->append(hash.view()));
    state.ends.push_back(state.stepsFile->size());
    state.hashes.push_back(hash);
    state.lastHash = hash;
    state.diverged = leaf.diverged;
    // A kill loses nothing. A power cut may reach back to the last checkpoint, from which a resumed training starts
    // anyway.
    if (checkpointDue(state.order, leaf.step)) {
        return sync();
    }
    return {};
}

Result<void> SubmissionWriter::sync() {
    return detail::syncFileSystem(m_state->folder);
}

Result<void> SubmissionWriter::finish(std::string_view keyPem, const std::string& engineVersion) {
    auto& state = *m_state;
    if (leaves() == 0) {
        return fail(ErrorCode::usage, "a submission needs at least the leaf of the initial state");
    }
    ASSAY_CHECK(sync());
    ASSAY_CHECK(sealSubmission(state.folder, keyPem, engineVersion, state.journal.ranges(leaves() - 1)));
    // The journal goes last: as long as it is there, the training counts as unfinished and can be resumed.
    std::error_code code;
    fs::remove(state.folder / kJournalName, code);
    if (code) {
        return fail(base::systemError(state.folder / kJournalName, "cannot remove", code.value()));
    }
    return base::syncFolder(state.folder);
}

} // namespace assay::format
