// SPDX-License-Identifier: Apache-2.0
#include "core/format/submission.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/crypto/dsse.h"
#include "core/crypto/sha256.h"
#include "core/format/bundle.h"
#include "core/format/detail/step_index.h"
#include "core/format/detail/submission_files.h"

namespace assay::format {

using base::ByteVector;
using base::ByteView;
using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::uint64_t kMaxManifestFile = 1ULL << 30;

Error malformedIn(const fs::path& path, std::string message, std::optional<std::uint64_t> offset = std::nullopt) {
    return Error{ErrorCode::malformed, std::move(message), path.string(), offset, {}};
}

/// Reads a small file and parses it; errors name the file.
template <typename Parse>
auto readParsed(const fs::path& path, std::uint64_t limit, Parse parse, Digest* digest = nullptr)
    -> decltype(parse(ByteView{})) {
    auto bytes = base::readFile(path, limit);
    if (!bytes) {
        return fail(bytes.error().inFile(path.string()));
    }
    if (digest != nullptr) {
        *digest = crypto::sha256(*bytes);
    }
    auto parsed = parse(ByteView(*bytes));
    if (!parsed) {
        return fail(parsed.error().inFile(path.string()));
    }
    return parsed;
}

/// Every listed file must be there with its size, and nothing else. Both lists are sorted by name.
Result<void> compareWithManifest(const fs::path& folder, const Manifest& manifest,
                                 const std::vector<detail::ScannedFile>& found) {
    auto listed = manifest.files.begin();
    const auto missing = [&](const std::string& name) {
        return fail(malformedIn(folder / name, "the manifest lists this file, but it is missing"));
    };
    for (const auto& file : found) {
        if (file.name == kManifestName || file.name == kAttestationName) {
            continue;
        }
        if (listed != manifest.files.end() && listed->name < file.name) {
            return missing(listed->name);
        }
        if (listed == manifest.files.end() || listed->name != file.name) {
            return fail(malformedIn(folder / file.name, "the manifest does not list this file"));
        }
        if (listed->size != file.size) {
            return fail(malformedIn(folder / file.name,
                                    fmt::format("the file has {} bytes, the manifest says {}", file.size, listed->size),
                                    std::min(listed->size, file.size)));
        }
        ++listed;
    }
    return listed == manifest.files.end() ? Result<void>{} : missing(listed->name);
}

} // namespace

struct Submission::State {
    fs::path path, folder;
    std::optional<base::TemporaryFolder> unpacked;
    Manifest manifest;
    Digest manifestDigest;
    Order order;
    Digest orderDigest;
    Program program;
    Digest programDigest;
    Commitment commitment;
    std::string envelopeText;
    Attestation attestation;
    std::string attestationProblem;
    ByteVector
        leafHashes; ///< a copy: the files of a folder can change while an audit runs, what was committed must not
    base::MappedFile stepsFile, indexFile;
    detail::StepIndex index;
    std::uint64_t leaves = 0;
    std::uint64_t logBytes = 0;
    std::vector<std::uint64_t> checkpoints;

    [[nodiscard]] ByteView recordBytes(std::uint64_t step) const {
        return stepsFile.bytes().subspan(index.begin(step), index.end(step) - index.begin(step));
    }

    /// Leaves, index and records must fit each other; contents are looked at when asked for.
    [[nodiscard]] Result<void> mapSteps() {
        const auto map = [&](std::string_view name) { return base::MappedFile::open(folder / name); };
        ASSAY_TRY(mappedLeaves, map(kLeavesName));
        ASSAY_TRY(mappedSteps, map(kStepsName));
        ASSAY_TRY(mappedIndex, map(kStepsIndexName));
        stepsFile = std::move(mappedSteps);
        indexFile = std::move(mappedIndex);
        auto count = detail::countLeaves(mappedLeaves.bytes());
        if (!count) {
            return fail(count.error().inFile((folder / kLeavesName).string()));
        }
        leaves = *count;
        auto parsed = detail::StepIndex::parse(indexFile.bytes(), leaves, stepsFile.bytes().size());
        if (!parsed) {
            return fail(parsed.error().inFile((folder / kStepsIndexName).string()));
        }
        index = *parsed;
        const auto hashes = mappedLeaves.bytes();
        leafHashes.assign(hashes.begin(), hashes.end()); // as many as the index has entries: no more than was handed in
        return {};
    }

