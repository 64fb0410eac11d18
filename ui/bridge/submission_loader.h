// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>

#include <QObject>
#include <QString>

#include "core/base/error.h"
#include "ui/models/submission_summary.h"

namespace assay::ui {

/// What to open and what the auditor holds besides.
struct OpenRequest {
    QString path;        ///< submission folder, .assay file, manifest.json, or an order file
    QString clientOrder; ///< empty: not known
    QString dataFolder;  ///< empty: the folder of the client's order
};

/// Reads what the submission page shows. Blocking; run off the GUI thread. Nothing is executed.
[[nodiscard]] base::Result<SubmissionSummary> readSubmission(const OpenRequest& request);
/// An order.json with the program beside it.
[[nodiscard]] base::Result<SubmissionSummary> readOrder(const QString& path, const QString& dataFolder);
/// Looks at some samples of an order's data. Fills samples or dataProblem.
void readSamples(SubmissionSummary& summary);
/// Sizes and entry counts of all log sections. Stops when `stop` becomes true.
[[nodiscard]] LogSummary readLogs(const QString& path, const std::atomic<bool>& stop);
/// What `path` stands for: a submission folder, a bundle or an order.
enum class OpenKind { submission, order, nothing };
[[nodiscard]] OpenKind kindOf(const QString& path);
/// The folder or file that names the submission (a manifest.json names its folder).
[[nodiscard]] QString submissionPathOf(const QString& path);

/// Runs the functions above on a pool; a newer request makes older answers void.
class SubmissionLoader : public QObject {
    Q_OBJECT

public:
    explicit SubmissionLoader(QObject* parent = nullptr);
    ~SubmissionLoader() override;
    void load(const OpenRequest& request);
    void cancel();

Q_SIGNALS:
    void loaded(const assay::ui::SubmissionPtr& submission);
    void samplesLoaded(const assay::ui::SubmissionPtr& submission); ///< the same with samples
    void logsLoaded(const QString& path, const assay::ui::LogSummary& logs);
    void failed(const QString& path, const QString& message, const QString& remedy);

private:
    std::shared_ptr<std::atomic<bool>> m_stop;
};

} // namespace assay::ui

Q_DECLARE_METATYPE(assay::ui::LogSummary)
