// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/command_text.h"

#include <utility>

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

namespace assay::ui {

namespace {

QString quoted(const QString& word) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:=,+@%-]+$"));
    return plain.match(word).hasMatch() ? word : u'\'' + QString(word).replace(u'\'', QStringLiteral("'\\''")) + u'\'';
}

QString rangeText(const ReplayRequest& request) { return QStringLiteral("%1:%2").arg(request.firstStep).arg(request.lastStep); }

} // namespace

QString commandLine(const QString& program, const QStringList& arguments) {
    QStringList words{quoted(program)};
    for (const auto& argument : arguments) {
        words << quoted(argument);
    }
    return words.join(u' ');
}

QString verifyCommand(const ReplayInputs& inputs) {
    QStringList arguments{QStringLiteral("verify"), inputs.submission};
    const auto option = [&](const char* name, const QString& value) {
        if (!value.isEmpty()) {
            arguments << QString::fromLatin1(name) << value;
        }
    };
    option("--order", inputs.clientOrder);
    option("--data", inputs.dataFolder);
    option("--kernel", inputs.request.kernel);
    if (inputs.request.scope == ReplayScope::range) {
        option("--steps", rangeText(inputs.request));
    } else if (inputs.request.scope == ReplayScope::sample) {
        option("--sample", QString::number(inputs.request.segments));
        option("--nonce", inputs.nonce);
    }
    if (inputs.request.ignoreLog) {
        arguments << QStringLiteral("--ignore-log");
    }
    option("--store", inputs.storePath);
    if (inputs.verified.through > 0) {
        arguments << QStringLiteral("--resume");
    }
    return commandLine(QStringLiteral("assay"), arguments);
}

std::optional<ReplayInputs> parseVerifyCommand(const QString& line) {
    QStringList words;
    QString word;
    bool any = false;
    bool quote = false;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar c = line[i];
        if (c == u'\'') {
            quote = !quote;
            any = true;
        } else if (!quote && c == u'\\' && i + 1 < line.size()) {
            word += line[++i];
            any = true;
        } else if (!quote && c == u' ') {
            if (any) {
                words << std::exchange(word, {});
                any = false;
            }
        } else {
            word += c;
            any = true;
        }
    }
    if (any) {
        words << word;
    }
    if (quote || words.size() < 3 || words[1] != u"verify") {
        return std::nullopt;
    }
    ReplayInputs out;
    out.submission = words[2];
    for (qsizetype i = 3; i < words.size(); ++i) {
        const QString name = words[i];
        if (name == u"--ignore-log") {
            out.request.ignoreLog = true;
            continue;
        }
        if (name == u"--resume") {
            continue;
        }
        if (i + 1 >= words.size()) {
            return std::nullopt;
        }
        const QString value = words[++i];
        if (name == u"--order") {
            out.clientOrder = value;
        } else if (name == u"--data") {
            out.dataFolder = value;
        } else if (name == u"--kernel") {
            out.request.kernel = value;
        } else if (name == u"--store") {
            out.storePath = value;
        } else if (name == u"--nonce") {
            out.nonce = value;
        } else if (name == u"--sample") {
            out.request.scope = ReplayScope::sample;
            out.request.segments = value.toULongLong();
        } else if (name == u"--steps") {
            out.request.scope = ReplayScope::range;
            out.request.firstStep = value.section(u':', 0, 0).toULongLong();
            out.request.lastStep = value.section(u':', 1, 1).toULongLong();
        }
    }
    return out;
}

QByteArray verifyRequest(const ReplayInputs& inputs) {
    QJsonObject json{{QStringLiteral("verb"), QStringLiteral("verify")}, {QStringLiteral("submission"), inputs.submission}};
    const auto option = [&](const char* name, const QString& value) {
        if (!value.isEmpty()) {
            json.insert(QString::fromLatin1(name), value);
        }
    };
    option("order", inputs.clientOrder);
    option("data", inputs.dataFolder);
    option("kernel", inputs.request.kernel);
    if (inputs.request.scope == ReplayScope::range) {
        option("steps", rangeText(inputs.request));
    } else if (inputs.request.scope == ReplayScope::sample) {
        json.insert(QStringLiteral("sample"), static_cast<qint64>(inputs.request.segments));
        option("nonce", inputs.nonce);
    }
    if (inputs.request.ignoreLog) {
        json.insert(QStringLiteral("ignore_log"), true);
    }
    if (const auto& verified = inputs.verified; verified.through > 0) {
        const auto count = [&](const char* name, std::uint64_t value) {
            json.insert(QString::fromLatin1(name), static_cast<qint64>(value));
        };
        count("verified_through", verified.through);
        count("verified_entries", verified.entries);
        count("verified_corrections", verified.corrections);
        count("verified_log_bytes", verified.logBytes);
        count("verified_freedom", verified.freedom);
        option("verified_leaves", QString::fromStdString(verified.leaves));
    }
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

} // namespace assay::ui
