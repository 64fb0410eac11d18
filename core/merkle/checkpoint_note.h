// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/crypto/ed25519.h"
#include "core/merkle/tree.h"

/// A root as other transparency tools read it: C2SP tlog-checkpoint inside a C2SP signed-note (github.com/C2SP/C2SP).
namespace assay::merkle {

struct Checkpoint {
    std::string origin; ///< one line, unique to the log; here "assay/training/<order digest>"
    TreeSize size;
    Digest root;
    bool operator==(const Checkpoint&) const = default;
};

struct NoteSignature {
    std::string keyName;
    base::ByteVector bytes; ///< 4-byte key hash, then the signature
};

struct SignedCheckpoint {
    Checkpoint checkpoint;
    std::string body; ///< the signed text, ends with a newline
    std::vector<NoteSignature> signatures;
};

[[nodiscard]] std::string checkpointBody(const Checkpoint& checkpoint);
/// The whole note: body, empty line, one Ed25519 signature line under `keyName` (no spaces, no '+').
[[nodiscard]] base::Result<std::string> signCheckpoint(const Checkpoint& checkpoint, const std::string& keyName,
                                                       const crypto::PrivateKey& key);
/// Strict parse of a note of at most 128 KiB with 0 to 16 signatures (0: the bare body). `malformed` with the offset.
/// Extension lines, which the format allows but advises against, are refused.
[[nodiscard]] base::Result<SignedCheckpoint> parseCheckpoint(std::string_view note);
/// valid if there are lines under `keyName` with the key's hash and all of them verify; notChecked if no line names
/// that key; invalid otherwise. Lines of other keys are ignored, as the format demands.
[[nodiscard]] crypto::SignatureCheck verifyCheckpoint(const SignedCheckpoint& note, const std::string& keyName,
                                                      const crypto::PublicKey& key);

} // namespace assay::merkle
