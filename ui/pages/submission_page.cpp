// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/submission_page.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QStackedLayout>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/bridge/workbench.h"
#include "ui/models/action_ids.h"
#include "ui/models/audit_words.h"
#include "ui/models/number_text.h"
#include "ui/models/program_model.h"
#include "ui/pages/actions.h"
#include "ui/pages/order_card.h"
#include "ui/widgets/basics.h"
#include "ui/widgets/card.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/program_graph.h"
#include "ui/widgets/sample_gallery.h"
#include "ui/widgets/verdict_banner.h"

namespace assay::ui {

namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }

const char* const kCheckOrder[] = {"signature", "order", "files", "merkle", "initial_state", "data", "replay", "final_checkpoint"};

QLineEdit* makeFilter(const QString& name, QWidget* parent) {
    auto* filter = new QLineEdit(parent);
    filter->setPlaceholderText(SubmissionPage::tr("Filter (Ctrl+F)"));
    filter->setAccessibleName(name);
    filter->setClearButtonEnabled(true);
    filter->setFixedWidth(220);
    return filter;
}

QString profileText(const std::vector<format::ProfileRange>& profiles) {
    QStringList out;
    for (const auto& range : profiles) {
        out << (profiles.size() == 1 ? text(range.profile)
                                     : SubmissionPage::tr("steps %1 to %2: %3")
                                           .arg(groupedNumber(range.firstStep), groupedNumber(range.lastStep), text(range.profile)));
    }
    return out.join(u'\n');
}

TableCell unknownNumber(const QString& words = QStringLiteral("–")) {
    TableCell cell = textCell(words);
    cell.right = true;
    return cell;
}

QString foundText(const CheckRow& check) {
    return check.detail.isEmpty()          ? QStringLiteral("–")
           : check.detail == u"unknown key" ? SubmissionPage::tr("the client's order says whose signature counts; it is not known")
                                            : check.detail;
}

QString readerText(const std::string& reader) {
    return reader == "bytes"  ? SubmissionPage::tr("windows of bytes of real text; the class is the next byte")
           : reader == "text" ? SubmissionPage::tr("text, one token per byte")
                              : text(reader);
}

} // namespace

