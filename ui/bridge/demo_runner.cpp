// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/demo_runner.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/bridge/command_text.h"

namespace assay::ui {

DemoRunner::DemoRunner(QObject* parent) : QObject(parent) {
    connect(&m_child, &ChildProcess::output, this, &DemoRunner::readOutput);
    connect(&m_child, &ChildProcess::message, this, [this](const QString& line) {
        const auto json = QJsonDocument::fromJson(line.toUtf8());
        if (json.isObject()) {
            readOutput(line.toUtf8() + '\n');
        } else {
            m_lastMessage = line;
            Q_EMIT message(line);
        }
    });
    connect(&m_child, &ChildProcess::ended, this, [this](int code, bool crashed, const QString& why) {
        if (!m_running) {
            return;
        }
        if (m_cancelled) {
            m_running = false;
            Q_EMIT failed(tr("The demo was stopped; what was made so far is kept"));
        } else if (code != 0 || crashed) {
            m_running = false;
            Q_EMIT failed(m_lastMessage.isEmpty() ? why : tr("%1 (%2)").arg(m_lastMessage, why));
        } else {
            ++m_at;
            next();
        }
    });
}

void DemoRunner::start(DemoKind kind, const QString& folder) {
    if (m_running) {
        return;
    }
    m_kind = kind;
    m_folder = folder;
    m_cancelled = false;
    m_running = true;
    m_at = 0;
    m_lastMessage.clear();
    m_tasks.clear();
    const QString order = folder + QStringLiteral("/order.json");
    const QString honest = folder + QStringLiteral("/honest");
    const QString tampered = folder + QStringLiteral("/tampered");
    const QString key = folder + QStringLiteral("/trainer.pem");
    if (!QDir().mkpath(folder)) {
        m_running = false;
        Q_EMIT failed(tr("The folder %1 cannot be made").arg(folder));
        return;
    }
    const auto words = [](const QString& line) { return line.split(u' ', Qt::SkipEmptyParts); };
    m_tasks.push_back({tr("Making a key for the trainer"), words(QStringLiteral("keygen --out")) << key, key});
    m_tasks.push_back({tr("Writing the order: a small GPT on real text"),
                       words(QStringLiteral("order new --program gpt --steps 24 --batch 8 --layers 2 --width 64 --context 32 "
                                            "--optimizer adamw --lr 0.003 --schedule cosine --warmup 4 --checkpoint-every 8 "
                                            "--bound empirical --seed 2024 --trainer-key"))
                           << key << QStringLiteral("--out") << folder,
                       order});
    m_tasks.push_back({tr("Training as ordered, as the trainer would"),
                       QStringList{QStringLiteral("train"), order, QStringLiteral("--out"), honest, QStringLiteral("--kernel"),
                                   QStringLiteral("haswell"), QStringLiteral("--key"), key, QStringLiteral("--progress"),
                                   QStringLiteral("jsonl")},
                       honest + QStringLiteral("/attestation.dsse.json")});
    if (kind == DemoKind::tampered) {
        m_tasks.push_back({tr("Planting a fault: from step 13 on the learning rate is not the ordered one"),
                           QStringList{QStringLiteral("tamper"), honest, QStringLiteral("--kind"), QStringLiteral("weights"),
                                       QStringLiteral("--step"), QStringLiteral("16"), QStringLiteral("--key"), key,
                                       QStringLiteral("--kernel"), QStringLiteral("haswell"), QStringLiteral("--data"), folder,
                                       QStringLiteral("--out"), tampered, QStringLiteral("--progress"), QStringLiteral("jsonl")},
                           tampered + QStringLiteral("/attestation.dsse.json")});
    }
    next();
}

void DemoRunner::cancel() {
    if (m_running) {
        m_cancelled = true;
        m_child.stop();
    }
}

void DemoRunner::next() {
    while (m_at < m_tasks.size() && QFileInfo::exists(m_tasks[m_at].product)) {
        ++m_at;
    }
    if (m_at >= m_tasks.size()) {
        m_running = false;
        const QString name = m_kind == DemoKind::honest ? QStringLiteral("/honest") : QStringLiteral("/tampered");
        Q_EMIT ready(m_kind, m_folder + name, m_folder + QStringLiteral("/order.json"));
        return;
    }
    const QString program = findProgram(QStringLiteral("assay"));
    if (program.isEmpty()) {
        m_running = false;
        Q_EMIT failed(tr("The program assay was not found beside the workbench or in PATH"));
        return;
    }
    const auto& task = m_tasks[m_at];
    Q_EMIT progress(task.words + QChar(0x2026));
    Q_EMIT command(task.words, commandLine(QStringLiteral("assay"), task.arguments));
    m_child.start(program, task.arguments);
}

void DemoRunner::readOutput(const QByteArray& lines) {
    for (const auto& line : lines.split('\n')) {
        const auto json = QJsonDocument::fromJson(line).object();
        const auto total = json.value(QStringLiteral("total")).toInteger();
        if (json.value(QStringLiteral("event")).toString() == u"progress" && total > 0 && m_at < m_tasks.size()) {
            Q_EMIT progress(tr("%1 (%2 of %3 %4)")
                                .arg(m_tasks[m_at].words)
                                .arg(json.value(QStringLiteral("done")).toInteger())
                                .arg(total)
                                .arg(json.value(QStringLiteral("unit")).toString()));
        }
    }
}

} // namespace assay::ui
