// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QObject>
#include <QStringList>

#include "ui/bridge/child_process.h"

namespace assay::ui {

enum class DemoKind { honest, tampered };

/// Makes the submissions of the demo on this machine, by the same commands that a person would type: an order, a trained
/// submission, and one in which a fault was planted. What exists from an earlier run is used again.
class DemoRunner : public QObject {
    Q_OBJECT

public:
    explicit DemoRunner(QObject* parent = nullptr);
    /// `folder` holds the demo's files; created when missing. `kernel` is the profile of the trainer.
    void start(DemoKind kind, const QString& folder, const QString& kernel);
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_running; }

Q_SIGNALS:
    /// What happens now, for the start page: "Training a small GPT (12 of 24 steps)".
    void progress(const QString& words);
    void command(const QString& what, const QString& commandLine);
    void message(const QString& line);
    void ready(assay::ui::DemoKind kind, const QString& submission, const QString& order);
    void failed(const QString& why);

private:
    struct Task {
        QString words;
        QStringList arguments;
        QString product; ///< skipped if this exists
    };
    [[nodiscard]] QString orderPath() const;
    void next();
    void readOutput(const QByteArray& lines);

    ChildProcess m_child;
    std::vector<Task> m_tasks;
    std::size_t m_at = 0;
    DemoKind m_kind = DemoKind::honest;
    QString m_folder;
    QString m_lastMessage;
    bool m_running = false;
    bool m_cancelled = false;
};

} // namespace assay::ui
