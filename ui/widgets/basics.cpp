// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/basics.h"

#include <algorithm>

#include <QAction>
#include <QButtonGroup>
#include <QDragEnterEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QMouseEvent>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/widgets/hash_label.h"

namespace assay::ui {

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent, bool wrap) {
    auto* label = new QLabel(text, parent);
    if (role != nullptr) {
        label->setProperty("role", role);
    }
    label->setWordWrap(wrap);
    return label;
}

QFrame* makeRule(QWidget* parent) {
    auto* rule = new QFrame(parent);
    rule->setProperty("kind", "rule");
    return rule;
}

void setActionState(QAction* action, bool enabled, const QString& whyNot) {
    if (!action->property("baseToolTip").isValid()) {
        action->setProperty("baseToolTip", action->toolTip());
    }
    action->setEnabled(enabled);
    action->setProperty("whyNot", enabled ? QString() : whyNot);
    const QString base = action->property("baseToolTip").toString();
    action->setToolTip(enabled || whyNot.isEmpty() ? base : QAction::tr("%1\nNot now: %2").arg(base, whyNot));
}

QString whyDisabled(const QAction* action) {
    return action->isEnabled() ? QString() : action->property("whyNot").toString();
}

ActionButton::ActionButton(QAction* action, const char* kind, QWidget* parent) : QPushButton(parent) {
    setProperty("kind", kind);
    setIconSize({16, 16});
    setAction(action);
}

void ActionButton::setAction(QAction* action) {
    disconnect(m_changed);
    disconnect(m_clicked);
    m_action = action;
    m_changed = connect(action, &QAction::changed, this, [this] { sync(); });
    m_clicked = connect(this, &QPushButton::clicked, action, [action] { action->trigger(); });
    sync();
}

void ActionButton::setKind(const char* kind) {
    if (property("kind").toString() != QLatin1String(kind)) {
        setProperty("kind", kind);
        style()->unpolish(this);
        style()->polish(this);
        sync();
    }
}

void ActionButton::sync() {
    setText(m_action->iconText());
    const bool filled = property("kind").toString() == u"primary";
    setIcon(filled ? QIcon() : m_action->icon());
    setEnabled(m_action->isEnabled());
    const QString keys = m_action->shortcut().toString(QKeySequence::NativeText);
    setToolTip(m_action->toolTip() + (keys.isEmpty() ? QString() : QStringLiteral("  (%1)").arg(keys)));
    setAccessibleName(m_action->iconText());
    setAccessibleDescription(m_action->toolTip());
}

SegmentBar::SegmentBar(const QString& name, const QStringList& choices, QWidget* parent)
    : QWidget(parent), m_group(new QButtonGroup(this)) {
    setAccessibleName(name);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    for (int i = 0; i < choices.size(); ++i) {
        auto* button = new QToolButton(this);
        button->setText(choices[i]);
        button->setCheckable(true);
        button->setProperty("kind", "segment");
        button->setProperty("edge", i == 0 ? "first" : i + 1 == choices.size() ? "last" : "middle");
        button->setFocusPolicy(Qt::StrongFocus);
        button->setAccessibleName(QStringLiteral("%1: %2").arg(name, choices[i]));
        m_group->addButton(button, i);
        layout->addWidget(button);
    }
    m_group->button(0)->setChecked(true);
    connect(m_group, &QButtonGroup::idClicked, this, &SegmentBar::chosen);
}

int SegmentBar::current() const { return m_group->checkedId(); }

void SegmentBar::setCurrent(int index) {
    if (auto* button = m_group->button(index); button != nullptr && index != current()) {
        button->setChecked(true);
        Q_EMIT chosen(index);
    }
}

FactGrid::FactGrid(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(space::m);
    m_grid->setVerticalSpacing(2);
    m_grid->setColumnStretch(1, 1);
}

