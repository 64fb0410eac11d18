// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/verdict_words.h"

#include <QCoreApplication>

#include "ui/models/action_ids.h"
#include "ui/models/number_text.h"

namespace assay::ui {

namespace {

QString tr(const char* words) { return QCoreApplication::translate("Verdict", words); }
QString text(std::string_view value) { return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size())); }
QString text(const std::string& value) { return QString::fromStdString(value); }
QString text(const std::optional<std::string>& value) { return value ? text(*value) : QString(); }

QString sentence(QString words) {
    if (!words.isEmpty()) {
        words[0] = words[0].toUpper();
        if (!words.endsWith(u'.')) {
            words += u'.';
        }
    }
    return words;
}

VerdictText withoutReport(const VerdictSituation& s) {
    VerdictText out;
    const QString kept = tr("%1 of %2 match so far and are kept.")
                             .arg(groupedNumber(s.stepsMatched), countText(s.stepsTotal, QStringLiteral("step")));
    switch (s.run) {
    case RunState::starting:
    case RunState::running:
    case RunState::paused:
    case RunState::stopping:
        out.tone = Tone::info;
        out.headline = s.run == RunState::paused ? tr("Replay paused") : s.run == RunState::stopping ? tr("Stopping") : tr("Checking");
        out.reason = s.stepsMismatched > 0
                         ? tr("A step differs. The auditor repeats it before it accuses anybody.")
                         : tr("%1 of %2 match so far. There is no verdict before the end.")
                               .arg(groupedNumber(s.stepsMatched), countText(s.stepsTotal, QStringLiteral("step")));
        return out;
    case RunState::interrupted:
        out.headline = tr("Not checked yet: interrupted");
        out.reason = kept + (s.problem.isEmpty() ? QString() : u' ' + sentence(s.problem));
        out.nextLabel = tr("Resume replay");
        out.nextActionId = QString::fromLatin1(action::resumeReplay);
        return out;
    case RunState::failed:
        out.tone = Tone::doubt;
        out.headline = tr("No verdict");
        out.reason = sentence(s.problem);
        out.nextLabel = tr("Show engine log");
        out.nextActionId = QString::fromLatin1(action::goConsole);
        return out;
    case RunState::idle:
    case RunState::finished:
        break;
    }
    out.headline = tr("Not checked yet");
    if (s.orderOnly) {
        out.reason = tr("This is an order. Open the submission that was made for it to audit the training.");
        out.nextLabel = tr("Open a submission…");
        out.nextActionId = QString::fromLatin1(action::openFile);
    } else {
        out.reason = tr("Nothing has been replayed. Signatures and hashes alone say nothing about how the training was done.");
        if (!s.clientOrderKnown) {
            out.reason = tr("Nothing has been replayed, and the client's order is not known: every value of an audit comes from it.");
            out.nextLabel = tr("Choose the client's order…");
            out.nextActionId = QString::fromLatin1(action::chooseOrder);
        } else if (!s.dataKnown) {
            out.reason = tr("Nothing has been replayed, and the folder with the data is not known.");
            out.nextLabel = tr("Choose the data folder…");
            out.nextActionId = QString::fromLatin1(action::chooseData);
        } else {
            out.nextLabel = tr("Start replay");
            out.nextActionId = QString::fromLatin1(action::startReplay);
        }
    }
    return out;
}

} // namespace

VerdictText verdictTextOf(audit::Verdict verdict, bool part) {
    VerdictText out;
    switch (verdict) {
    case audit::Verdict::accepted:
        out.tone = Tone::good;
        out.headline = part ? tr("Accepted in part") : tr("Accepted");
        break;
    case audit::Verdict::rejected:
        out.tone = Tone::bad;
        out.headline = tr("Rejected");
        break;
    case audit::Verdict::inconclusive:
        out.tone = Tone::doubt;
        out.headline = tr("Inconclusive");
        break;
    case audit::Verdict::notChecked:
        out.headline = tr("Not checked yet");
        break;
    }
    return out;
}

