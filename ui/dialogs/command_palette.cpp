// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/command_palette.h"

#include <algorithm>

#include <QAction>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/widgets/basics.h"

namespace assay::ui {

namespace {

constexpr int kNoteRole = Qt::UserRole + 1; ///< the keys of a command, or why it cannot run now

/// The note stands at the right end of the row.
class NoteDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const bool enabled = (option.state & QStyle::State_Enabled) != 0;
        painter->save();
        painter->setFont(Theme::instance().captionFont());
        painter->setPen(Theme::instance().colour(enabled ? Colour::secondary : Colour::disabled));
        painter->drawText(option.rect.adjusted(0, 0, -space::m, 0), Qt::AlignRight | Qt::AlignVCenter, index.data(kNoteRole).toString());
        painter->restore();
    }
};

} // namespace

bool CommandPalette::matches(const QString& text, const QString& query, int* score) {
    qsizetype at = 0;
    qsizetype first = -1;
    for (const QChar c : query) {
        if (c.isSpace()) {
            continue;
        }
        at = text.indexOf(c, at, Qt::CaseInsensitive);
        if (at < 0) {
            return false;
        }
        first = first < 0 ? at : first;
        ++at;
    }
    if (score != nullptr) {
        const bool whole = text.contains(query, Qt::CaseInsensitive);
        *score = static_cast<int>(at - std::max<qsizetype>(first, 0)) + (whole ? 0 : 100) + static_cast<int>(std::max<qsizetype>(first, 0));
    }
    return true;
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent), m_actions(actions) {
    setWindowTitle(tr("Commands"));
    setAccessibleName(tr("Command palette"));
    resize(620, 420);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::m);
    m_query = new QLineEdit(this);
    m_query->setPlaceholderText(tr("What do you want to do?"));
    m_query->setAccessibleName(tr("Filter commands"));
    m_query->setClearButtonEnabled(true);
    m_list = new QListWidget(this);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setIconSize({18, 18});
    m_list->setUniformItemSizes(true);
    m_list->setItemDelegate(new NoteDelegate(m_list));
    layout->addWidget(m_query);
    layout->addWidget(m_list, 1);
    layout->addWidget(makeLabel(tr("Enter runs the marked command, Esc closes"), "caption", this));
    m_query->installEventFilter(this);
    connect(m_query, &QLineEdit::textChanged, this, [this] { refill(); });
    connect(m_query, &QLineEdit::returnPressed, this, [this] { runCurrent(); });
    connect(m_list, &QListWidget::itemActivated, this, [this] { runCurrent(); });
    refill();
}

void CommandPalette::setQuery(const QString& text) { m_query->setText(text); }

QStringList CommandPalette::listedIds() const {
    QStringList out;
    for (int i = 0; i < m_list->count(); ++i) {
        out << m_list->item(i)->data(Qt::UserRole).toString();
    }
    return out;
}

void CommandPalette::refill() {
    struct Hit {
        QAction* action;
        int score;
    };
    std::vector<Hit> hits;
    for (auto* action : m_actions) {
        int score = 0;
        if (matches(action->text(), m_query->text().trimmed(), &score)) {
            hits.push_back({action, score + (action->isEnabled() ? 0 : 1000)});
        }
    }
    std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score < b.score; });
    m_list->clear();
    for (const auto& hit : hits) {
        const QString keys = hit.action->shortcut().toString(QKeySequence::NativeText);
        const QString why = whyDisabled(hit.action);
        auto* item = new QListWidgetItem(hit.action->icon(), hit.action->text(), m_list);
        item->setData(Qt::UserRole, hit.action->objectName());
        item->setData(kNoteRole, why.isEmpty() ? keys : tr("not now: %1").arg(why));
        item->setData(Qt::AccessibleTextRole, QStringLiteral("%1, %2").arg(item->text(), item->data(kNoteRole).toString()));
        item->setToolTip(hit.action->toolTip());
        if (!hit.action->isEnabled()) {
            item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
        }
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::runCurrent() {
    const auto* item = m_list->currentItem();
    if (item == nullptr) {
        return;
    }
    const QString id = item->data(Qt::UserRole).toString();
    for (auto* action : m_actions) {
        if (action->objectName() == id && action->isEnabled()) {
            accept();
            action->trigger();
            return;
        }
    }
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
    if (object == m_query && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up || key == Qt::Key_PageDown || key == Qt::Key_PageUp) {
            const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : key == Qt::Key_PageDown ? 8 : -8;
            m_list->setCurrentRow(std::clamp(m_list->currentRow() + step, 0, std::max(0, m_list->count() - 1)));
            return true;
        }
    }
    return QDialog::eventFilter(object, event);
}

