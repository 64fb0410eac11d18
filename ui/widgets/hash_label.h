// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace assay::ui {

/// A digest or key in its short form. Tooltip: all of it. Click: mark equal ones everywhere. Double click, Ctrl+C or the icon: copy.
class HashLabel : public QWidget {
    Q_OBJECT

public:
    static constexpr int kInset = 4; ///< left of the text, room for the mark
    static constexpr int kPad = 2;   ///< above and below a line of body text

    explicit HashLabel(QWidget* parent = nullptr);
    /// `what` names the value for screen readers and the tooltip ("Root").
    void setHash(const QString& hex, const QString& what);
    /// A public key, shown by the first 16 hex digits of its id, as in signatures and reports. Copying gives the key itself.
    void setKey(const QString& keyId, const QString& key, const QString& what);
    [[nodiscard]] QString shownText() const;
    [[nodiscard]] QString hash() const { return m_hex; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }
    /// First 12 hex digits; for screens only.
    [[nodiscard]] static QString shortForm(const QString& hex);

Q_SIGNALS:
    void copied();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void copy();
    [[nodiscard]] QRect iconRect() const;

    QString m_hex;
    QString m_keyId; ///< of a key
    QString m_what;
};

/// Which digest is marked now, in all views. GUI thread.
class HashMark : public QObject {
    Q_OBJECT

public:
    [[nodiscard]] static HashMark& instance();
    [[nodiscard]] QString marked() const { return m_hex; }
    /// Marks all labels with this value; the same value again clears the mark.
    void toggle(const QString& hex);

Q_SIGNALS:
    void changed();

private:
    QString m_hex;
};

} // namespace assay::ui
