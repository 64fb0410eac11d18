// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/verdict_text.h"

class QLabel;
class QPushButton;

namespace assay::ui {

/// The verdict, large: glyph, headline, reason, scope, next action. Colour, shape and words say the same.
class VerdictBanner : public QWidget {
    Q_OBJECT

public:
    explicit VerdictBanner(QWidget* parent = nullptr);
    void setVerdict(const VerdictText& verdict);
    [[nodiscard]] const VerdictText& verdict() const { return m_verdict; }

Q_SIGNALS:
    void nextActionTriggered(const QString& actionId);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    VerdictText m_verdict;
    QLabel* m_glyph = nullptr;
    QLabel* m_headline = nullptr;
    QLabel* m_scope = nullptr;
    QLabel* m_reason = nullptr;
    QPushButton* m_next = nullptr;
};

/// A small glyph with a word in the colours of a tone.
class StatusPill : public QWidget {
public:
    explicit StatusPill(QWidget* parent = nullptr);
    void setStatus(Tone tone, const QString& text, const QString& tooltip = {});
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Tone m_tone = Tone::neutral;
    QString m_text;
};

} // namespace assay::ui
