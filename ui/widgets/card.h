// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace assay::ui {

/// A titled surface. The header holds title, an optional caption and small actions; the body is the caller's.
class Card : public QFrame {
    Q_OBJECT

public:
    explicit Card(const QString& title, QWidget* parent = nullptr);
    [[nodiscard]] QVBoxLayout* body() const { return m_body; }
    void setTitle(const QString& title);
    void setCaption(const QString& caption);
    /// Adds to the right end of the header.
    void addHeaderWidget(QWidget* widget);
    /// Shows the button that lets this card fill the window; whoever lays out the cards handles the signal.
    void setMaximisable(bool on);
    void setMaximised(bool on);
    [[nodiscard]] bool isMaximised() const { return m_maximised; }

Q_SIGNALS:
    void maximiseRequested(bool on);

private:
    QLabel* m_title = nullptr;
    QLabel* m_caption = nullptr;
    QHBoxLayout* m_header = nullptr;
    QVBoxLayout* m_body = nullptr;
    QToolButton* m_maximise = nullptr;
    bool m_maximised = false;
};

/// A caption above a figure: "Steps checked / 40 of 40".
class Figure : public QWidget {
public:
    explicit Figure(const QString& caption, QWidget* parent = nullptr);
    void setValue(const QString& value, const QString& tooltip = {});
    void setCaption(const QString& caption);

private:
    QLabel* m_caption = nullptr;
    QLabel* m_value = nullptr;
};

} // namespace assay::ui