KeySheet::KeySheet(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keys"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::xl, space::l, space::xl, space::l);
    layout->setSpacing(space::m);
    layout->addWidget(makeLabel(tr("Keys"), "headline", this));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(space::l);
    grid->setVerticalSpacing(space::xs + 2);
    struct Line {
        QString keys;
        QString what;
    };
    std::vector<Line> lines;
    for (const auto* action : actions) {
        if (!action->shortcut().isEmpty()) {
            lines.push_back({action->shortcut().toString(QKeySequence::NativeText), action->text()});
        }
    }
    lines.push_back({tr("Arrows"), tr("Move the cursor of strip, chart or map")});
    lines.push_back({tr("Enter"), tr("Go to the step under the cursor, activate a row")});
    lines.push_back({tr("Ctrl+C"), tr("Copy the marked rows or the digest with the focus")});
    lines.push_back({tr("Esc"), tr("Back from a maximised panel, close a dialog")});
    const int half = (static_cast<int>(lines.size()) + 1) / 2;
    for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
        const auto& line = lines[static_cast<std::size_t>(i)];
        auto* keys = makeLabel(line.keys, nullptr, this);
        keys->setFont(Theme::instance().monoFont());
        grid->addWidget(keys, i % half, i / half * 3);
        grid->addWidget(makeLabel(line.what, nullptr, this), i % half, i / half * 3 + 1);
    }
    grid->setColumnMinimumWidth(2, space::xl);
    layout->addLayout(grid);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);
}

HelpDialog::HelpDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Help"));
    resize(760, 560);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::xl, space::l, space::xl, space::l);
    layout->setSpacing(space::m);
    auto* text = new QTextBrowser(this);
    text->setProperty("kind", "flat");
    text->setAccessibleName(tr("Help"));
    text->setHtml(tr(
        "<h2>How an audit goes</h2>"
        "<ol><li>The client writes an <b>order</b>: program, data, recipe, numerics. Its digest binds everything.</li>"
        "<li>The trainer runs it and delivers a <b>submission</b>: a commitment to the whole training state after each step, "
        "checkpoints, rounding logs and a signature.</li>"
        "<li>The auditor <b>replays</b> the steps on another machine. Two machines round a few values differently, so the trainer's "
        "log says which way it rounded where it matters, and the auditor checks that each entry was legal. The replay then gives the "
        "same bits, or it shows the first place where it does not.</li></ol>"
        "<h2>What the verdicts mean</h2>"
        "<p><b>Accepted</b>: everything that was checked agrees. The scope says how much was replayed.<br>"
        "<b>Rejected</b>: something differs, with evidence: the first divergence.<br>"
        "<b>Inconclusive</b>: something that is needed could not be checked, such as a missing order of the client.<br>"
        "<b>Not checked yet</b>: no replay has ended. Hashes and signatures alone say nothing about training.</p>"
        "<h2>Words</h2>"
        "<p><b>Site</b>: one place in a step where a tensor is rounded.<br>"
        "<b>Entry</b>: a logged rounding decision that another machine could take differently.<br>"
        "<b>Correction</b>: an entry that changed the auditor's own rounding.<br>"
        "<b>Offence</b>: an entry that is missing or not legal.<br>"
        "<b>Leaf</b>: the commitment to the state after one step. <b>Root</b>: the head of the Merkle tree over all leaves.<br>"
        "<b>Kernel profile</b>: how matrix products are computed; different profiles give different low bits, as different GPUs do.</p>"
        "<h2>What an audit does not prove</h2>"
        "<p>That the order was a good one, or that the trainer did not choose among honest-looking runs (for instance by its seed). "
        "A sampled audit proves only what it replayed; the detection probability is shown beside it.</p>"));
    layout->addWidget(text);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);
    buttons->button(QDialogButtonBox::Close)->setFocus();
}

} // namespace assay::ui
