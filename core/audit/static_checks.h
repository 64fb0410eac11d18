// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/audit/verdict.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/format/dataset.h"
#include "core/format/submission.h"

namespace assay::audit {

/// What the auditor holds besides the submission.
struct AuditorInputs {
    std::optional<format::Order> clientOrder; ///< the client's own copy; empty = not given
    std::string trainerKeyPem;                ///< public key from --trainer-key; empty = not given
    /// Either says whose signature counts. Keys that only the submission's own order names are unknown keys.
    [[nodiscard]] bool trainerKeyKnown() const {
        return !trainerKeyPem.empty() || (clientOrder && !clientOrder->trainerKeys.empty());
    }
    /// The order whose values count: the client's, or the submission's where the client gave none.
    [[nodiscard]] const format::Order& order(const format::Submission& submission) const {
        return clientOrder ? *clientOrder : submission.order();
    }
};

/// A check and what it observed. A failed check has at least one finding of severity `failure`.
struct CheckOutcome {
    CheckResult result;
    std::vector<Finding> findings;
};

// Each check below answers with a CheckOutcome; an Error only says that it could not be carried out (`cancelled`, a
// file that cannot be read, no memory). Bytes of the submission that violate a format are `malformed`. All are const
// and thread-safe.

/// DSSE envelope over the in-toto statement, key from the client's order or --trainer-key, and the statement's subjects
/// against the submission. With a key known, an unsigned or wrongly signed submission fails (part signature). Without
/// one the subjects are still compared, and the state is notChecked with the detail "unknown key".
[[nodiscard]] base::Result<CheckOutcome> checkSignature(const format::Submission& submission,
                                                        const AuditorInputs& inputs);

/// The client's order against the submission's, field by field, and the program's digest. notChecked without a client
/// order.
[[nodiscard]] CheckOutcome checkOrder(const format::Submission& submission, const AuditorInputs& inputs);

/// Every file against its digest in the manifest. One finding per file that differs, mapped to part and step
/// (partOfFile).
[[nodiscard]] base::Result<CheckOutcome> checkFiles(const format::Submission& submission,
                                                    const base::ProgressFn& progress = {}, std::stop_token stop = {});

/// Which part and step a file of a submission stands for; `lastStep` is the submission's last step.
struct FilePart {
    Part part = Part::chain;
    std::optional<std::uint64_t> step;
    std::optional<Source> source;
};
[[nodiscard]] FilePart partOfFile(std::string_view name, std::uint64_t lastStep);

/// Claimed leaves: leaf data against leaf hashes, the chain, step numbers, order digest, what is due per step, tensor
/// roots against state roots, log sizes, count against the order, root and checkpoint note against the commitment.
[[nodiscard]] base::Result<CheckOutcome> checkMerkle(const format::Submission& submission, const AuditorInputs& inputs,
                                                     const base::ProgressFn& progress = {}, std::stop_token stop = {});

/// init.safetensors against the order's digest, and its state root against leaf 0. Tensors that only later checkpoints
/// hold (optimizer state) are zero at step 0.
[[nodiscard]] base::Result<CheckOutcome> checkInitialState(const format::Submission& submission,
                                                           const AuditorInputs& inputs);

/// What the data check hands on: the opened data set, so that nobody opens it twice.
struct DataOutcome {
    CheckOutcome check;
    std::optional<format::Dataset> dataset; ///< only if the check passed
};
/// Files and sample root of the data folder against the order. A file that differs fails the check (part data) and the
/// finding names it; a missing or unreadable folder is an Error.
[[nodiscard]] base::Result<DataOutcome> checkData(const format::Submission& submission, const AuditorInputs& inputs,
                                                  const base::fs::path& dataFolder,
                                                  const base::ProgressFn& progress = {}, std::stop_token stop = {});

/// The last checkpoint file against the last leaf's state root (part final_file, tensor named), and every other
/// checkpoint file against its leaf (part state_root). Which element differs only a replay can tell.
[[nodiscard]] base::Result<CheckOutcome> checkFinalCheckpoint(const format::Submission& submission,
                                                              const base::ProgressFn& progress = {},
                                                              std::stop_token stop = {});

} // namespace assay::audit
