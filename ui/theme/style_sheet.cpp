// SPDX-License-Identifier: GPL-3.0-or-later
#include <QHash>

#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

// @name is a colour, #name a size. Widgets opt in by the dynamic properties "role" and "kind", so nothing styles by accident.
const char* const kSheet = R"(
QToolTip { background: @raised; color: @text; border: 1px solid @control; padding: 4px 6px; }
QMainWindow, QDialog { background: @window; }
QLabel { background: transparent; }
QLabel[role="display"] { font-size: #displaypt; font-weight: 600; }
QLabel[role="headline"] { font-size: #headlinept; font-weight: 600; }
QLabel[role="title"] { font-size: #titlept; font-weight: 600; }
QLabel[role="caption"] { font-size: #captionpt; color: @secondary; }
QLabel[role="secondary"] { color: @secondary; }
QLabel[role="figure"] { font-size: #headlinept; font-weight: 600; }
QFrame[kind="card"] { background: @surface; border: 1px solid @border; border-radius: 8px; }
QFrame[kind="hover-card"] { background: @surface; border: 1px solid @border; border-radius: 8px; }
QFrame[kind="hover-card"]:hover { border-color: @accent; background: @accentSoft; }
QFrame[kind="hover-card"]:focus { border: 2px solid @focus; }
QFrame[kind="rail"] { background: @surface; border: none; border-right: 1px solid @border; }
QFrame[kind="bar"] { background: @surface; border: none; border-bottom: 1px solid @border; }
QFrame[kind="rule"] { background: @border; border: none; max-height: 1px; min-height: 1px; }
QFrame[kind="drop"] { background: @surface; border: 2px dashed @control; border-radius: 10px; }
QFrame[kind="drop"][active="true"] { border-color: @accent; background: @accentSoft; }
QScrollArea[kind="page"], QScrollArea[kind="page"] > QWidget > QWidget[kind="page"] { background: @window; border: none; }
QScrollArea[kind="plain"], QWidget[kind="plain"] { background: transparent; border: none; }

QPushButton { background: @surface; color: @text; border: 1px solid @control; border-radius: 6px; padding: 5px 12px; }
QPushButton:hover { background: @raised; }
QPushButton:pressed { background: @border; }
QPushButton:focus { border: 2px solid @focus; padding: 4px 11px; }
QPushButton:disabled { color: @disabled; border-color: @border; background: @window; }
QPushButton[kind="primary"] { background: @accent; color: @onAccent; border: 1px solid @accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: @focus; }
QPushButton[kind="primary"]:focus { border: 2px solid @text; padding: 4px 11px; }
QPushButton[kind="primary"]:disabled { background: @raised; color: @disabled; border-color: @border; }
QPushButton[kind="link"] { background: transparent; border: none; color: @accent; padding: 2px 4px; text-align: left; }
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus { border: 1px solid @focus; border-radius: 4px; padding: 1px 3px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px; color: @text; }
QToolButton:hover { background: @raised; }
QToolButton:pressed, QToolButton:checked { background: @accentSoft; color: @accent; }
QToolButton:focus { border-color: @focus; }
QToolButton:disabled { color: @disabled; }
QToolButton[kind="rail"] { border-radius: 8px; padding: 8px 4px 6px 4px; font-size: #captionpt; min-width: 72px; }
QToolButton[kind="rail"]:checked { background: @accentSoft; color: @accent; font-weight: 600; }
QToolButton[kind="segment"] { border: 1px solid @control; border-radius: 0; padding: 4px 12px; background: @surface; }
QToolButton[kind="segment"][edge="first"] { border-top-left-radius: 6px; border-bottom-left-radius: 6px; border-right: none; }
QToolButton[kind="segment"][edge="middle"] { border-right: none; }
QToolButton[kind="segment"][edge="last"] { border-top-right-radius: 6px; border-bottom-right-radius: 6px; }
QToolButton[kind="segment"]:checked { background: @accentSoft; color: @accent; font-weight: 600; }
QToolButton[kind="segment"]:focus { background: @raised; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QSpinBox, QPlainTextEdit, QTextBrowser { background: @surface; color: @text; border: 1px solid @control; border-radius: 6px;
  padding: 4px 6px; selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit:focus, QSpinBox:focus, QPlainTextEdit:focus, QTextBrowser:focus { border: 2px solid @focus; padding: 3px 5px; }
QLineEdit:disabled, QSpinBox:disabled { color: @disabled; border-color: @border; background: @window; }
QSpinBox::up-button, QSpinBox::down-button { width: 0; border: none; }
QPlainTextEdit[kind="flat"], QTextBrowser[kind="flat"] { border: none; border-radius: 0; padding: 0; }
QDialog QTextBrowser[kind="flat"] { background: @window; }
QComboBox { background: @surface; color: @text; border: 1px solid @control; border-radius: 6px; padding: 4px 8px; }
QComboBox:focus { border: 2px solid @focus; padding: 3px 7px; }
QComboBox:disabled { color: @disabled; border-color: @border; background: @window; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/chevron_@look.svg); width: 14px; height: 14px; }
QComboBox QAbstractItemView { background: @surface; color: @text; border: 1px solid @control; selection-background-color: @accentSoft;
  selection-color: @text; outline: none; padding: 2px; }

QTabWidget::pane { border: none; border-top: 1px solid @border; top: -1px; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @secondary; border: none; border-bottom: 2px solid transparent; padding: 7px 12px 6px 12px; margin-right: 4px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @accent; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:focus { background: @accentSoft; }

QAbstractItemView { background: @surface; alternate-background-color: @surface; border: none; outline: none;
  selection-background-color: @accentSoft; selection-color: @text; gridline-color: @border; }
QAbstractItemView::item { padding: 4px 8px; border: none; }
QAbstractItemView::item:hover { background: @raised; }
QAbstractItemView::item:selected { background: @accentSoft; color: @text; }
QTableView:focus, QTreeView:focus, QListView:focus { border: 1px solid @focus; border-radius: 4px; }
QHeaderView { background: @surface; }
QHeaderView::section { background: @surface; color: @secondary; border: none; border-bottom: 1px solid @border; padding: 5px 11px; font-size: #captionpt; font-weight: 600; }
QTableCornerButton::section { background: @surface; border: none; }

QProgressBar { background: @raised; border: none; border-radius: 4px; max-height: 8px; min-height: 8px; }
QProgressBar::chunk { background: @accent; border-radius: 4px; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: @accentSoft; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @control; border-radius: 3px; margin: 2px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @secondary; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QMenu { background: @surface; color: @text; border: 1px solid @control; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @border; margin: 4px 8px; }
QCheckBox, QRadioButton { background: transparent; spacing: 6px; padding: 2px; border: 1px solid transparent; border-radius: 4px; }
QCheckBox:focus { border-color: @focus; }
QCheckBox:disabled { color: @disabled; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @control; border-radius: 3px; background: @surface; }
QCheckBox::indicator:hover { border-color: @accent; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/check_@look.svg); }
QCheckBox::indicator:disabled { background: @window; border-color: @border; }
QCheckBox::indicator:checked:disabled { background: @disabled; border-color: @disabled; }
QStatusBar { background: @surface; border-top: 1px solid @border; color: @secondary; }
QStatusBar::item { border: none; }
)";

} // namespace

QString styleSheet(bool dark, double bodyPoints) {
    static const QHash<QString, Colour> names{
        {QStringLiteral("window"), Colour::window},     {QStringLiteral("surface"), Colour::surface},
        {QStringLiteral("raised"), Colour::raised},     {QStringLiteral("border"), Colour::border},
        {QStringLiteral("control"), Colour::control},   {QStringLiteral("text"), Colour::text},
        {QStringLiteral("secondary"), Colour::secondary}, {QStringLiteral("disabled"), Colour::disabled},
        {QStringLiteral("accent"), Colour::accent},     {QStringLiteral("onAccent"), Colour::onAccent},
        {QStringLiteral("accentSoft"), Colour::accentSoft}, {QStringLiteral("focus"), Colour::focus},
    };
    const QHash<QString, double> sizes{{QStringLiteral("display"), bodyPoints * 1.9},
                                       {QStringLiteral("headline"), bodyPoints * 1.4},
                                       {QStringLiteral("title"), bodyPoints * 1.15},
                                       {QStringLiteral("caption"), bodyPoints * 0.9}};
    QString out;
    const QString sheet = QString::fromLatin1(kSheet);
    out.reserve(sheet.size() * 2);
    for (qsizetype i = 0; i < sheet.size(); ++i) {
        const QChar c = sheet[i];
        if (c != u'@' && c != u'#') {
            out += c;
            continue;
        }
        qsizetype end = i + 1;
        while (end < sheet.size() && sheet[end].isLetter()) {
            ++end;
        }
        QString word = sheet.mid(i + 1, end - i - 1);
        if (c == u'@') {
            out += word == u"look" ? (dark ? QStringLiteral("dark") : QStringLiteral("light"))
                                   : Theme::colourOf(names.value(word), dark).name();
        } else {
            word.chop(2); // the unit "pt"
            out += QString::number(sizes.value(word), 'f', 2) + QStringLiteral("pt");
        }
        i = end - 1;
    }
    return out;
}

} // namespace assay::ui