SubmissionPage::SubmissionPage(Workbench* workbench, Actions* actions, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_actions(actions), m_checkModel({tr("Check"), tr("Result"), tr("What it compares"), tr("What was found")}),
      m_checkpointModel({tr("Step"), tr("Size"), tr("State root"), tr("File")}),
      m_siteModel({tr("Site"), tr("Direction"), tr("Values per step"), tr("Entries"), tr("Whole values"), tr("Steps with entries"),
                   tr("Log bytes"), tr("Corrections")}),
      m_operatorModel({tr("No."), tr("Operator"), tr("Kind"), tr("Inputs"), tr("Outputs"), tr("Attributes")}),
      m_tensorModel({tr("Tensor"), tr("Role"), tr("Shape"), tr("Values"), tr("Initialiser")}),
      m_fileModel({tr("File"), tr("Size"), tr("SHA-256")}) {
    auto* page = new QVBoxLayout(this);
    page->setContentsMargins(space::l, space::xs, 0, 0);
    m_tabs = new QTabWidget(this);
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(makeOverview(), tr("Overview"));
    m_tabs->addTab(makeLogs(), tr("Rounding logs"));
    m_tabs->addTab(makeProgram(), tr("Program"));
    m_tabs->addTab(makeData(), tr("Data"));
    page->addWidget(m_tabs);
    connect(workbench, &Workbench::submissionChanged, this, &SubmissionPage::refresh);
    connect(workbench, &Workbench::checksChanged, this, &SubmissionPage::refreshChecks);
    connect(workbench, &Workbench::logsChanged, this, &SubmissionPage::refreshLogs);
    connect(workbench, &Workbench::runChanged, this, &SubmissionPage::refreshLogs);
    refreshChecks();
}

QWidget* SubmissionPage::makeOverview() {
    auto* scroll = new PageScroll(this);
    auto* page = new QVBoxLayout(scroll->content());
    page->setContentsMargins(0, space::m, space::l, space::l);
    page->setSpacing(space::m);
    m_checks = new Card(tr("Checks"), this);
    m_checks->setCaption(tr("each one is reported by itself; signature and order are compared on opening, the rest by the replay"));
    auto* checkTable = new DataTable(tr("Checks"), &m_checkModel, m_checks);
    checkTable->setStretchColumn(3);
    checkTable->fitRows(8);
    checkTable->setWrapping(true);
    m_checks->body()->addWidget(checkTable);
    page->addWidget(m_checks);

    auto* grid = new QHBoxLayout;
    grid->setSpacing(space::m);
    auto* left = new QVBoxLayout;
    auto* right = new QVBoxLayout;
    left->setSpacing(space::m);
    right->setSpacing(space::m);

    auto* signature = m_signatureCard = new Card(tr("Signature and key"), this);
    m_signaturePill = new StatusPill(signature);
    signature->addHeaderWidget(m_signaturePill);
    m_signature = new FactGrid(signature);
    signature->body()->addWidget(m_signature);
    left->addWidget(signature);

    auto* commitment = new Card(tr("Commitments"), this);
    m_commitment = new FactGrid(commitment);
    commitment->body()->addWidget(m_commitment);
    left->addWidget(commitment);

    left->addStretch(1);

    m_order = new OrderCard(m_actions, this);
    right->addWidget(m_order);
    m_checkpoints = new Card(tr("Checkpoints"), this);
    m_checkpointTable = new DataTable(tr("Checkpoints"), &m_checkpointModel, m_checkpoints);
    m_checkpointTable->setStretchColumn(3);
    m_checkpointTable->setEmptyText(tr("No checkpoint was delivered"));
    m_checkpointTable->fitRows(8);
    m_checkpoints->body()->addWidget(m_checkpointTable);
    right->addWidget(m_checkpoints);
    right->addStretch(1);

    grid->addLayout(left, 1);
    grid->addLayout(right, 1);
    page->addLayout(grid);
    page->addStretch(1);
    connect(m_order, &OrderCard::orderConfirmed, m_workbench, &Workbench::setClientOrder);
    return scroll;
}

QWidget* SubmissionPage::makeLogs() {
    auto* tab = new QWidget(this);
    auto* layout = new QVBoxLayout(tab);
    layout->setContentsMargins(0, space::m, space::l, space::l);
    layout->setSpacing(space::m);
    auto* summary = new Card(tr("Rounding logs"), tab);
    summary->setCaption(tr("the few roundings that another machine could take differently"));
    auto* figures = new QHBoxLayout;
    figures->setSpacing(space::xxl);
    const auto figure = [&](const QString& caption) {
        auto* f = new Figure(caption, summary);
        figures->addWidget(f);
        return f;
    };
    m_logBytes = figure(tr("log of all steps"));
    m_perStep = figure(tr("log per step"));
    m_entries = figure(tr("entries"));
    m_freedom = figure(tr("values with a choice"));
    m_corrections = figure(tr("corrections"));
    figures->addStretch(1);
    summary->body()->addLayout(figures);
    layout->addWidget(summary);
    m_siteCard = new Card(tr("Per site"), tab);
    m_siteFilter = makeFilter(tr("Filter sites"), m_siteCard);
    m_siteCard->addHeaderWidget(m_siteFilter);
    auto* table = new DataTable(tr("Log statistics per site"), &m_siteModel, m_siteCard);
    table->setStretchColumn(0);
    table->setEmptyText(tr("The logs are being read."));
    m_siteCard->body()->addWidget(table, 1);
    layout->addWidget(m_siteCard, 1);
    connect(m_siteFilter, &QLineEdit::textChanged, this, [this](const QString& words) { m_siteModel.setFilter(words.trimmed()); });
    return tab;
}

QWidget* SubmissionPage::makeProgram() {
    auto* tab = new QWidget(this);
    auto* layout = new QVBoxLayout(tab);
    layout->setContentsMargins(0, space::m, space::l, space::l);
    m_programCard = new Card(tr("Program"), tab);
    m_programViews = new SegmentBar(tr("View"), {tr("Graph"), tr("Operators"), tr("Tensors"), tr("Text")}, m_programCard);
    m_programFilter = makeFilter(tr("Filter operators and tensors"), m_programCard);
    m_programCard->addHeaderWidget(m_programFilter);
    m_programCard->addHeaderWidget(m_programViews);
    auto* holder = new QWidget(m_programCard);
    m_programStack = new QStackedLayout(holder);

    auto* graphTab = new QWidget(holder);
    auto* graphLayout = new QVBoxLayout(graphTab);
    graphLayout->setContentsMargins(0, 0, 0, 0);
    m_graph = new ProgramGraph(graphTab);
    graphLayout->addWidget(m_graph, 1);
    graphLayout->addWidget(makeLabel(tr("Blue frame with bars: a matrix product; its roundings are logged. Other boxes have one specified order "
                                        "and need no log. Ctrl+wheel zooms, drag moves."),
                                     "caption", graphTab));
    m_programStack->addWidget(graphTab);
    auto* operators = new DataTable(tr("Operators"), &m_operatorModel, holder);
    operators->setStretchColumn(5);
    m_programStack->addWidget(operators);
    auto* tensors = new DataTable(tr("Tensors"), &m_tensorModel, holder);
    tensors->setStretchColumn(4);
    m_programStack->addWidget(tensors);
    m_programText = new QPlainTextEdit(holder);
    m_programText->setProperty("kind", "flat");
    m_programText->setReadOnly(true);
    m_programText->setAccessibleName(tr("Program as text"));
    m_programText->setFont(Theme::instance().monoFont());
    m_programStack->addWidget(m_programText);
    m_programCard->body()->addWidget(holder, 1);
    layout->addWidget(m_programCard, 1);
    connect(&Theme::instance(), &Theme::changed, this, [this] { m_programText->setFont(Theme::instance().monoFont()); });
    connect(m_programViews, &SegmentBar::chosen, this, [this](int index) {
        m_programStack->setCurrentIndex(index);
        m_programFilter->setVisible(index == 1 || index == 2);
        if (index == 3 && m_programText->document()->isEmpty() && m_workbench->submission()) {
            m_programText->setPlainText(m_workbench->submission()->programText);
        }
    });
    m_programFilter->setVisible(false);
    connect(m_programFilter, &QLineEdit::textChanged, this, [this](const QString& words) {
        m_operatorModel.setFilter(words.trimmed());
        m_tensorModel.setFilter(words.trimmed());
    });
    return tab;
}

QWidget* SubmissionPage::makeData() {
    auto* scroll = new PageScroll(this);
    auto* layout = new QVBoxLayout(scroll->content());
    layout->setContentsMargins(0, space::m, space::l, space::l);
    layout->setSpacing(space::m);
    auto* facts = new Card(tr("Data of the order"), this);
    m_data = new FactGrid(facts);
    facts->body()->addWidget(m_data);
    auto* files = new DataTable(tr("Data files"), &m_fileModel, facts);
    files->setStretchColumn(2);
    files->fitRows(6);
    facts->body()->addWidget(files);
    layout->addWidget(facts);
    auto* look = new Card(tr("A look at the samples"), this);
    look->setCaption(tr("first samples of step 1, in batch order"));
    m_gallery = new SampleGallery(look);
    look->body()->addWidget(m_gallery);
    m_dataProblem = new QWidget(look);
    auto* row = new QVBoxLayout(m_dataProblem);
    row->setContentsMargins(0, 0, 0, 0);
    m_dataProblemText = makeLabel({}, "secondary", m_dataProblem, true);
    row->addWidget(m_dataProblemText);
    row->addWidget(new ActionButton(m_actions->at(action::chooseData), "normal", m_dataProblem), 0, Qt::AlignLeft);
    look->body()->addWidget(m_dataProblem);
    layout->addWidget(look);
    layout->addStretch(1);
    return scroll;
}

void SubmissionPage::showTab(const QString& name) {
    const QStringList names{QStringLiteral("overview"), QStringLiteral("logs"), QStringLiteral("program"), QStringLiteral("data")};
    if (const auto at = names.indexOf(name); at >= 0) {
        m_tabs->setCurrentIndex(static_cast<int>(at));
    }
}

void SubmissionPage::focusFilter() {
    auto* filter = m_tabs->currentIndex() == 2 ? m_programFilter : m_siteFilter;
    if (m_tabs->currentIndex() == 2 && !m_programFilter->isVisible()) {
        m_programViews->setCurrent(1);
    } else if (m_tabs->currentIndex() != 2) {
        m_tabs->setCurrentIndex(1);
    }
    filter->setFocus();
}

void SubmissionPage::refresh() {
    const auto submission = m_workbench->submission();
    m_tabs->setTabVisible(1, submission && !submission->orderOnly);
    if (!submission) {
        return;
    }
    const auto& s = *submission;
    m_order->show(s, m_workbench->orderBeside());

    m_signatureCard->setTitle(s.orderOnly ? tr("Key") : tr("Signature and key"));
    m_signature->clear();
    m_signatureFound = nullptr;
    if (!s.orderOnly) {
        m_signatureFound = m_signature->addText(tr("Signature"), {});
    }
    if (s.trainerKeys.empty()) {
        m_signature->addText(tr("Trainer's key"), tr("the order names none"));
    }
    for (const auto& key : s.trainerKeys) {
        m_signature->addKey(tr("Trainer's key"), key.id, key.hex);
    }
    if (!s.orderOnly) {
        m_signature->addText(tr("Kernel of the trainer"), profileText(s.profiles));
        m_signature->addText(tr("Engine of the trainer"), s.engineVersion);
    }

    m_commitment->clear();
    if (s.orderOnly) {
        m_commitment->addText(tr("Submission"), tr("none is open; an order commits to what must be done, not to what was done"));
    } else {
        m_commitment->addHash(tr("Root"), s.root);
        m_commitment->addText(tr("Leaves"), tr("%1: the initial state and %2").arg(groupedNumber(s.leaves), countText(s.steps, QStringLiteral("step"))));
        m_commitment->addHash(tr("Manifest"), s.manifestDigest);
        m_commitment->addText(tr("Files"), tr("%1, %2 together").arg(countText(s.files, QStringLiteral("file")), byteText(s.bytes)));
        if (s.diverged) {
            m_commitment->addText(tr("Diverged"), tr("the run met a value that is not finite at %1 and ended there").arg(s.divergedSite));
        }
    }
    m_commitment->addHash(tr("Program"), s.programDigest);

    std::vector<TableRow> checkpoints;
    for (const auto& checkpoint : s.checkpoints) {
        checkpoints.push_back({{numberCell(checkpoint.step),
                                {byteText(checkpoint.bytes), QVariant(static_cast<qulonglong>(checkpoint.bytes)), {}, {}, false, true},
                                monoCell(checkpoint.stateRoot.left(12), checkpoint.stateRoot), textCell(checkpoint.file, checkpoint.sha256)},
                               {}});
    }
    m_checkpointModel.setRows(std::move(checkpoints));
    m_checkpoints->setVisible(!s.orderOnly);

    if (s.programKnown && m_shownProgram != s.programDigest) {
        m_shownProgram = s.programDigest;
        m_graph->setNodes(graphOf(s.program));
        m_operatorModel.setRows(operatorRows(s.program));
        m_tensorModel.setRows(tensorRows(s.program));
        m_programText->clear();
        if (m_programViews->current() == 3) {
            m_programText->setPlainText(s.programText);
        }
    }
    m_programCard->setTitle(s.program.title.empty() ? tr("Program") : tr("Program: %1").arg(text(s.program.title)));
    m_programCard->setCaption(tr("%1, %2").arg(countText(s.program.operators.size(), tr("operator")),
                                                countText(parameterCount(s.program), tr("parameter"))));

    m_data->clear();
    const auto& spec = s.order.data;
    m_data->addText(tr("Reader"), readerText(spec.reader));
    m_data->addText(tr("Samples"), tr("%1 for training, %2 held out").arg(groupedNumber(spec.samples), groupedNumber(spec.heldOut)));
    if (spec.context > 0) {
        m_data->addText(tr("Context"), countText(spec.context, tr("token")));
    }
    m_data->addText(tr("Task"), spec.task == "next-token" ? tr("predict the next token") : tr("classification into %1 classes").arg(groupedNumber(spec.classes)));
    m_data->addHash(tr("Sample root"), text(spec.sampleRoot.toHex()));
    m_data->addText(tr("Folder"), s.dataFolder.isEmpty() ? tr("not known") : s.dataFolder);
    std::vector<TableRow> files;
    for (const auto& file : spec.files) {
        const QString digest = text(file.sha256.toHex());
        files.push_back({{textCell(text(file.name)),
                          {byteText(file.size), QVariant(static_cast<qulonglong>(file.size)), {}, {}, false, true},
                          monoCell(digest, digest)},
                         {}});
    }
    m_fileModel.setRows(std::move(files));
    m_gallery->setSamples(s.samples);
    m_gallery->setVisible(!s.samples.empty());
    m_dataProblem->setVisible(s.samples.empty());
    m_dataProblemText->setText(s.dataProblem.isEmpty() ? tr("The samples are being read.") : s.dataProblem);
    refreshChecks();
    refreshLogs();
}

void SubmissionPage::refreshChecks() {
    std::vector<TableRow> rows;
    for (const char* name : kCheckOrder) {
        const QString id = QString::fromLatin1(name);
        const CheckRow check = m_workbench->check(id);
        rows.push_back({{textCell(checkText(id)), toneCell(checkTone(check.state), checkStateText(check.state)), textCell(checkHelp(id)),
                         textCell(foundText(check))},
                        {}});
    }
    m_checkModel.setRows(std::move(rows));
    const auto submission = m_workbench->submission();
    m_checks->setVisible(submission && !submission->orderOnly);
    m_signaturePill->setVisible(submission && !submission->orderOnly);
    const CheckRow signature = m_workbench->check(QStringLiteral("signature"));
    m_signaturePill->setStatus(checkTone(signature.state), checkStateText(signature.state));
    if (m_signatureFound != nullptr) {
        m_signatureFound->setText(foundText(signature));
    }
    m_order->showCheck(m_workbench->check(QStringLiteral("order")));
}

void SubmissionPage::refreshLogs() {
    const auto submission = m_workbench->submission();
    if (!submission || submission->orderOnly) {
        return;
    }
    const auto& logs = m_workbench->logs();
    const auto& rows = m_workbench->sites()->rows();
    const auto totals = m_workbench->sites()->totals();
    const bool replayed = m_workbench->steps()->replayed() > 0;
    std::uint64_t entries = 0;
    std::vector<TableRow> table;
    for (std::size_t i = 0; i < logs.sections.size(); ++i) {
        const auto& section = logs.sections[i];
        entries += section.entries;
        const bool named = i < rows.size();
        const QString name = named ? rows[i].name : i < logs.names.size() ? logs.names[i].name : tr("product site %1").arg(i + 1);
        const QString direction = named ? rows[i].direction : i < logs.names.size() ? logs.names[i].direction : QString();
        const std::uint64_t values = named ? rows[i].values : i < logs.names.size() ? logs.names[i].values : 0;
        table.push_back({{textCell(name), textCell(direction), values > 0 ? numberCell(values) : unknownNumber(),
                          numberCell(section.entries), numberCell(section.whole), numberCell(section.steps), numberCell(section.bytes),
                          replayed && i < totals.size() ? numberCell(totals[i].corrections) : unknownNumber(tr("not replayed"))},
                         {}});
    }
    m_siteModel.setRows(std::move(table));
    m_siteCard->setCaption(logs.problem.isEmpty() ? tr("%1, %2 read").arg(countText(logs.sections.size(), tr("product site")),
                                                                             countText(logs.stepsRead, QStringLiteral("step")))
                                                  : logs.problem);
    m_logBytes->setValue(byteText(submission->logBytes));
    m_perStep->setValue(submission->steps > 0 ? byteText(submission->logBytes / submission->steps) : QStringLiteral("–"));
    m_entries->setValue(groupedNumber(entries));
    m_corrections->setValue(replayed ? groupedNumber(m_workbench->totalCorrections()) : tr("not replayed"),
                            tr("Entries that changed the auditor's own rounding"));
    const auto& report = m_workbench->report();
    m_freedom->setValue(report ? groupedNumber(report->freedom) : tr("not replayed"),
                        tr("Values for which an honest trainer could have rounded either way"));
}

} // namespace assay::ui
