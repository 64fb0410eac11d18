// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QFrame>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>

class QAction;
class QButtonGroup;
class QGridLayout;
class QLabel;

namespace assay::ui {

/// A label in one of the roles of the style sheet: display, headline, title, caption, secondary or none.
[[nodiscard]] QLabel* makeLabel(const QString& text, const char* role, QWidget* parent, bool wrap = false);
/// A one-pixel separator.
[[nodiscard]] QFrame* makeRule(QWidget* parent);

/// Enables an action or disables it with a reason; the reason replaces its tooltip and is read out.
void setActionState(QAction* action, bool enabled, const QString& whyNot);
/// Why the action is disabled; empty if enabled.
[[nodiscard]] QString whyDisabled(const QAction* action);

/// A push button that follows a QAction: text, icon, enabled state, tooltip with shortcut, accessible name.
class ActionButton : public QPushButton {
public:
    ActionButton(QAction* action, const char* kind, QWidget* parent);
    void setAction(QAction* action);
    /// "primary" for the one thing to do next, "normal" otherwise.
    void setKind(const char* kind);

private:
    void sync();
    QAction* m_action = nullptr;
    QMetaObject::Connection m_changed;
    QMetaObject::Connection m_clicked;
};

/// A row of exclusive choices.
class SegmentBar : public QWidget {
    Q_OBJECT

public:
    SegmentBar(const QString& name, const QStringList& choices, QWidget* parent);
    [[nodiscard]] int current() const;
    void setCurrent(int index);

Q_SIGNALS:
    void chosen(int index);

private:
    QButtonGroup* m_group = nullptr;
};

/// Captions and values in two columns. Values can be selected; digests are HashLabels.
class FactGrid : public QWidget {
public:
    explicit FactGrid(QWidget* parent = nullptr);
    void clear();
    QLabel* addText(const QString& caption, const QString& value, const QString& tooltip = {});
    void addHash(const QString& caption, const QString& hex);
    void addKey(const QString& caption, const QString& keyId, const QString& key);
    void addWidget(const QString& caption, QWidget* value);

private:
    [[nodiscard]] QLabel* captionLabel(const QString& text);
    QGridLayout* m_grid = nullptr;
    int m_row = 0;
};

/// What a view shows before it has anything to show: what will be here, why it is not, and what to do.
class EmptyState : public QWidget {
public:
    EmptyState(const QString& iconName, const QString& title, const QString& text, QWidget* parent = nullptr);
    void setTexts(const QString& title, const QString& text);
    void addAction(QAction* action, const char* kind);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    QString m_iconName;
    QLabel* m_icon = nullptr;
    QLabel* m_title = nullptr;
    QLabel* m_text = nullptr;
};

/// A vertically scrolling page body with the page margins.
class PageScroll : public QScrollArea {
public:
    explicit PageScroll(QWidget* parent = nullptr);
    [[nodiscard]] QWidget* content() const { return widget(); }
};

/// A frame that takes dropped files and looks like it.
class DropFrame : public QFrame {
    Q_OBJECT

public:
    explicit DropFrame(QWidget* parent = nullptr);

Q_SIGNALS:
    void dropped(const QString& path);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void setActive(bool on);
};

/// A card that is one large button.
class ChoiceCard : public QFrame {
    Q_OBJECT

public:
    ChoiceCard(const QString& iconName, const QString& title, const QString& text, QWidget* parent);
    void setBusy(const QString& text); ///< empty text: ready again

Q_SIGNALS:
    void triggered();

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void restyle();
    QString m_iconName;
    QString m_words;
    QLabel* m_icon = nullptr;
    QLabel* m_text = nullptr;
    bool m_busy = false;
};

} // namespace assay::ui
