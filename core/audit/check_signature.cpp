// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/audit/detail/outcome.h"
#include "core/audit/static_checks.h"
#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/merkle/checkpoint_note.h"

namespace assay::audit {

namespace {

using detail::Outcome;

/// The keys whose signature counts: the one on the command line, else those of the client's order.
base::Result<std::vector<crypto::PublicKey>> keysOf(const AuditorInputs& inputs) {
    std::vector<crypto::PublicKey> keys;
    if (!inputs.trainerKeyPem.empty()) {
        ASSAY_TRY(key, crypto::PublicKey::fromPem(inputs.trainerKeyPem));
        keys.push_back(key);
    } else if (inputs.clientOrder) {
        for (const auto& hex : inputs.clientOrder->trainerKeys) {
            ASSAY_TRY(key, crypto::PublicKey::fromHex(hex));
            keys.push_back(key);
        }
    }
    return keys;
}

void compare(Outcome& outcome, std::string_view what, const base::Digest& signedDigest, const base::Digest& own) {
    if (signedDigest != own) {
        FirstDivergence where;
        where.claimed = signedDigest.toHex();
        where.computed = own.toHex();
        outcome.fail(Part::signature, where, fmt::format("the signed statement is about another {}", what));
    }
}

/// What the statement says must be what is in the submission: otherwise a good signature of something else would do.
void compareSubjects(Outcome& outcome, const format::Submission& submission, const format::Attestation& statement) {
    compare(outcome, "root", statement.root, submission.commitment().root);
    compare(outcome, "manifest", statement.manifest, submission.manifestDigest());
    compare(outcome, "order", statement.order, submission.orderDigest());
    const auto name = submission.checkpoints().empty() ? std::string(format::kInitName)
                                                       : format::checkpointName(submission.checkpoints().back());
    const auto* file = submission.manifest().find(name);
    if (statement.finalCheckpointName != name || file == nullptr) {
        outcome.fail(Part::signature, {},
                     fmt::format("the signed statement names {} as final checkpoint, the submission has {}",
                                 statement.finalCheckpointName, name));
    } else {
        compare(outcome, "final checkpoint file", statement.finalCheckpoint, file->sha256);
    }
    if (statement.leaves != submission.leaves()) {
        outcome.fail(Part::signature, {},
                     fmt::format("the signed statement is about {} leaves, the submission has {}", statement.leaves,
                                 submission.leaves()));
    }
    const auto covered = statement.profiles.empty() ? 0 : statement.profiles.back().lastStep;
    if (covered != submission.steps()) {
        outcome.fail(Part::signature, {},
                     fmt::format("the signed statement names the kernel profiles of {} steps, the submission has {}",
                                 covered, submission.steps()));
    }
}

void checkNote(Outcome& outcome, const format::Submission& submission, const std::vector<crypto::PublicKey>& keys) {
    const auto note = merkle::parseCheckpoint(submission.commitment().checkpointNote);
    if (!note) {
        return; // the Merkle check says what is wrong with it
    }
    for (const auto& key : keys) {
        for (const auto& signature : note->signatures) {
            if (merkle::verifyCheckpoint(*note, signature.keyName, key) == crypto::SignatureCheck::invalid) {
                outcome.fail(Part::signature, {}, "the signature of the checkpoint note does not verify");
                return;
            }
        }
    }
}

/// The key id that a good signature of `signer` carries if it is another key's. The id is not signed and decides
/// nothing, but reports show it before anything is verified, so it must not lie. No id at all is fine.
std::optional<std::string> misnamedKey(const crypto::Envelope& envelope, const crypto::PublicKey& signer) {
    for (const auto& signature : envelope.signatures) {
        crypto::Envelope alone = envelope;
        alone.signatures = {signature};
        if (!signature.keyId.empty() && signature.keyId != signer.keyId() &&
            crypto::verifyEnvelope(alone, signer) == crypto::SignatureCheck::valid) {
            return signature.keyId;
        }
    }
    return std::nullopt;
}

} // namespace

base::Result<CheckOutcome> checkSignature(const format::Submission& submission, const AuditorInputs& inputs) {
    Outcome outcome(Check::signature);
    // An attestation that cannot be read proves nothing, whoever may have signed it.
    const auto parsed = crypto::parseEnvelope(submission.envelopeText());
    if (!parsed || !submission.attestationProblem().empty()) {
        outcome.fail(Part::signature, {},
                     fmt::format("{}: {}", format::kAttestationName,
                                 parsed ? submission.attestationProblem() : parsed.error().toString()));
        return outcome.finish({});
    }
    const auto& envelope = *parsed;
    compareSubjects(outcome, submission, submission.attestation());

    ASSAY_TRY(keys, keysOf(inputs));
    checkNote(outcome, submission, keys);
    if (keys.empty()) {
        return outcome.finishUnchecked("unknown key");
    }
    if (envelope.signatures.empty()) {
        outcome.fail(Part::signature, {}, "the submission is not signed, although the trainer's key is known");
        return outcome.finish({});
    }
    const auto signer = std::find_if(keys.begin(), keys.end(), [&](const crypto::PublicKey& key) {
        return crypto::verifyEnvelope(envelope, key) == crypto::SignatureCheck::valid;
    });
    if (signer == keys.end()) {
        outcome.fail(Part::signature, {},
                     "no signature verifies with the trainer's key: something was changed after signing, or somebody "
                     "else signed");
        return outcome.finish({});
    }
    if (const auto named = misnamedKey(envelope, *signer)) {
        outcome.fail(Part::signature, {},
                     fmt::format("the signature is that of key {}, but says that it is one of key {}",
                                 signer->keyId().substr(0, 16), named->substr(0, 16)));
        return outcome.finish({});
    }
    if (inputs.clientOrder && !inputs.clientOrder->trainerKeys.empty() &&
        std::find(inputs.clientOrder->trainerKeys.begin(), inputs.clientOrder->trainerKeys.end(), signer->toHex()) ==
            inputs.clientOrder->trainerKeys.end()) {
        outcome.warn("the key given for the trainer is not one that the order names");
    }
    return outcome.finish(fmt::format("signed by key {}", signer->keyId().substr(0, 16)));
}

} // namespace assay::audit
