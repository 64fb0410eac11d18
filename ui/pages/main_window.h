// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QMainWindow>

class QLabel;
class QStackedWidget;
class QToolButton;

namespace assay::ui {

class Actions;
class ConsolePage;
class HashLabel;
class MessageBar;
class ReplayPage;
class Selection;
class StartPage;
class SubmissionPage;
class VerdictBanner;
class Workbench;

/// The window: rail of pages, header with the verdict on every page, messages, pages.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    enum Page { startPage, submissionPage, replayPage, consolePage };

    /// `persistent`: reads and writes the session (geometry, layout, page, last submission).
    MainWindow(Workbench* workbench, bool persistent, QWidget* parent = nullptr);
    ~MainWindow() override;

    void showPage(Page page);
    [[nodiscard]] Page currentPage() const;
    /// A view by name, as `--screenshot` takes it; false if unknown.
    bool showView(const QString& view);
    [[nodiscard]] static QStringList viewNames();
    [[nodiscard]] Selection* selection() const { return m_selection; }
    [[nodiscard]] Actions* actions() const { return m_actions; }
    [[nodiscard]] Workbench* workbench() const { return m_workbench; }
    /// Opens what was open when the last session ended.
    void restoreSession();
    /// Shows a dialog for a picture or a person: "palette", "keys", "help".
    QWidget* openDialog(const QString& name, bool block);
    /// Asks for a file or folder; replaceable in tests. Empty: cancelled.
    std::function<QString(const QString& title, bool folder)> askPath;

Q_SIGNALS:
    void firstPaint();

protected:
    bool event(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    [[nodiscard]] QWidget* makeRail();
    [[nodiscard]] QWidget* makeHeader();
    void wireActions();
    void wireWorkbench();
    void refreshHeader();
    void refreshTheme();
    void goToStep();
    void openPath(bool folder);
    void openHere(const QString& path);
    void saveSession();

    Workbench* m_workbench;
    bool m_persistent;
    bool m_painted = false;
    Actions* m_actions = nullptr;
    Selection* m_selection = nullptr;
    QStackedWidget* m_stack = nullptr;
    QList<QToolButton*> m_rail;
    QWidget* m_header = nullptr;
    QLabel* m_title = nullptr;
    QLabel* m_path = nullptr;
    HashLabel* m_root = nullptr;
    QLabel* m_rootLabel = nullptr;
    VerdictBanner* m_banner = nullptr;
    MessageBar* m_message = nullptr;
    QLabel* m_storeLabel = nullptr;
    StartPage* m_start = nullptr;
    SubmissionPage* m_submissionPage = nullptr;
    ReplayPage* m_replay = nullptr;
    ConsolePage* m_console = nullptr;
};

} // namespace assay::ui
