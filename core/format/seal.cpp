// SPDX-License-Identifier: Apache-2.0
// Commitment, manifest and attestation of a submission folder, made from its other files.
#include <algorithm>

#include <fmt/format.h>

#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/crypto/sha256.h"
#include "core/format/detail/step_index.h"
#include "core/format/detail/submission_files.h"
#include "core/format/submission.h"
#include "core/merkle/checkpoint_note.h"
#include "core/merkle/tree.h"

namespace assay::format {

using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

Result<std::vector<Digest>> readLeafHashes(const fs::path& folder) {
    const auto path = folder / kLeavesName;
    ASSAY_TRY(file, base::MappedFile::open(path));
    const auto bytes = file.bytes();
    if (const auto count = detail::countLeaves(bytes); !count) {
        return fail(count.error().inFile(path.string()));
    }
    std::vector<Digest> hashes;
    hashes.reserve(bytes.size() / detail::kHashBytes);
    for (std::size_t at = 0; at < bytes.size(); at += detail::kHashBytes) {
        ASSAY_TRY(hash, Digest::fromBytes(bytes.subspan(at, detail::kHashBytes)));
        hashes.push_back(hash);
    }
    return hashes;
}

/// Whether the last record of steps.bin is a diverged leaf.
Result<bool> endsDiverged(const fs::path& folder, std::uint64_t leaves) {
    ASSAY_TRY(indexFile, base::MappedFile::open(folder / kStepsIndexName));
    ASSAY_TRY(steps, base::MappedFile::open(folder / kStepsName));
    const auto index = detail::StepIndex::parse(indexFile.bytes(), leaves, steps.bytes().size());
    if (!index) {
        return fail(index.error().inFile((folder / kStepsIndexName).string()));
    }
    const auto begin = index->begin(leaves - 1);
    const auto record = parseStepRecord(steps.bytes().subspan(begin), begin);
    if (!record) {
        return fail(record.error().inFile((folder / kStepsName).string()));
    }
    return record->leaf.diverged;
}

Result<Digest> hashFile(const fs::path& path) {
    ASSAY_TRY(file, base::MappedFile::open(path));
    return crypto::sha256(file.bytes());
}

Result<Manifest> makeManifest(const fs::path& folder) {
    ASSAY_TRY(files, detail::scanFolder(folder));
    Manifest manifest;
    for (const auto& file : files) {
        if (file.name == kManifestName || file.name == kAttestationName || file.name == kJournalName) {
            continue;
        }
        if (!detail::isSubmissionFile(file.name)) {
            return fail(Error{ErrorCode::malformed, "a file that does not belong into a submission",
                              (folder / file.name).string(), std::nullopt, "remove it"});
        }
        ASSAY_TRY(digest, hashFile(folder / file.name));
        manifest.files.push_back({file.name, file.size, digest});
    }
    return manifest;
}

} // namespace

Result<void> sealSubmission(const fs::path& folder, std::string_view keyPem, const std::string& engineVersion,
                            const std::vector<ProfileRange>& profiles) {
    std::optional<crypto::PrivateKey> key;
    if (!keyPem.empty()) {
        ASSAY_TRY(parsed, crypto::PrivateKey::fromPem(keyPem));
        key = parsed;
    }
    ASSAY_TRY(hashes, readLeafHashes(folder));
    ASSAY_TRY(diverged, endsDiverged(folder, hashes.size()));
    ASSAY_TRY(order, hashFile(folder / kOrderName));

    Commitment commitment;
    commitment.order = order;
    commitment.leaves = hashes.size();
    commitment.root = merkle::rootOf(hashes);
    commitment.diverged = diverged;
    const merkle::Checkpoint checkpoint{fmt::format("assay/training/{}", order.toHex()),
                                        merkle::TreeSize{hashes.size()}, commitment.root};
    commitment.checkpointNote = merkle::checkpointBody(checkpoint);
    if (key) {
        ASSAY_TRY(note, merkle::signCheckpoint(checkpoint, checkpoint.origin, *key));
        commitment.checkpointNote = note;
    }
    ASSAY_CHECK(base::writeFileAtomic(folder / kCommitmentName, serialiseCommitment(commitment)));

    ASSAY_TRY(manifest, makeManifest(folder));
    const auto manifestText = serialiseManifest(manifest);
    ASSAY_CHECK(base::writeFileAtomic(folder / kManifestName, manifestText));

    Attestation attestation;
    attestation.root = commitment.root;
    attestation.manifest = crypto::sha256(base::asBytes(manifestText));
    attestation.order = order;
    attestation.leaves = commitment.leaves;
    attestation.profiles = profiles;
    attestation.engineVersion = engineVersion;
    attestation.finalCheckpointName = kInitName;
    std::uint64_t newest = 0;
    for (const auto& file : manifest.files) {
        if (const auto step = detail::stepOfCheckpoint(file.name); step && *step > newest) {
            newest = *step;
            attestation.finalCheckpointName = file.name;
        }
    }
    if (const auto* entry = manifest.find(attestation.finalCheckpointName)) {
        attestation.finalCheckpoint = entry->sha256;
    }
    ASSAY_TRY(statement, statementText(attestation));
    crypto::Envelope envelope;
    envelope.payloadType = crypto::kInTotoPayloadType;
    envelope.payload.assign(statement.begin(), statement.end());
    if (key) {
        ASSAY_CHECK(crypto::signEnvelope(envelope, *key));
    }
    return base::writeFileAtomic(folder / kAttestationName, crypto::serialiseEnvelope(envelope));
}

} // namespace assay::format
