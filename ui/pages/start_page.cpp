// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/start_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QStackedLayout>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/pages/actions.h"
#include "ui/pages/recent_list.h"
#include "ui/theme/icons.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/card.h"

namespace assay::ui {

namespace {

/// "1  The order / words": one step of how an audit goes.
QWidget* makeStory(int number, const QString& title, const QString& words, QWidget* parent) {
    auto* row = new QWidget(parent);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::m);
    auto* figure = makeLabel(QString::number(number), "headline", row);
    figure->setFixedWidth(24);
    layout->addWidget(figure, 0, Qt::AlignTop);
    auto* text = new QVBoxLayout;
    text->setSpacing(2);
    text->addWidget(makeLabel(title, "title", row));
    text->addWidget(makeLabel(words, "secondary", row, true));
    layout->addLayout(text, 1);
    return row;
}

} // namespace

StartPage::StartPage(Workbench* workbench, Actions* actions, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_actions(actions) {
    auto* page = new QHBoxLayout(this);
    page->setContentsMargins(space::l, space::l, space::l, space::l);
    page->setSpacing(space::xl);
    auto* left = new QVBoxLayout;
    left->setSpacing(space::l);
    auto* title = makeLabel(tr("Was this training run done as agreed?"), "display", this);
    left->addWidget(title);
    left->addWidget(makeLabel(tr("Open what the trainer delivered. Assay runs the training again on this machine, compares it bit by bit "
                                 "with the claim, and shows the first place where they differ."),
                              "secondary", this, true));
    left->addWidget(makeOpening(), 1000); // as much as it may take; what is left over stays empty below
    left->addWidget(makeDemo());
    left->addStretch(1);
    page->addLayout(left, 5);
    page->addWidget(makeRecent(), 4);
    connect(workbench, &Workbench::recentChanged, this, &StartPage::refresh);
    connect(workbench, &Workbench::demoChanged, this, &StartPage::refresh);
    connect(workbench, &Workbench::runChanged, this, &StartPage::refresh);
    refresh();
}

QWidget* StartPage::makeOpening() {
    auto* drop = new DropFrame(this);
    drop->setMaximumHeight(340); // on large screens the demo stays near
    auto* layout = new QVBoxLayout(drop);
    layout->setContentsMargins(space::xl, space::xl, space::xl, space::xl);
    layout->setSpacing(space::s);
    layout->addStretch(1);
    auto* picture = new QLabel(drop);
    const auto restyle = [this, picture] {
        picture->setPixmap(iconPixmap(QStringLiteral("drop"), Theme::instance().colour(Colour::accent), 36, devicePixelRatioF()));
    };
    restyle();
    connect(&Theme::instance(), &Theme::changed, picture, restyle);
    layout->addWidget(picture, 0, Qt::AlignHCenter);
    layout->addWidget(makeLabel(tr("Drop a submission here"), "title", drop), 0, Qt::AlignHCenter);
    layout->addWidget(makeLabel(tr("a submission folder, a .assay file, or an order.json"), "secondary", drop), 0, Qt::AlignHCenter);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(space::s);
    buttons->addStretch(1);
    buttons->addWidget(new ActionButton(m_actions->at(action::openFolder), "primary", drop));
    buttons->addWidget(new ActionButton(m_actions->at(action::openFile), "normal", drop));
    buttons->addStretch(1);
    layout->addSpacing(space::xs);
    layout->addLayout(buttons);
    layout->addStretch(1);
    connect(drop, &DropFrame::dropped, m_workbench, &Workbench::open);
    drop->setAccessibleName(tr("Drop a submission, a .assay file or an order here"));
    return drop;
}

QWidget* StartPage::makeDemo() {
    auto* box = new QWidget(this);
    box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); // its cards are as high as their words
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(makeLabel(tr("Try the demo"), "title", box));
    layout->addWidget(makeLabel(tr("Needs no GPU and no files: a small GPT is trained on the licence texts of this machine, in well under a minute."),
                                "secondary", box, true));
    auto* cards = new QHBoxLayout;
    cards->setSpacing(space::m);
    m_honest = new ChoiceCard(QStringLiteral("honest"), tr("Honest run"),
                              tr("Trained as ordered on one kernel, replayed on another: every step gives the same bits."), box);
    m_tampered = new ChoiceCard(QStringLiteral("tampered"), tr("Tampered run"),
                                tr("The trainer cheats halfway and signs everything properly. The replay finds where."), box);
    cards->addWidget(m_honest, 1);
    cards->addWidget(m_tampered, 1);
    layout->addLayout(cards);
    m_demoRow = new QWidget(box);
    auto* row = new QHBoxLayout(m_demoRow);
    row->setContentsMargins(0, 0, 0, 0);
    auto* busy = new QProgressBar(m_demoRow);
    busy->setRange(0, 0);
    busy->setTextVisible(false);
    busy->setFixedWidth(120);
    busy->setAccessibleName(tr("The demo is being prepared"));
    m_demoText = makeLabel({}, nullptr, m_demoRow, true);
    row->addWidget(busy);
    row->addWidget(m_demoText, 1);
    row->addWidget(new ActionButton(m_actions->at(action::demoCancel), "normal", m_demoRow));
    layout->addWidget(m_demoRow);
    connect(m_honest, &ChoiceCard::triggered, m_actions->at(action::demoHonest), &QAction::trigger);
    connect(m_tampered, &ChoiceCard::triggered, m_actions->at(action::demoTampered), &QAction::trigger);
    return box;
}

