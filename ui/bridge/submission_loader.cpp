// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/submission_loader.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <QThreadPool>

#include "core/audit/static_checks.h"
#include "core/base/file.h"
#include "core/crypto/ed25519.h"
#include "core/format/dataset.h"
#include "core/numerics/log_codec.h"
#include "ui/models/number_text.h"
#include "ui/models/verdict_words.h"

namespace assay::ui {

namespace {

constexpr std::size_t kSamples = 16;

QString text(const std::string& value) { return QString::fromStdString(value); }
QString tr(const char* words) { return QCoreApplication::translate("Submission", words); }
std::filesystem::path fsPath(const QString& path) { return std::filesystem::path(path.toStdString()); }

/// Bytes as a person reads them: line ends and other controls as visible signs.
QString readable(base::ByteView bytes) {
    QString out;
    for (const auto byte : bytes) {
        out += byte == '\n' ? QChar(0x21B5) : byte < 0x20 || byte >= 0x7F ? QChar(0x00B7) : QChar(byte);
    }
    return out;
}

QImage imageOf(base::ByteView pixels, const std::vector<std::int64_t>& shape) {
    if (shape.size() != 3 || shape[1] < 1 || shape[2] < 1 || shape[1] > 4096 || shape[2] > 4096 ||
        pixels.size() != static_cast<std::size_t>(shape[0] * shape[1] * shape[2])) {
        return {};
    }
    const int height = static_cast<int>(shape[1]);
    const int width = static_cast<int>(shape[2]);
    const auto plane = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    QImage image(width, height, QImage::Format_RGB32);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
            const int r = pixels[at];
            image.setPixel(x, y, shape[0] == 3 ? qRgb(r, pixels[at + plane], pixels[at + 2 * plane]) : qRgb(r, r, r));
        }
    }
    return image;
}

std::vector<KeyInfo> keysOf(const format::Order& order) {
    std::vector<KeyInfo> out;
    for (const auto& hex : order.trainerKeys) {
        const auto key = crypto::PublicKey::fromHex(hex);
        out.push_back({key ? text(key->keyId()) : QString(), text(hex)});
    }
    return out;
}

void readClientOrder(const OpenRequest& request, SubmissionSummary& summary, std::optional<format::Order>& client) {
    if (request.clientOrder.isEmpty()) {
        return;
    }
    auto bytes = base::readFile(fsPath(request.clientOrder), format::kMaxOrderBytes);
    if (!bytes) {
        return;
    }
    auto parsed = format::parseOrder(*bytes);
    if (!parsed) {
        return;
    }
    client = std::move(*parsed);
    summary.clientOrderPath = request.clientOrder;
    summary.clientOrderDigest = text(format::orderDigest(*client).toHex());
    summary.differences = format::describeDifferences(*client, summary.order);
}

} // namespace

QString submissionPathOf(const QString& path) {
    const QFileInfo info(path);
    if (info.fileName() == u"manifest.json") {
        return info.absolutePath();
    }
    return QDir::cleanPath(info.absoluteFilePath());
}

OpenKind kindOf(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists()) {
        return OpenKind::nothing;
    }
    if (info.isDir()) {
        const QDir folder(path);
        if (folder.exists(QStringLiteral("manifest.json")) || folder.exists(QStringLiteral("leaves.bin"))) {
            return OpenKind::submission;
        }
        return folder.exists(QStringLiteral("order.json")) ? OpenKind::order : OpenKind::submission;
    }
    return info.suffix() == u"json" && info.fileName() != u"manifest.json" ? OpenKind::order : OpenKind::submission;
}

base::Result<SubmissionSummary> readOrder(const QString& given, const QString& dataFolder) {
    const QString path = QFileInfo(given).isDir() ? given + QStringLiteral("/order.json") : given;
    ASSAY_TRY(bytes, base::readFile(fsPath(path), format::kMaxOrderBytes));
    auto order = format::parseOrder(bytes);
    if (!order) {
        return base::fail(order.error().inFile(path.toStdString()));
    }
    SubmissionSummary summary;
    summary.path = QFileInfo(path).absoluteFilePath();
    summary.orderOnly = true;
    summary.order = std::move(*order);
    summary.orderDigest = text(format::orderDigest(summary.order).toHex());
    summary.programDigest = text(summary.order.program.toHex());
    summary.title = summary.order.title.empty() ? QFileInfo(path).fileName() : text(summary.order.title);
    summary.steps = summary.order.loop.steps;
    summary.clientOrderPath = summary.path;
    summary.clientOrderDigest = summary.orderDigest;
    summary.trainerKeys = keysOf(summary.order);
    summary.dataFolder = dataFolder.isEmpty() ? QFileInfo(path).absolutePath() : QFileInfo(dataFolder).absoluteFilePath();
    const QString programPath = QFileInfo(path).absolutePath() + QStringLiteral("/program.json");
    if (auto programBytes = base::readFile(fsPath(programPath), format::kMaxProgramBytes)) {
        if (auto program = format::parseProgram(*programBytes)) {
            summary.program = std::move(*program);
            summary.programKnown = true;
            summary.programText = QString::fromUtf8(reinterpret_cast<const char*>(programBytes->data()),
                                                    static_cast<qsizetype>(programBytes->size()));
        }
    }
    return summary;
}