void FactGrid::clear() {
    while (auto* item = m_grid->takeAt(0)) {
        if (auto* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
    m_row = 0;
}

QLabel* FactGrid::captionLabel(const QString& text) {
    auto* label = makeLabel(text, "secondary", this);
    label->setContentsMargins(0, HashLabel::kPad, 0, HashLabel::kPad);
    return label;
}

QLabel* FactGrid::addText(const QString& caption, const QString& value, const QString& tooltip) {
    auto* label = makeLabel(value, nullptr, this, true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setToolTip(tooltip);
    label->setAccessibleName(caption);
    // The inner margins of a HashLabel, so that texts and digests start at the same place on the same baseline.
    label->setContentsMargins(HashLabel::kInset, HashLabel::kPad, 0, HashLabel::kPad);
    addWidget(caption, label);
    return label;
}

void FactGrid::addHash(const QString& caption, const QString& hex) {
    auto* label = new HashLabel(this);
    label->setHash(hex, caption);
    addWidget(caption, label);
}

void FactGrid::addKey(const QString& caption, const QString& keyId, const QString& key) {
    auto* label = new HashLabel(this);
    label->setKey(keyId, key, caption);
    addWidget(caption, label);
}

void FactGrid::addWidget(const QString& caption, QWidget* value) {
    value->setParent(this);
    m_grid->addWidget(captionLabel(caption), m_row, 0, Qt::AlignLeft | Qt::AlignTop);
    const bool stretches = value->sizePolicy().horizontalPolicy() != QSizePolicy::Fixed;
    m_grid->addWidget(value, m_row, 1, stretches ? Qt::Alignment() : Qt::AlignLeft | Qt::AlignTop);
    value->show();
    ++m_row;
}

EmptyState::EmptyState(const QString& iconName, const QString& title, const QString& text, QWidget* parent)
    : QWidget(parent), m_iconName(iconName) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::xl, space::l, space::xl, space::l);
    layout->setSpacing(space::s);
    layout->addStretch(1);
    m_icon = new QLabel(this);
    m_title = makeLabel(title, "title", this);
    m_text = makeLabel(text, "secondary", this, true);
    m_text->setAlignment(Qt::AlignHCenter);
    layout->addWidget(m_icon, 0, Qt::AlignHCenter);
    layout->addWidget(m_title, 0, Qt::AlignHCenter);
    layout->addWidget(m_text); // not aligned: an aligned item gets its size hint, which cuts wrapped lines
    layout->addStretch(1);
    connect(&Theme::instance(), &Theme::changed, this, [this] { restyle(); });
    restyle();
}

void EmptyState::restyle() {
    m_icon->setPixmap(iconPixmap(m_iconName, Theme::instance().colour(Colour::secondary), 40, devicePixelRatioF()));
}

void EmptyState::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    constexpr int kWidest = 520; // longer lines are hard to read
    const int room = width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    const int side = std::max(0, (room - kWidest) / 2);
    m_text->setContentsMargins(side, 0, side, 0);
}

void EmptyState::setTexts(const QString& title, const QString& text) {
    m_title->setText(title);
    m_text->setText(text);
}

void EmptyState::addAction(QAction* action, const char* kind) {
    auto* box = static_cast<QVBoxLayout*>(layout());
    box->insertWidget(box->count() - 1, new ActionButton(action, kind, this), 0, Qt::AlignHCenter);
}

PageScroll::PageScroll(QWidget* parent) : QScrollArea(parent) {
    setProperty("kind", "page");
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    auto* inner = new QWidget(this);
    inner->setProperty("kind", "page");
    setWidget(inner);
}

DropFrame::DropFrame(QWidget* parent) : QFrame(parent) {
    setProperty("kind", "drop");
    setAcceptDrops(true);
}

void DropFrame::setActive(bool on) {
    setProperty("active", on);
    style()->unpolish(this);
    style()->polish(this);
}

void DropFrame::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().size() == 1 && event->mimeData()->urls()[0].isLocalFile()) {
        setActive(true);
        event->acceptProposedAction();
    }
}

void DropFrame::dragLeaveEvent(QDragLeaveEvent* /*event*/) { setActive(false); }

void DropFrame::dropEvent(QDropEvent* event) {
    setActive(false);
    event->acceptProposedAction();
    Q_EMIT dropped(event->mimeData()->urls()[0].toLocalFile());
}

ChoiceCard::ChoiceCard(const QString& iconName, const QString& title, const QString& text, QWidget* parent)
    : QFrame(parent), m_iconName(iconName), m_words(text) {
    setProperty("kind", "hover-card");
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(title);
    setAccessibleDescription(text);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space::l, space::l, space::l, space::l);
    layout->setSpacing(space::m);
    m_icon = new QLabel(this);
    m_icon->setFixedSize(32, 32);
    auto* words = new QVBoxLayout;
    words->setSpacing(space::xs);
    words->addWidget(makeLabel(title, "title", this));
    m_text = makeLabel(text, "secondary", this, true);
    words->addWidget(m_text);
    words->addStretch(1);
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addLayout(words, 1);
    connect(&Theme::instance(), &Theme::changed, this, [this] { restyle(); });
    restyle();
}

void ChoiceCard::restyle() {
    m_icon->setPixmap(iconPixmap(m_iconName, Theme::instance().colour(Colour::accent), 32, devicePixelRatioF()));
}

void ChoiceCard::setBusy(const QString& text) {
    m_busy = !text.isEmpty();
    m_text->setText(m_busy ? text : m_words);
    setCursor(m_busy ? Qt::BusyCursor : Qt::PointingHandCursor);
}

void ChoiceCard::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_busy && event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) {
        Q_EMIT triggered();
    }
}

void ChoiceCard::keyPressEvent(QKeyEvent* event) {
    if (!m_busy && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)) {
        Q_EMIT triggered();
    } else {
        QFrame::keyPressEvent(event);
    }
}

} // namespace assay::ui
