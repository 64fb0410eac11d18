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

void DemoRunner::start(DemoKind kind, const QString& folder, const QString& kernel) {
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
    const QString orderFolder = folder + QStringLiteral("/order");
    const QString order = orderPath();
    const QString honest = folder + QStringLiteral("/honest");
    const QString tampered = folder + QStringLiteral("/tampered");
    const QString finished = QStringLiteral("/attestation.dsse.json");
    if (!QDir().mkpath(folder)) {
        m_running = false;
        Q_EMIT failed(tr("The folder %1 cannot be made").arg(folder));
        return;
    }
    if (!QFileInfo::exists(tampered + finished)) {
        QDir(tampered).removeRecursively(); // left by a demo that was stopped
    }
    const auto words = [](const char* line) { return QString::fromLatin1(line).split(u' ', Qt::SkipEmptyParts); };
    const QStringList progressLines{QStringLiteral("--progress"), QStringLiteral("jsonl")};
    m_tasks.push_back({tr("Writing the order: a small GPT on the licence texts of this machine"),
                       words("order new --program gpt --steps 24 --batch 8 --layers 2 --width 128 --context 64 --optimizer adamw --lr 0.003 "
                             "--schedule cosine --warmup 4 --clip 1 --dropout 0.1 --checkpoint-every 4 --seed 2026 --out")
                           << orderFolder,
                       order});
    m_tasks.push_back({tr("Training as ordered, in the role of the trainer"),
                       QStringList{QStringLiteral("train"), order, QStringLiteral("--kernel"), kernel, QStringLiteral("--out"), honest,
                                   QStringLiteral("--resume")} + progressLines,
                       honest + finished});
    if (kind == DemoKind::tampered) {
        // At a checkpoint, so that the evidence goes down to the element and its bits.
        m_tasks.push_back({tr("Cheating: the weights are changed at step 16, and all that follows is trained, committed and signed anew"),
                           words("tamper") + QStringList{honest} + words("--kind weights --step 16 --kernel") +
                               QStringList{kernel, QStringLiteral("--key"), orderFolder + QStringLiteral("/trainer.pem"),
                                           QStringLiteral("--data"), orderFolder, QStringLiteral("--out"), tampered} +
                               progressLines,
                           tampered + finished});
    }
    next();
}

QString DemoRunner::orderPath() const { return m_folder + QStringLiteral("/order/order.json"); }

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
        Q_EMIT ready(m_kind, m_folder + name, orderPath());
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
