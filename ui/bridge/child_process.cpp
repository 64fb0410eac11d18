// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/child_process.h"

#include <csignal>

#include <sys/prctl.h>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace assay::ui {

QString findProgram(const QString& name) {
    QStringList folders;
    if (const QString own = qEnvironmentVariable("ASSAY_BIN"); !own.isEmpty()) {
        folders << own;
    }
    folders << QCoreApplication::applicationDirPath() << QCoreApplication::applicationDirPath() + QStringLiteral("/../bin");
    const QString beside = QStandardPaths::findExecutable(name, folders);
    return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

ChildProcess::ChildProcess(QObject* parent) : QObject(parent) {
    m_process.setProcessChannelMode(QProcess::SeparateChannels);
    m_process.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
    m_flush.setSingleShot(true);
    m_flush.setInterval(33);
    m_kill.setSingleShot(true);
    connect(&m_flush, &QTimer::timeout, this, &ChildProcess::flush);
    connect(&m_kill, &QTimer::timeout, &m_process, &QProcess::kill);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, [this] {
        m_buffer += m_process.readAllStandardOutput();
        if (!m_flush.isActive()) {
            m_flush.start();
        }
    });
    connect(&m_process, &QProcess::readyReadStandardError, this, &ChildProcess::readErrors);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart && !m_ended) {
            m_ended = true;
            Q_EMIT ended(-1, true, tr("%1 cannot be started: %2").arg(m_process.program(), m_process.errorString()));
        }
    });
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        m_kill.stop();
        m_flush.stop();
        m_buffer += m_process.readAllStandardOutput();
        flush();
        if (!m_buffer.isEmpty()) { // a last line without newline
            Q_EMIT output(std::exchange(m_buffer, {}) + '\n');
        }
        readErrors();
        if (!m_errors.isEmpty()) {
            Q_EMIT message(QString::fromUtf8(std::exchange(m_errors, {})));
        }
        if (m_ended) {
            return;
        }
        m_ended = true;
        const bool crashed = status == QProcess::CrashExit;
        const QString name = QFileInfo(m_process.program()).fileName();
        Q_EMIT ended(code, crashed,
                     crashed     ? tr("the process %1 was ended by signal %2").arg(name).arg(code)
                     : code != 0 ? tr("%1 ended with exit code %2").arg(name).arg(code)
                                 : QString());
    });
}

ChildProcess::~ChildProcess() {
    m_process.disconnect(this);
    if (isRunning()) {
        m_process.write("cancel\n");
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(3000)) {
            m_process.kill();
            m_process.waitForFinished(1000);
        }
    }
}

void ChildProcess::start(const QString& program, const QStringList& arguments, const QByteArray& firstLine) {
    m_ended = false;
    m_buffer.clear();
    m_errors.clear();
    m_process.start(program, arguments);
    if (!firstLine.isEmpty()) {
        m_process.write(firstLine + '\n');
    }
}

void ChildProcess::send(const QByteArray& line) {
    if (isRunning()) {
        m_process.write(line + '\n');
    }
}

void ChildProcess::stop(int graceMs) {
    if (isRunning()) {
        send("cancel");
        m_kill.start(graceMs);
    }
}

void ChildProcess::flush() {
    const auto end = m_buffer.lastIndexOf('\n');
    if (end >= 0) {
        const QByteArray lines = m_buffer.left(end + 1);
        m_buffer.remove(0, end + 1);
        Q_EMIT output(lines);
    }
}

void ChildProcess::readErrors() {
    m_errors += m_process.readAllStandardError();
    for (auto end = m_errors.indexOf('\n'); end >= 0; end = m_errors.indexOf('\n')) {
        const QString line = QString::fromUtf8(m_errors.left(end)).trimmed();
        m_errors.remove(0, end + 1);
        if (!line.isEmpty()) {
            Q_EMIT message(line);
        }
    }
}

} // namespace assay::ui