QWidget* StartPage::makeRecent() {
    auto* card = new Card(tr("Recent audits"), this);
    auto* holder = new QWidget(card);
    m_recentStack = new QStackedLayout(holder);
    auto* story = new QWidget(holder);
    auto* words = new QVBoxLayout(story);
    words->setContentsMargins(0, space::s, 0, 0);
    words->setSpacing(space::xl);
    words->addWidget(makeLabel(tr("No audits yet. They appear here, also after a restart. This is how one goes:"), "secondary", story, true));
    words->addWidget(makeStory(1, tr("The order"),
                               tr("The client writes down program, data, recipe and numerics. One digest binds all of it."), story));
    words->addWidget(makeStory(2, tr("The submission"),
                               tr("The trainer delivers checkpoints, a commitment to the state after every step, and a log of the few "
                                  "roundings that another machine could take differently."),
                               story));
    words->addWidget(makeStory(3, tr("The replay"),
                               tr("You run the steps again on your own machine with that log enforced. Either all bits agree, or you see "
                                  "the first step and value that do not."),
                               story));
    words->addWidget(makeStory(4, tr("The verdict"),
                               tr("Accepted, rejected with evidence, or inconclusive with the reason. Nothing is green before it was checked."),
                               story));
    words->addStretch(1);
    m_recent = new RecentList(holder);
    m_recentStack->addWidget(story);
    m_recentStack->addWidget(m_recent);
    card->body()->addWidget(holder, 1);
    connect(m_recent, &RecentList::chosen, m_workbench, &Workbench::openAudit);
    connect(m_recent, &RecentList::removeRequested, m_workbench, &Workbench::removeAudit);
    return card;
}

void StartPage::refresh() {
    m_recent->setAudits(m_workbench->recent());
    m_recentStack->setCurrentIndex(m_workbench->recent().empty() ? 0 : 1);
    const QString text = m_workbench->demoText();
    m_demoRow->setVisible(!text.isEmpty());
    m_demoText->setText(text);
    const QString why = m_workbench->whyNoDemo();
    const QString words = why.isEmpty() || !text.isEmpty() ? QString() : tr("Not now: %1.").arg(why);
    m_honest->setBusy(text.isEmpty() ? words : tr("The demo is being prepared."));
    m_tampered->setBusy(text.isEmpty() ? words : tr("The demo is being prepared."));
}

} // namespace assay::ui