    /// One log per step that has one, checkpoints only of committed steps.
    [[nodiscard]] Result<void> checkNames() {
        std::uint64_t logs = 0;
        for (const auto& entry : manifest.files) {
            if (!detail::isSubmissionFile(entry.name)) {
                return fail(malformedIn(folder / entry.name, "a file that does not belong into a submission"));
            }
            const auto log = detail::stepOfLog(entry.name);
            const auto checkpoint = detail::stepOfCheckpoint(entry.name);
            if (std::max(log.value_or(0), checkpoint.value_or(0)) >= leaves) {
                return fail(malformedIn(folder / entry.name,
                                        fmt::format("belongs to no leaf: there are {} steps", leaves - 1)));
            }
            if (log) {
                ++logs;
                logBytes += entry.size;
            }
            if (checkpoint) {
                checkpoints.push_back(*checkpoint);
            }
        }
        std::sort(checkpoints.begin(), checkpoints.end());
        const auto expected = leaves - (commitment.diverged && leaves > 1 ? 2 : 1);
        if (logs < expected) {
            std::uint64_t step = 1;
            while (manifest.find(logName(step)) != nullptr) {
                ++step;
            }
            return fail(malformedIn(folder / logName(step), "the log of this step is missing"));
        }
        return {};
    }

    void readAttestation() {
        const auto envelope = crypto::parseEnvelope(envelopeText);
        if (!envelope) {
            attestationProblem = envelope.error().message;
            return;
        }
        if (envelope->payloadType != crypto::kInTotoPayloadType) {
            attestationProblem = fmt::format("the signed payload has the type \"{}\", expected {}",
                                             envelope->payloadType, crypto::kInTotoPayloadType);
            return;
        }
        auto parsed = parseStatement(envelope->payload);
        if (!parsed) {
            attestationProblem = parsed.error().message;
            return;
        }
        attestation = std::move(*parsed);
    }
};

Submission::Submission(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Submission::Submission(Submission&&) noexcept = default;
Submission& Submission::operator=(Submission&&) noexcept = default;
Submission::~Submission() = default;

Result<Submission> Submission::open(const fs::path& path) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->folder = path;
    std::error_code code;
    if (!fs::exists(path, code)) {
        return fail(
            Error{ErrorCode::unreadable, "no such folder or file", path.string(), std::nullopt, "check the path"});
    }
    if (isBundle(path)) {
        ASSAY_TRY(unpacked, unpackBundle(path));
        state->folder = unpacked.path();
        state->unpacked.emplace(std::move(unpacked));
    }
    const auto& folder = state->folder;
    if (fs::exists(folder / kJournalName, code)) {
        return fail(Error{ErrorCode::usage, "training not finished", path.string(), std::nullopt,
                          fmt::format("resume with: assay train ORDER --out {} --resume", path.string())});
    }
    if (!fs::exists(folder / kManifestName, code)) {
        return fail(Error{ErrorCode::unreadable, "not a submission: there is no manifest.json", path.string(),
                          std::nullopt, "name the folder or bundle that `assay train --out` wrote"});
    }
    ASSAY_TRY(manifest, readParsed(folder / kManifestName, kMaxManifestFile, parseManifest, &state->manifestDigest));
    state->manifest = std::move(manifest);
    ASSAY_TRY(found, detail::scanFolder(folder));
    ASSAY_CHECK(compareWithManifest(folder, state->manifest, found));
    for (const auto name :
         {kOrderName, kProgramName, kInitName, kLeavesName, kStepsName, kStepsIndexName, kCommitmentName}) {
        if (state->manifest.find(name) == nullptr) {
            return fail(malformedIn(folder / name, "this file is missing"));
        }
    }
    ASSAY_TRY(order, readParsed(folder / kOrderName, kMaxOrderBytes, parseOrder, &state->orderDigest));
    state->order = std::move(order);
    ASSAY_TRY(program, readParsed(folder / kProgramName, kMaxProgramBytes, parseProgram, &state->programDigest));
    state->program = std::move(program);
    ASSAY_TRY(commitment, readParsed(folder / kCommitmentName, 1 << 20, parseCommitment));
    state->commitment = std::move(commitment);
    ASSAY_CHECK(state->mapSteps());
    ASSAY_CHECK(state->checkNames());
    ASSAY_TRY(envelope, base::readTextFile(folder / kAttestationName, crypto::kMaxEnvelopeBytes));
    state->envelopeText = std::move(envelope);
    state->readAttestation();
    return Submission(std::move(state));
}

const fs::path& Submission::path() const {
    return m_state->path;
}

const fs::path& Submission::folder() const {
    return m_state->folder;
}