base::Result<SubmissionSummary> readSubmission(const OpenRequest& request) {
    const QString path = submissionPathOf(request.path);
    ASSAY_TRY(submission, format::Submission::open(fsPath(path)));
    SubmissionSummary summary;
    summary.path = path;
    summary.order = submission.order();
    summary.title = summary.order.title.empty() ? QFileInfo(path).fileName() : text(summary.order.title);
    summary.orderDigest = text(submission.orderDigest().toHex());
    summary.program = submission.program();
    summary.programKnown = true;
    if (auto canonical = format::serialiseProgram(summary.program)) {
        summary.programText = text(*canonical);
    }
    summary.programDigest = text(submission.programDigest().toHex());
    summary.manifestDigest = text(submission.manifestDigest().toHex());
    for (const auto& file : submission.manifest().files) {
        ++summary.files;
        summary.bytes += file.size;
    }
    summary.steps = submission.steps();
    summary.leaves = submission.leaves();
    summary.root = text(submission.commitment().root.toHex());
    summary.diverged = submission.commitment().diverged;
    summary.logBytes = submission.logBytes();
    for (std::uint64_t step = 1; step <= summary.steps; ++step) {
        auto record = submission.step(step);
        if (!record) {
            return base::fail(std::move(record).error());
        }
        summary.claimedLosses.push_back(record->leaf.diverged ? std::nan("")
                                                              : static_cast<double>(std::bit_cast<float>(record->leaf.lossBits)));
        if (record->leaf.diverged) {
            summary.divergedSite = text(record->leaf.divergedSite);
        }
    }
    for (const auto step : submission.checkpoints()) {
        CheckpointInfo info;
        info.step = step;
        info.file = text(format::checkpointName(step));
        if (const auto* entry = submission.manifest().find(format::checkpointName(step))) {
            info.bytes = entry->size;
            info.sha256 = text(entry->sha256.toHex());
        }
        if (auto record = submission.step(step); record && record->leaf.stateRoot) {
            info.stateRoot = text(record->leaf.stateRoot->toHex());
        }
        summary.checkpoints.push_back(std::move(info));
    }
    summary.profiles = submission.attestation().profiles;
    summary.engineVersion = text(submission.attestation().engineVersion);

    std::optional<format::Order> client;
    readClientOrder(request, summary, client);
    audit::AuditorInputs inputs;
    inputs.clientOrder = client;
    if (auto outcome = audit::checkSignature(submission, inputs)) {
        summary.openingChecks.push_back(checkRow(outcome->result));
    } else {
        CheckRow failed;
        failed.name = QStringLiteral("signature");
        failed.state = CheckState::failed;
        failed.detail = text(outcome.error().message);
        summary.openingChecks.push_back(failed);
    }
    summary.openingChecks.push_back(checkRow(audit::checkOrder(submission, inputs).result));
    summary.trainerKeys = keysOf(inputs.order(submission));
    summary.dataFolder = !request.dataFolder.isEmpty()             ? QFileInfo(request.dataFolder).absoluteFilePath()
                         : !summary.clientOrderPath.isEmpty() ? QFileInfo(summary.clientOrderPath).absolutePath()
                                                              : QString();
    return summary;
}