QString scopeText(const audit::VerifyReport& report) {
    const QString checked = groupedNumber(report.stepsChecked);
    const QString total = groupedNumber(report.stepsTotal);
    switch (report.scope) {
    case audit::Scope::range:
        if (!report.ranges.empty()) {
            return tr("steps %1 to %2 of %3")
                .arg(groupedNumber(report.ranges.front().first), groupedNumber(report.ranges.back().last), total);
        }
        break;
    case audit::Scope::sample: {
        const QString drawn = tr("sample of %1, %2 of %3 steps")
                                  .arg(countText(report.ranges.size(), QStringLiteral("segment")), checked, total);
        return report.detectionProbability
                   ? tr("%1, detection probability %2").arg(drawn, shareText(*report.detectionProbability))
                   : drawn;
    }
    case audit::Scope::all:
        break;
    }
    return report.stepsChecked == report.stepsTotal ? tr("all %1").arg(countText(report.stepsTotal, QStringLiteral("step")))
                                                    : tr("%1 of %2 steps equal").arg(checked, total);
}

VerdictText verdictText(const VerdictSituation& s) {
    if (!s.hasSubmission) {
        VerdictText out;
        out.headline = tr("Nothing is open");
        out.reason = tr("Open a submission or try the demo.");
        out.nextLabel = tr("Open…");
        out.nextActionId = QString::fromLatin1(action::openFile);
        return out;
    }
    const bool busy = s.run == RunState::starting || s.run == RunState::running || s.run == RunState::paused || s.run == RunState::stopping;
    if (!s.report || busy || s.report->verdict == audit::Verdict::notChecked) {
        return withoutReport(s);
    }
    VerdictText out = verdictTextOf(s.report->verdict, s.report->stepsChecked < s.report->stepsTotal);
    out.scope = scopeText(*s.report);
    QStringList sentences;
    for (const auto& warning : s.report->warnings) {
        sentences << sentence(text(warning));
    }
    sentences << sentence(text(s.report->reason));
    out.reason = sentences.join(u' ');
    if (s.report->firstDivergence) {
        out.nextLabel = tr("Show first divergence");
        out.nextActionId = QString::fromLatin1(action::showDivergence);
    } else if (!s.clientOrderKnown && s.report->verdict == audit::Verdict::inconclusive) {
        out.nextLabel = tr("Choose the client's order…");
        out.nextActionId = QString::fromLatin1(action::chooseOrder);
    } else {
        out.nextLabel = tr("Show replay");
        out.nextActionId = QString::fromLatin1(action::goReplay);
    }
    return out;
}

FindingRow findingRow(const audit::FirstDivergence& d, const QString& words) {
    FindingRow row;
    row.severity = QStringLiteral("failure");
    row.source = d.source ? text(audit::sourceName(*d.source)) : QString();
    row.step = d.step;
    row.part = d.part ? text(audit::partName(*d.part)) : QString();
    row.tensor = text(d.tensor);
    row.operatorName = text(d.operator_);
    row.site = text(d.site);
    row.element = d.element;
    row.claimed = text(d.claimed);
    row.computed = text(d.computed);
    row.claimedBits = d.claimedBits;
    row.computedBits = d.computedBits;
    row.text = words;
    return row;
}

FindingRow findingRow(const audit::Finding& finding) {
    FindingRow row = findingRow(finding.where, text(finding.text));
    row.severity = text(audit::severityName(finding.severity));
    return row;
}

CheckRow checkRow(const audit::CheckResult& check) {
    CheckRow row;
    row.name = text(audit::checkName(check.check));
    row.state = check.state == audit::CheckState::passed   ? CheckState::passed
                : check.state == audit::CheckState::failed ? CheckState::failed
                                                           : CheckState::notChecked;
    row.detail = text(check.detail);
    row.part = check.part ? text(audit::partName(*check.part)) : QString();
    row.step = check.step;
    return row;
}

} // namespace assay::ui