const Manifest& Submission::manifest() const {
    return m_state->manifest;
}

const Digest& Submission::manifestDigest() const {
    return m_state->manifestDigest;
}

const Order& Submission::order() const {
    return m_state->order;
}

const Digest& Submission::orderDigest() const {
    return m_state->orderDigest;
}

const Program& Submission::program() const {
    return m_state->program;
}

const Digest& Submission::programDigest() const {
    return m_state->programDigest;
}

const Commitment& Submission::commitment() const {
    return m_state->commitment;
}

const std::string& Submission::envelopeText() const {
    return m_state->envelopeText;
}

const Attestation& Submission::attestation() const {
    return m_state->attestation;
}

const std::string& Submission::attestationProblem() const {
    return m_state->attestationProblem;
}

std::uint64_t Submission::leaves() const {
    return m_state->leaves;
}

std::uint64_t Submission::steps() const {
    return m_state->leaves - 1;
}

ByteView Submission::leafHashes() const {
    return m_state->leafHashes;
}

Digest Submission::leafHash(std::uint64_t step) const {
    ASSAY_ASSERT(step < leaves());
    return *Digest::fromBytes(leafHashes().subspan(step * detail::kHashBytes, detail::kHashBytes));
}

Result<StepRecord> Submission::step(std::uint64_t step) const {
    if (step >= leaves()) {
        return fail(ErrorCode::usage, fmt::format("there is no step {}, the submission has {}", step, steps()));
    }
    auto record = parseStepRecord(m_state->recordBytes(step), m_state->index.begin(step));
    if (!record) {
        return fail(record.error().inFile((m_state->folder / kStepsName).string()));
    }
    return record;
}

Result<ByteVector> Submission::leafBytes(std::uint64_t step) const {
    return this->step(step).map([](const StepRecord& record) { return serialiseLeaf(record.leaf); });
}

Result<ByteVector> Submission::log(std::uint64_t step) const {
    const auto name = logName(step);
    const auto* entry = m_state->manifest.find(name);
    if (entry == nullptr) {
        return fail(malformedIn(m_state->folder / name, "the log of this step is missing"));
    }
    const auto path = m_state->folder / name;
    auto bytes = base::readFile(path, entry->size);
    if (!bytes) {
        return fail(bytes.error().inFile(path.string()));
    }
    return bytes;
}

std::uint64_t Submission::logBytes() const {
    return m_state->logBytes;
}

const std::vector<std::uint64_t>& Submission::checkpoints() const {
    return m_state->checkpoints;
}

fs::path Submission::checkpointPath(std::uint64_t step) const {
    return m_state->folder / (step == 0 ? std::string(kInitName) : checkpointName(step));
}

Result<Safetensors> Submission::checkpoint(std::uint64_t step) const {
    const auto& steps = m_state->checkpoints;
    if (step != 0 && !std::binary_search(steps.begin(), steps.end(), step)) {
        return fail(ErrorCode::usage, fmt::format("there is no checkpoint of step {}", step));
    }
    return Safetensors::open(checkpointPath(step));
}

Result<std::vector<FileFinding>> Submission::verifyFiles(const base::ProgressFn& progress, std::stop_token stop) const {
    constexpr std::size_t kPart = 8 << 20;
    std::uint64_t total = 0;
    for (const auto& entry : m_state->manifest.files) {
        total += entry.size;
    }
    std::uint64_t done = 0;
    std::vector<FileFinding> findings;
    crypto::Sha256 hash;
    for (const auto& entry : m_state->manifest.files) {
        ASSAY_TRY(file, base::MappedFile::open(m_state->folder / entry.name));
        const auto bytes = file.bytes();
        for (std::size_t at = 0; at < bytes.size(); at += kPart) {
            if (stop.stop_requested()) {
                return fail(ErrorCode::cancelled, "stopped while the files were being checked");
            }
            const auto part = bytes.subspan(at, std::min(kPart, bytes.size() - at));
            hash.update(part);
            done += part.size();
            if (progress) {
                progress({"checking files", done, total, "bytes"});
            }
        }
        const auto digest = hash.finish();
        if (bytes.size() != entry.size) {
            findings.push_back(
                {entry.name, fmt::format("has {} bytes, the manifest says {}", bytes.size(), entry.size)});
        } else if (digest != entry.sha256) {
            findings.push_back({entry.name, fmt::format("has SHA-256 {}, the manifest says {}", digest.toHex(),
                                                        entry.sha256.toHex())});
        }
    }
    return findings;
}

} // namespace assay::format
