// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/format/leaf.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"

namespace assay::format {

struct ManifestEntry {
    std::string name; ///< relative path with '/'
    std::uint64_t size = 0;
    base::Digest sha256;
    bool operator==(const ManifestEntry&) const = default;
};
/// Every file of a submission but manifest.json itself and attestation.dsse.json (which signs the manifest), sorted by
/// name.
struct Manifest {
    std::vector<ManifestEntry> files;
    [[nodiscard]] const ManifestEntry* find(std::string_view name) const; ///< O(log n); nullptr if absent
};
[[nodiscard]] std::string serialiseManifest(const Manifest& manifest);
[[nodiscard]] base::Result<Manifest> parseManifest(base::ByteView bytes);

/// commitment.json
struct Commitment {
    base::Digest order;
    std::uint64_t leaves = 0; ///< steps + 1
    base::Digest root;        ///< RFC 9162 root over leaves.bin
    bool diverged = false;
    std::string checkpointNote; ///< C2SP tlog-checkpoint; signed if the trainer had a key
    bool operator==(const Commitment&) const = default;
};
[[nodiscard]] std::string serialiseCommitment(const Commitment& commitment);
[[nodiscard]] base::Result<Commitment> parseCommitment(base::ByteView bytes);

/// Steps firstStep .. lastStep were made under this kernel profile.
struct ProfileRange {
    std::uint64_t firstStep = 0;
    std::uint64_t lastStep = 0;
    std::string profile;
    bool operator==(const ProfileRange&) const = default;
};
/// What the signed statement says. The signature itself is checked by whoever knows the key, over `envelope`.
struct Attestation {
    base::Digest root;            ///< of the leaves
    base::Digest manifest;        ///< SHA-256 of manifest.json
    base::Digest order;           ///< SHA-256 of order.json
    base::Digest finalCheckpoint; ///< SHA-256 of the newest checkpoint file, or of init.safetensors where there is none
    std::string finalCheckpointName;
    std::uint64_t leaves = 0;
    std::vector<ProfileRange> profiles;
    std::string engineVersion;
    bool operator==(const Attestation&) const = default;
};
inline constexpr std::string_view kRootAlgorithm = "assayRfc9162Sha256V1";
inline constexpr std::string_view kPredicateType = "urn:assay:training:v1";
/// in-toto Statement v1 (JSON). `malformed` if a text is not UTF-8.
[[nodiscard]] base::Result<std::string> statementText(const Attestation& attestation);
[[nodiscard]] base::Result<Attestation> parseStatement(base::ByteView statementBytes); ///< strict

/// Well-known names inside a submission. Persistent.
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kOrderName = "order.json";
inline constexpr std::string_view kProgramName = "program.json";
inline constexpr std::string_view kInitName = "init.safetensors";
inline constexpr std::string_view kLeavesName = "leaves.bin";
inline constexpr std::string_view kStepsName = "steps.bin";
inline constexpr std::string_view kStepsIndexName = "steps.idx";
inline constexpr std::string_view kCommitmentName = "commitment.json";
inline constexpr std::string_view kAttestationName = "attestation.dsse.json";
inline constexpr std::string_view kJournalName = "training.journal"; ///< only while training is unfinished
[[nodiscard]] std::string logName(std::uint64_t step);               ///< "logs/000001.rlog"
[[nodiscard]] std::string checkpointName(std::uint64_t step);        ///< "checkpoints/000100.safetensors"

/// Writes a submission step by step. A kill at any moment leaves a folder that `resume` continues. Not thread-safe; one
/// writer per folder, enforced by a lock (`environment` if another process holds it). Movable.
class SubmissionWriter {
public:
    /// Starts in a new or empty folder. `orderBytes` and `programBytes` are the exact files, `initFile` is copied; all
    /// three must match each other (`malformed` otherwise). `usage` if the folder already holds something. `profile` is
    /// the kernel profile of the steps that follow.
    [[nodiscard]] static base::Result<SubmissionWriter> create(const base::fs::path& folder, base::ByteView orderBytes,
                                                               base::ByteView programBytes,
                                                               const base::fs::path& initFile,
                                                               const std::string& profile);
    /// Continues an unfinished folder: cuts torn tails, removes files that no leaf commits to. Afterwards leaves() and
    /// lastCheckpoint() say where to go on. Steps from leaves() on are under `profile`. `usage` if training is
    /// finished.
    [[nodiscard]] static base::Result<SubmissionWriter> resume(const base::fs::path& folder,
                                                               const std::string& profile);

    SubmissionWriter(SubmissionWriter&&) noexcept;
    SubmissionWriter& operator=(SubmissionWriter&&) noexcept;
    ~SubmissionWriter();

    [[nodiscard]] const base::fs::path& folder() const;
    [[nodiscard]] const Order& order() const;
    [[nodiscard]] const base::Digest& orderDigest() const;
    [[nodiscard]] const Program& program() const;
    [[nodiscard]] std::uint64_t leaves() const; ///< committed so far; the next step is leaves(), 0 = initial leaf
    [[nodiscard]] const base::Digest& lastLeafHash() const;            ///< zero if there is no leaf yet
    [[nodiscard]] std::optional<std::uint64_t> lastCheckpoint() const; ///< newest committed step with a checkpoint file
    [[nodiscard]] bool diverged() const; ///< the last leaf is a diverged one: only finish() is left

