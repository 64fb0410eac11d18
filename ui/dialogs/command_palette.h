// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace assay::ui {

/// All actions by name: type some letters, Enter runs the first. Actions that are not possible now are listed with the reason.
class CommandPalette : public QDialog {
    Q_OBJECT

public:
    CommandPalette(const QList<QAction*>& actions, QWidget* parent);
    void setQuery(const QString& text);
    /// Ids of the listed actions, best first.
    [[nodiscard]] QStringList listedIds() const;
    /// True if the letters of `query` occur in `text` in this order; `score` is smaller for tighter matches.
    [[nodiscard]] static bool matches(const QString& text, const QString& query, int* score);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void refill();
    void runCurrent();

    QList<QAction*> m_actions;
    QLineEdit* m_query = nullptr;
    QListWidget* m_list = nullptr;
};

/// The keys of all actions and views on one sheet.
class KeySheet : public QDialog {
public:
    KeySheet(const QList<QAction*>& actions, QWidget* parent);
};

/// Offline help: what the words mean and how an audit goes.
class HelpDialog : public QDialog {
public:
    explicit HelpDialog(QWidget* parent);
};

} // namespace assay::ui
