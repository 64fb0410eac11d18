// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recent_list.h"

#include <QAbstractListModel>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>

#include "ui/theme/icons.h"

namespace assay::ui {

namespace {

QString whenText(const QDateTime& when) {
    const auto days = when.date().daysTo(QDate::currentDate());
    return days == 0   ? RecentList::tr("today %1").arg(when.toString(QStringLiteral("HH:mm")))
           : days == 1 ? RecentList::tr("yesterday %1").arg(when.toString(QStringLiteral("HH:mm")))
                       : when.toString(QStringLiteral("yyyy-MM-dd"));
}

} // namespace

class RecentList::Model : public QAbstractListModel {
public:
    using QAbstractListModel::QAbstractListModel;
    void set(std::vector<RecentAudit> audits) {
        beginResetModel();
        m_audits = std::move(audits);
        endResetModel();
    }
    [[nodiscard]] const RecentAudit& at(int row) const { return m_audits[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_audits.size());
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        if (!index.isValid()) {
            return {};
        }
        const auto& audit = at(index.row());
        switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole:
            return QStringLiteral("%1: %2, %3, %4").arg(audit.headline, audit.title, audit.detail, whenText(audit.when));
        case Qt::ToolTipRole:
            return QStringLiteral("%1\n%2\n%3%4")
                .arg(audit.title, audit.path, audit.when.toString(Qt::ISODate),
                     audit.missing ? RecentList::tr("\nThe submission is no longer there") : QString());
        default:
            return {};
        }
    }

private:
    std::vector<RecentAudit> m_audits;
};

class RecentList::Delegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& /*option*/, const QModelIndex& /*index*/) const override {
        const QFontMetrics body(Theme::instance().bodyFont());
        const QFontMetrics caption(Theme::instance().captionFont());
        return {200, body.height() + 2 * caption.height() + space::l};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto& theme = Theme::instance();
        const auto& audit = static_cast<const Model*>(index.model())->at(index.row());
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        if ((option.state & (QStyle::State_MouseOver | QStyle::State_Selected)) != 0) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(theme.colour((option.state & QStyle::State_Selected) != 0 ? Colour::accentSoft : Colour::raised));
            painter->drawRoundedRect(option.rect.adjusted(0, 1, 0, -1), 6, 6);
        }
        const auto tone = theme.tone(audit.tone);
        const QRect area = option.rect.adjusted(space::s, space::s, -space::s, -space::s);
        painter->drawPixmap(area.left(), area.top() + 2, iconPixmap(toneIconName(audit.tone), tone.fill, 24, 2.0));
        const QRect words = area.adjusted(24 + space::m, 0, 0, 0);
        const QFontMetrics body(theme.bodyFont());
        const QFontMetrics caption(theme.captionFont());
        QFont bold = theme.bodyFont();
        bold.setWeight(QFont::DemiBold);
        painter->setFont(theme.captionFont());
        painter->setPen(theme.colour(Colour::secondary));
        const QString when = whenText(audit.when);
        const int whenWidth = caption.horizontalAdvance(when) + space::s;
        painter->drawText(QRect(words.right() - whenWidth, words.top(), whenWidth, body.height()), Qt::AlignRight | Qt::AlignVCenter, when);
        painter->setFont(bold);
        painter->setPen(theme.colour(Colour::text));
        const QFontMetrics boldMetrics(bold);
        painter->drawText(QRect(words.left(), words.top(), words.width() - whenWidth, body.height()), Qt::AlignLeft | Qt::AlignVCenter,
                          boldMetrics.elidedText(audit.title, Qt::ElideRight, words.width() - whenWidth));
        int y = words.top() + body.height() + 1;
        painter->setFont(theme.captionFont());
        painter->setPen(tone.onSoft);
        painter->drawText(QRect(words.left(), y, words.width(), caption.height()), Qt::AlignLeft, audit.headline);
        painter->setPen(theme.colour(Colour::secondary));
        const int used = caption.horizontalAdvance(audit.headline + QStringLiteral("  "));
        painter->drawText(QRect(words.left() + used, y, words.width() - used, caption.height()), Qt::AlignLeft,
                          caption.elidedText(audit.detail, Qt::ElideRight, words.width() - used));
        y += caption.height();
        const QString place = audit.missing ? RecentList::tr("not found: %1").arg(audit.path) : audit.path;
        painter->drawText(QRect(words.left(), y, words.width(), caption.height()), Qt::AlignLeft,
                          caption.elidedText(place, Qt::ElideMiddle, words.width()));
        if ((option.state & QStyle::State_HasFocus) != 0) {
            painter->setPen(QPen(theme.colour(Colour::focus), 1.5));
            painter->setBrush(Qt::NoBrush);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(1, 2, -1, -2), 6, 6);
        }
        painter->restore();
    }
};

RecentList::RecentList(QWidget* parent) : QListView(parent), m_model(new Model(this)) {
    setModel(m_model);
    setItemDelegate(new Delegate(this));
    setAccessibleName(tr("Recent audits"));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setUniformItemSizes(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    const auto choose = [this](const QModelIndex& index) { Q_EMIT chosen(m_model->at(index.row()).id); };
    connect(this, &QListView::activated, this, choose);
    connect(this, &QListView::clicked, this, choose);
    connect(&Theme::instance(), &Theme::changed, this, [this] { scheduleDelayedItemsLayout(); });
}

void RecentList::setAudits(const std::vector<RecentAudit>& audits) { m_model->set(audits); }

void RecentList::contextMenuEvent(QContextMenuEvent* event) {
    const auto index = indexAt(event->pos());
    if (!index.isValid()) {
        return;
    }
    const auto id = m_model->at(index.row()).id;
    QMenu menu(this);
    menu.addAction(tr("Open"), this, [this, id] { Q_EMIT chosen(id); });
    menu.addAction(tr("Remove from the store"), this, [this, id] { Q_EMIT removeRequested(id); });
    menu.exec(event->globalPos());
}

} // namespace assay::ui