void readSamples(SubmissionSummary& summary) {
    if (summary.dataFolder.isEmpty()) {
        summary.dataProblem = tr("The folder with the data is not known. Choose it, or choose the client's order that lies beside it.");
        return;
    }
    const auto& spec = summary.order.data;
    auto data = format::Dataset::open(spec, fsPath(summary.dataFolder));
    if (!data) {
        summary.dataProblem = text(data.error().toString());
        return;
    }
    auto indices = format::batchIndices(summary.order, 1);
    indices.resize(std::min(indices.size(), kSamples));
    for (const auto index : indices) {
        SampleLook look;
        look.index = index;
        const auto bytes = data->sampleBytes(index);
        QString label = tr("sample %1").arg(groupedNumber(index));
        if (spec.task == "classification") {
            std::int64_t value = 0;
            data->copyLabels(std::span(&index, 1), &value);
            const bool printable = spec.reader == "bytes" && value >= 0x21 && value < 0x7F;
            label = printable ? tr("%1, next byte “%2”").arg(label, QString(QChar(static_cast<char16_t>(value))))
                              : tr("class %1").arg(static_cast<qlonglong>(value));
        }
        if (spec.reader == "idx" || spec.reader == "cifar10") {
            look.image = imageOf(bytes, spec.imageShape);
        } else {
            look.text = readable(bytes.subspan(0, std::min<std::size_t>(bytes.size(), 400)));
        }
        look.label = label;
        summary.samples.push_back(std::move(look));
    }
}

LogSummary readLogs(const QString& path, const std::atomic<bool>& stop) {
    LogSummary out;
    auto submission = format::Submission::open(fsPath(path));
    if (!submission) {
        out.problem = text(submission.error().message);
        return out;
    }
    for (std::uint64_t step = 1; step <= submission->steps() && !stop; ++step) {
        auto bytes = submission->log(step);
        if (!bytes || bytes->empty()) {
            continue;
        }
        auto file = numerics::decodeStepLog(*bytes);
        if (!file) {
            out.problem = tr("The log of step %1 cannot be read: %2").arg(step).arg(text(file.error().toString()));
            break;
        }
        out.sections.resize(std::max(out.sections.size(), file->sections.size()));
        for (std::size_t i = 0; i < file->sections.size(); ++i) {
            auto& section = out.sections[i];
            base::ByteReader reader(file->sections[i].bytes);
            const std::uint64_t entries = reader.getVarint("entries").value_or(0); // a section begins with its count
            section.entries += entries;
            section.bytes += file->sections[i].bytes.size();
            section.steps += entries > 0 ? 1 : 0;
        }
        ++out.stepsRead;
    }
    return out;
}

SubmissionLoader::SubmissionLoader(QObject* parent) : QObject(parent), m_stop(std::make_shared<std::atomic<bool>>(false)) {
    qRegisterMetaType<SubmissionPtr>();
    qRegisterMetaType<LogSummary>();
}

SubmissionLoader::~SubmissionLoader() { cancel(); }

void SubmissionLoader::cancel() {
    *m_stop = true;
    m_stop = std::make_shared<std::atomic<bool>>(false);
}

void SubmissionLoader::load(const OpenRequest& request) {
    cancel();
    const QPointer<SubmissionLoader> self(this);
    const auto stop = m_stop;
    // Answers travel as queued calls; one that comes too late finds `stop` set.
    const auto answer = [self, stop](auto call) {
        QMetaObject::invokeMethod(qApp, [self, stop, call] {
            if (self && !*stop) {
                call(*self);
            }
        });
    };
    QThreadPool::globalInstance()->start([request, stop, answer] {
        const bool isOrder = kindOf(request.path) == OpenKind::order;
        auto read = isOrder ? readOrder(request.path, request.dataFolder) : readSubmission(request);
        if (!read) {
            const QString message = QString::fromStdString(base::Error{read.error().code, read.error().message, read.error().file,
                                                                       read.error().offset, {}}.toString());
            const QString remedy = text(read.error().remedy);
            answer([request, message, remedy](SubmissionLoader& loader) { Q_EMIT loader.failed(request.path, message, remedy); });
            return;
        }
        const auto first = std::make_shared<const SubmissionSummary>(*read);
        answer([first](SubmissionLoader& loader) { Q_EMIT loader.loaded(first); });
        if (*stop) {
            return;
        }
        readSamples(*read);
        const auto second = std::make_shared<const SubmissionSummary>(std::move(*read));
        answer([second](SubmissionLoader& loader) { Q_EMIT loader.samplesLoaded(second); });
        if (!isOrder && !*stop) {
            const LogSummary logs = readLogs(first->path, *stop);
            answer([first, logs](SubmissionLoader& loader) { Q_EMIT loader.logsLoaded(first->path, logs); });
        }
    });
}

} // namespace assay::ui
