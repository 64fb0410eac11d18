// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>

namespace assay::ui {

/// Folder-independent location of our own programs: ASSAY_BIN, then beside this executable, then PATH. Empty if there is none.
[[nodiscard]] QString findProgram(const QString& name);

/// One child: `assay-engine run` or a verb of `assay`. Output arrives in whole lines, bundled at most 30 times a second, so that a
/// fast engine cannot flood the event loop. The child's standard input stays open: end-of-file tells it that its parent has died.
class ChildProcess : public QObject {
    Q_OBJECT

public:
    explicit ChildProcess(QObject* parent = nullptr);
    ~ChildProcess() override;

    /// Starts `program`; `firstLine` goes to its standard input. Reports through the signals only.
    void start(const QString& program, const QStringList& arguments, const QByteArray& firstLine = {});
    /// Writes one command line ("pause", "resume", "cancel").
    void send(const QByteArray& line);
    /// Orderly stop: "cancel", end of input, and after `graceMs` the hard way.
    void stop(int graceMs = 8000);
    [[nodiscard]] bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    [[nodiscard]] qint64 processId() const { return m_process.processId(); }

Q_SIGNALS:
    /// One or more complete lines, each with its newline.
    void output(const QByteArray& lines);
    /// One line of standard error.
    void message(const QString& line);
    /// After all output. `why` is empty for exit code 0, otherwise what happened in words.
    void ended(int exitCode, bool crashed, const QString& why);

private:
    void flush();
    void readErrors();

    QProcess m_process;
    QTimer m_flush;
    QTimer m_kill;
    QByteArray m_buffer;
    QByteArray m_errors;
    bool m_ended = false;
};

} // namespace assay::ui
