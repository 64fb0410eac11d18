// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/audit_words.h"

#include <utility>

#include <QCoreApplication>

#include "ui/models/number_text.h"

namespace assay::ui {

namespace {

QString tr(const char* words) { return QCoreApplication::translate("AuditWords", words); }

struct Words {
    const char* name;
    const char* words;
};

template <std::size_t N>
QString lookUp(const Words (&table)[N], const QString& name) {
    for (const auto& entry : table) {
        if (name == QLatin1String(entry.name)) {
            return tr(entry.words);
        }
    }
    return name;
}

constexpr Words kParts[] = {{"batch", "batch"},
                            {"learning_rate", "learning rate"},
                            {"loss", "loss"},
                            {"log_root", "rounding log"},
                            {"state_root", "training state"},
                            {"evaluation", "evaluation value"},
                            {"chain", "chain of leaves"},
                            {"final_file", "final checkpoint file"},
                            {"initial_state", "initial state"},
                            {"data", "data"},
                            {"signature", "signature"},
                            {"order", "order"}};
constexpr Words kSources[] = {{"leaf", "the leaf of the step"},
                              {"log", "the rounding log"},
                              {"tensor", "the roots of the tensors"},
                              {"checkpoint", "a checkpoint file"},
                              {"trace", "the trace of the trainer"},
                              {"dispute", "a dispute"}};
constexpr Words kChecks[] = {{"signature", "Signature"},
                             {"order", "Order"},
                             {"files", "File digests"},
                             {"merkle", "Merkle tree"},
                             {"initial_state", "Initial state"},
                             {"data", "Data"},
                             {"replay", "Replay"},
                             {"final_checkpoint", "Final checkpoint"}};
constexpr Words kCheckHelp[] = {
    {"signature", "The trainer's key signed this submission"},
    {"order", "The submission was made for the client's order"},
    {"files", "Every file has the digest that the manifest lists"},
    {"merkle", "The leaves form the committed tree, in one chain"},
    {"initial_state", "Training began with the state that the order names"},
    {"data", "The data files are those of the order"},
    {"replay", "Running the steps again gives the same leaves"},
    {"final_checkpoint", "The checkpoint files hold the committed states"}};

} // namespace

QString partText(const QString& part) { return lookUp(kParts, part); }
QString sourceText(const QString& source) { return lookUp(kSources, source); }
QString checkText(const QString& check) { return lookUp(kChecks, check); }
QString checkHelp(const QString& check) { return lookUp(kCheckHelp, check); }

Tone checkTone(CheckState state) {
    return state == CheckState::passed ? Tone::good : state == CheckState::failed ? Tone::bad : Tone::neutral;
}

QString checkStateText(CheckState state) {
    return state == CheckState::passed ? tr("passed") : state == CheckState::failed ? tr("failed") : tr("not checked");
}

QString divergenceSentence(const FindingRow& finding) {
    const QString part = finding.part.isEmpty() ? tr("claim") : partText(finding.part);
    const QString what = finding.source == u"log" && !finding.site.isEmpty()
                             ? tr("the rounding log of %1 is not admissible").arg(finding.site)
                             : tr("the %1 differs from what the auditor computed").arg(part);
    if (finding.step && *finding.step > 0) {
        return tr("Step %1: %2").arg(groupedNumber(*finding.step), what);
    }
    QString text = what;
    text[0] = text[0].toUpper();
    return text;
}

QString runStateText(RunState state) {
    switch (state) {
    case RunState::starting:
        return tr("starting the engine");
    case RunState::running:
        return tr("replaying");
    case RunState::paused:
        return tr("paused");
    case RunState::stopping:
        return tr("finishing the current step");
    case RunState::interrupted:
        return tr("interrupted; can be resumed");
    case RunState::finished:
        return tr("finished");
    case RunState::failed:
        return tr("the engine stopped with an error");
    case RunState::idle:
        break;
    }
    return tr("not started");
}

} // namespace assay::ui
