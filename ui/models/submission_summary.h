// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <QImage>
#include <QMetaType>
#include <QString>

#include "core/format/order.h"
#include "core/format/program.h"
#include "core/format/submission.h"
#include "ui/models/audit_types.h"
#include "ui/models/site_matrix.h"

namespace assay::ui {

/// A trainer's public key that an order names.
struct KeyInfo {
    QString id;  ///< hex of SHA-256 over the key, as in envelopes and reports
    QString hex; ///< the key itself
};

/// A checkpoint of a submission.
struct CheckpointInfo {
    std::uint64_t step = 0;
    QString file;
    std::uint64_t bytes = 0;
    QString sha256;
    QString stateRoot;
};

/// Entries that one log section of all steps holds together.
struct SectionStats {
    std::uint64_t entries = 0;
    std::uint64_t whole = 0; ///< entries that give the whole value rather than a parity
    std::uint64_t bytes = 0;
    std::uint64_t steps = 0; ///< steps with at least one entry
};

/// How one sample looks: a picture for image data, a text for tokens and bytes.
struct SampleLook {
    std::uint64_t index = 0;
    QString label;
    QImage image;
    QString text;
};

/// Everything the submission page shows that needs no replay. Made off the GUI thread, then never changed.
struct SubmissionSummary {
    QString path;
    QString title;
    bool orderOnly = false; ///< an order was opened, there is no submission yet
    format::Order order;    ///< the trainer's copy; of an order file: that order
    QString orderDigest;
    format::Program program;
    bool programKnown = false;
    QString programText;
    QString programDigest;
    QString manifestDigest;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;

    std::uint64_t steps = 0;
    std::uint64_t leaves = 0;
    QString root;
    bool diverged = false;
    QString divergedSite;
    std::vector<double> claimedLosses;
    std::vector<CheckpointInfo> checkpoints;
    std::uint64_t logBytes = 0;

    std::vector<KeyInfo> trainerKeys; ///< named by the order whose values count: the client's, if known
    std::vector<format::ProfileRange> profiles;
    QString engineVersion;

    /// The checks that are cheap enough to be made on opening: signature and order. The audit makes them again with the others.
    std::vector<CheckRow> openingChecks;

    QString clientOrderPath; ///< empty: the client's order is not known
    QString clientOrderDigest;
    std::vector<format::FieldDifference> differences;

    QString dataFolder;
    QString dataProblem; ///< why no samples can be shown
    std::vector<SampleLook> samples;
};

using SubmissionPtr = std::shared_ptr<const SubmissionSummary>;

/// What reading all logs gave; comes later than the rest for large submissions.
struct LogSummary {
    std::vector<SectionStats> sections; ///< in execution order of the product sites
    std::vector<SiteRow> names;         ///< of the sections, empty until the engine has said them
    std::uint64_t stepsRead = 0;
    QString problem;
};

} // namespace assay::ui

Q_DECLARE_METATYPE(assay::ui::SubmissionPtr)
