// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "ui/theme/theme.h"

class QLabel;

namespace assay::ui {

/// A message across the page: what happened, why, what to try. Stays until closed or replaced; never blocks.
class MessageBar : public QFrame {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);
    void showMessage(Tone tone, const QString& title, const QString& text, const QString& remedy = {});
    [[nodiscard]] QString message() const { return m_plain; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();
    Tone m_tone = Tone::info;
    QString m_plain;
    QLabel* m_icon = nullptr;
    QLabel* m_text = nullptr;
};

} // namespace assay::ui
