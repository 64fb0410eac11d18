// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/order_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/action_ids.h"
#include "ui/models/audit_words.h"
#include "ui/models/number_text.h"
#include "ui/pages/actions.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/verdict_banner.h"

namespace assay::ui {

namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }
QString number(float value) { return shortDecimal(static_cast<double>(value)); }

QString optimizerText(const format::OptimizerSpec& o) {
    QStringList parts{o.kind == "adamw" ? QStringLiteral("AdamW") : QStringLiteral("SGD"), OrderCard::tr("learning rate %1").arg(number(o.learningRate))};
    if (o.momentum > 0) {
        parts << OrderCard::tr("momentum %1").arg(number(o.momentum)) + (o.nesterov ? OrderCard::tr(" (Nesterov)") : QString());
    }
    if (o.weightDecay > 0) {
        parts << OrderCard::tr("weight decay %1").arg(number(o.weightDecay));
    }
    if (o.clipNorm > 0) {
        parts << OrderCard::tr("gradient norm at most %1").arg(number(o.clipNorm));
    }
    return parts.join(QStringLiteral(", "));
}

QString scheduleText(const format::OptimizerSpec& o) {
    const QString base = o.schedule == "cosine" ? OrderCard::tr("cosine, down to %1").arg(number(o.minLearningRate)) : text(o.schedule);
    return o.warmup > 0 ? OrderCard::tr("%1, warm-up of %2").arg(base, countText(o.warmup, QStringLiteral("step"))) : base;
}

QString numericsText(const format::NumericsSpec& n) {
    return n.bound == "empirical"
               ? OrderCard::tr("interval mode, empirical bound: smallest log, but a mismatch is weaker evidence")
               : OrderCard::tr("interval mode, proven bound, blocks of %1 terms").arg(groupedNumber(n.block));
}

QString everyText(std::uint64_t steps) {
    return steps == 1 ? OrderCard::tr("every step") : OrderCard::tr("every %1").arg(countText(steps, QStringLiteral("step")));
}

} // namespace

OrderCard::OrderCard(Actions* actions, QWidget* parent)
    : Card(tr("Order against submission"), parent), m_differences({tr("Field"), tr("Client"), tr("Submission")}) {
    m_pill = new StatusPill(this);
    addHeaderWidget(m_pill);
    m_text = makeLabel({}, "secondary", this, true);
    body()->addWidget(m_text);
    m_choose = new QWidget(this);
    auto* row = new QHBoxLayout(m_choose);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::s);
    m_beside = new QPushButton(tr("Use the order.json beside it"), m_choose);
    row->addWidget(new ActionButton(actions->at(action::chooseOrder), "normal", m_choose));
    row->addWidget(m_beside);
    row->addStretch(1);
    body()->addWidget(m_choose);
    m_table = new DataTable(tr("Differences between the orders"), &m_differences, this);
    m_table->setStretchColumn(2);
    m_table->fitRows(6);
    body()->addWidget(m_table);
    m_facts = new FactGrid(this);
    body()->addWidget(m_facts);
    connect(m_beside, &QPushButton::clicked, this, [this] { Q_EMIT orderConfirmed(m_besidePath); });
}

void OrderCard::showCheck(const CheckRow& check) { m_pill->setStatus(checkTone(check.state), checkStateText(check.state)); }

void OrderCard::show(const SubmissionSummary& s, const QString& beside) {
    m_besidePath = beside;
    const bool known = !s.clientOrderPath.isEmpty();
    m_choose->setVisible(!known && !s.orderOnly);
    m_beside->setVisible(!beside.isEmpty());
    m_beside->setToolTip(tr("%1\nOnly if this file is yours: a trainer could have put it there").arg(beside));
    m_table->setVisible(known && !s.differences.empty());
    setTitle(s.orderOnly ? tr("Order") : tr("Order against submission"));
    m_pill->setVisible(!s.orderOnly);
    if (s.orderOnly) {
        m_text->setText(s.path);
    } else if (!known) {
        m_text->setText(tr("Every value of an audit comes from the order that the client holds, never from the submission. Without it the "
                           "best verdict is inconclusive."));
    } else if (s.differences.empty()) {
        m_text->setText(tr("Equal, field by field, to the client's order %1").arg(s.clientOrderPath));
    } else {
        m_text->setText(s.differences.size() == 1
                            ? tr("One field differs from the client's order %1").arg(s.clientOrderPath)
                            : tr("%1 differ from the client's order %2").arg(countText(s.differences.size(), tr("field")), s.clientOrderPath));
        std::vector<TableRow> rows;
        for (const auto& difference : s.differences) {
            rows.push_back({{textCell(text(difference.field)), textCell(text(difference.a)), textCell(text(difference.b))}, {}});
        }
        m_differences.setRows(std::move(rows));
    }
    const auto& order = s.order;
    m_facts->clear();
    m_facts->addHash(tr("Order digest"), s.orderDigest);
    m_facts->addText(tr("Steps"), tr("%1 of %2 samples each").arg(groupedNumber(order.loop.steps), groupedNumber(order.loop.batch)));
    m_facts->addText(tr("Optimizer"), optimizerText(order.optimizer));
    m_facts->addText(tr("Schedule"), scheduleText(order.optimizer));
    m_facts->addText(tr("Numerics"), numericsText(order.numerics));
    m_facts->addText(tr("Checkpoints"), tr("after %1").arg(everyText(order.checkpointEvery)));
    m_facts->addText(tr("State roots"), tr("after %1").arg(everyText(order.stateRootEvery)));
    m_facts->addText(tr("Seed"), QString::number(static_cast<qulonglong>(order.seed)));
}

} // namespace assay::ui