    /// What is already committed, for a resuming trainer that enforces its own log.
    [[nodiscard]] base::Result<StepRecord> step(std::uint64_t step) const;
    [[nodiscard]] base::Result<base::ByteVector> log(std::uint64_t step) const;

    /// Writes the checkpoint of the *next* step; call it before append() of that step.
    [[nodiscard]] base::Result<void> writeCheckpoint(std::span<const TensorView> state);
    /// Commits the next leaf. `leaf.step` must be leaves() and `leaf.previous` lastLeafHash() (asserted). `log` is the
    /// step's file; empty for step 0 and diverged leaves. `tensorRoots` is ignored where the leaf has no state root.
    /// Survives kill -9 on return, a power cut after the next sync() (called, or implied by a checkpoint).
    [[nodiscard]] base::Result<void> append(const LeafData& leaf, std::span<const base::Digest> tensorRoots,
                                            base::ByteView log);
    /// Makes everything so far durable.
    [[nodiscard]] base::Result<void> sync();
    /// Writes commitment, manifest and attestation and removes the journal. `keyPem` empty = unsigned. The writer is
    /// done afterwards.
    [[nodiscard]] base::Result<void> finish(std::string_view keyPem, const std::string& engineVersion);

private:
    struct State;
    explicit SubmissionWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

/// Makes commitment, manifest and attestation of a folder anew from its other files (tools that plant faults need it).
/// `engineVersion` and `profiles` as in an attestation.
[[nodiscard]] base::Result<void> sealSubmission(const base::fs::path& folder, std::string_view keyPem,
                                                const std::string& engineVersion,
                                                const std::vector<ProfileRange>& profiles);

/// A difference between the manifest and a file: evidence, not an error.
struct FileFinding {
    std::string name;
    std::string text; ///< what differs, with both values
};

/// A finished submission, opened read-only. Immutable after open; const members are thread-safe.
class Submission {
public:
    /// Folder or bundle. Checks the structure only: every listed file is there with its size, nothing else is, and all
    /// small files parse. Digests, leaves and logs are read when asked for. An unfinished folder gives `usage` with the
    /// remedy to resume.
    [[nodiscard]] static base::Result<Submission> open(const base::fs::path& path);

    Submission(Submission&&) noexcept;
    Submission& operator=(Submission&&) noexcept;
    ~Submission();

    [[nodiscard]] const base::fs::path& path() const;   ///< as given to open
    [[nodiscard]] const base::fs::path& folder() const; ///< where the files are (a temporary folder for a bundle)
    [[nodiscard]] const Manifest& manifest() const;
    [[nodiscard]] const base::Digest& manifestDigest() const; ///< SHA-256 of manifest.json
    [[nodiscard]] const Order& order() const;                 ///< the trainer's copy; verify with the client's
    [[nodiscard]] const base::Digest& orderDigest() const;
    [[nodiscard]] const Program& program() const;
    [[nodiscard]] const base::Digest& programDigest() const;
    [[nodiscard]] const Commitment& commitment() const;
    [[nodiscard]] const std::string& envelopeText() const; ///< attestation.dsse.json
    /// Parsed payload, *not* verified; empty where the envelope holds something else, see attestationProblem().
    [[nodiscard]] const Attestation& attestation() const;
    [[nodiscard]] const std::string& attestationProblem() const; ///< why there is no attestation; empty if there is one

    [[nodiscard]] std::uint64_t leaves() const;                            ///< number of leaves, steps + 1
    [[nodiscard]] std::uint64_t steps() const;                             ///< last step
    [[nodiscard]] base::Digest leafHash(std::uint64_t step) const;         ///< as listed in leaves.bin; step < leaves()
    [[nodiscard]] base::ByteView leafHashes() const;                       ///< leaves() * 32 bytes
    [[nodiscard]] base::Result<StepRecord> step(std::uint64_t step) const; ///< O(1)
    [[nodiscard]] base::Result<base::ByteVector>
    leafBytes(std::uint64_t step) const;                                        ///< canonical leaf data of that record
    [[nodiscard]] base::Result<base::ByteVector> log(std::uint64_t step) const; ///< whole log file, step >= 1
    [[nodiscard]] std::uint64_t logBytes() const;                               ///< of all steps, from the manifest
    [[nodiscard]] const std::vector<std::uint64_t>& checkpoints() const; ///< steps with a checkpoint file, ascending
    [[nodiscard]] base::Result<Safetensors> checkpoint(std::uint64_t step) const; ///< step 0: init.safetensors
    [[nodiscard]] base::fs::path checkpointPath(std::uint64_t step) const;

    /// Hashes every listed file. `cancelled` when stopped.
    [[nodiscard]] base::Result<std::vector<FileFinding>> verifyFiles(const base::ProgressFn& progress = {},
                                                                     std::stop_token stop = {}) const;

    struct State;

private:
    explicit Submission(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::format
