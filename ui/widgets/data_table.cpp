// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/data_table.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

namespace assay::ui {

DataTable::DataTable(const QString& name, QAbstractItemModel* model, QWidget* parent) : QTableView(parent) {
    setAccessibleName(name);
    setModel(model);
    setShowGrid(false);
    setWordWrap(false);
    setAlternatingRowColors(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setIconSize({16, 16});
    setTextElideMode(Qt::ElideMiddle);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(false);
    horizontalHeader()->setSectionsMovable(false);
    setSortingEnabled(false);
    horizontalHeader()->setSectionsClickable(true);
    horizontalHeader()->setSortIndicatorShown(false);
    connect(horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int section) {
        const bool again = horizontalHeader()->isSortIndicatorShown() && horizontalHeader()->sortIndicatorSection() == section;
        const auto order = again && horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder ? Qt::DescendingOrder
                                                                                                   : Qt::AscendingOrder;
        horizontalHeader()->setSortIndicatorShown(true);
        horizontalHeader()->setSortIndicator(section, order);
        this->model()->sort(section, order);
    });
    const auto metrics = QFontMetrics(Theme::instance().bodyFont());
    verticalHeader()->setDefaultSectionSize(metrics.height() + 10);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        verticalHeader()->setDefaultSectionSize(QFontMetrics(Theme::instance().bodyFont()).height() + 10);
        fitColumns();
    });
    connect(this, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const auto id = index.data(TableModel::kIdRole); id.isValid()) {
            Q_EMIT rowActivated(id);
        }
    });
    connect(model, &QAbstractItemModel::modelReset, this, &DataTable::fitColumns);
    connect(model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex&, int first, int) {
        constexpr int kFew = 100; // while a table fills, its first rows may not be the widest
        if (first == 0 || this->model()->rowCount() <= kFew) {
            fitColumns();
        }
    });
    fitColumns();
}

void DataTable::setEmptyText(const QString& text) {
    m_empty = text;
    viewport()->update();
}

void DataTable::setStretchColumn(int column) {
    m_stretch = column;
    fitColumns();
}

void DataTable::fitRows(int rows) {
    m_fitRows = rows;
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    updateGeometry();
}

void DataTable::setWrapping(bool on) {
    setWordWrap(on);
    setTextElideMode(on ? Qt::ElideRight : Qt::ElideMiddle);
    fitColumns();
}

void DataTable::fitColumns() {
    m_fitted = isVisible();
    if (!m_fitted) { // measured when it is shown: a stream of results would measure it thirty times a second
        updateGeometry();
        return;
    }
    constexpr int kWidest = 420;
    constexpr int kLeast = 220; // of the stretched column where its content is longer
    auto* header = horizontalHeader();
    for (int c = 0; c < header->count(); ++c) {
        header->setSectionResizeMode(c, QHeaderView::Interactive);
        const int width = std::max(sizeHintForColumn(c) + space::s, header->sectionSizeHint(c));
        if (c == m_stretch) {
            m_least = std::max(header->sectionSizeHint(c), std::min(width, kLeast));
        } else {
            header->resizeSection(c, std::min(width, kWidest));
        }
    }
    stretch();
    updateGeometry();
}

void DataTable::stretch() {
    auto* header = horizontalHeader();
    if (!m_fitted) {
        return;
    }
    if (m_stretch >= 0 && m_stretch < header->count()) {
        int others = 0;
        for (int c = 0; c < header->count(); ++c) {
            others += c == m_stretch ? 0 : header->sectionSize(c);
        }
        header->resizeSection(m_stretch, std::max(viewport()->width() - others, m_least));
    }
    if (wordWrap()) {
        // Not by the delegate's size hint: it does not know the padding of the style sheet and counts too few lines.
        constexpr int kPadding = 24;
        const QFontMetrics metrics(Theme::instance().bodyFont());
        const QRect room(0, 0, std::max(header->sectionSize(std::max(m_stretch, 0)) - kPadding, 40), 10'000);
        for (int row = 0; row < model()->rowCount(); ++row) {
            const QString text = model()->index(row, std::max(m_stretch, 0)).data().toString();
            const int height = metrics.boundingRect(room, Qt::TextWordWrap, text).height();
            setRowHeight(row, verticalHeader()->defaultSectionSize() + std::max(0, height - metrics.height()));
        }
        updateGeometry();
    }
}

void DataTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    stretch();
}

void DataTable::showEvent(QShowEvent* event) {
    QTableView::showEvent(event);
    if (!m_fitted) {
        fitColumns();
    }
}

int DataTable::fittedHeight() const {
    const int usual = verticalHeader()->defaultSectionSize();
    const int shown = std::min(model()->rowCount(), m_fitRows);
    int rows = shown == 0 ? 2 * usual : 0; // room for the text of an empty table
    for (int row = 0; row < shown; ++row) {
        rows += wordWrap() ? rowHeight(row) : usual;
    }
    return horizontalHeader()->sizeHint().height() + rows + 2 * frameWidth() + 2;
}

QSize DataTable::sizeHint() const {
    const QSize base = QTableView::sizeHint();
    return m_fitRows > 0 ? QSize(base.width(), fittedHeight()) : base;
}

QSize DataTable::minimumSizeHint() const {
    return m_fitRows > 0 ? QSize(120, fittedHeight()) : QSize(120, 80);
}

void DataTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (model()->rowCount() == 0 && !m_empty.isEmpty()) {
        QPainter painter(viewport());
        painter.setPen(Theme::instance().colour(Colour::secondary));
        painter.drawText(viewport()->rect().adjusted(space::s, space::s, -space::s, -space::s),
                         Qt::AlignHCenter | Qt::AlignVCenter | Qt::TextWordWrap, m_empty);
    }
}

void DataTable::keyPressEvent(QKeyEvent* event) {
    if (!event->matches(QKeySequence::Copy)) {
        QTableView::keyPressEvent(event);
        return;
    }
    QStringList lines;
    auto rows = selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const auto& row : rows) {
        QStringList cells;
        for (int c = 0; c < model()->columnCount(); ++c) {
            cells << row.siblingAtColumn(c).data().toString();
        }
        lines << cells.join(u'\t');
    }
    QApplication::clipboard()->setText(lines.join(u'\n'));
}

void DataTable::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTableView::currentChanged(current, previous);
    if (current.isValid()) {
        Q_EMIT rowSelected(current.data(TableModel::kIdRole));
    }
}

} // namespace assay::ui
