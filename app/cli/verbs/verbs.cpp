// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/verbs.h"

namespace assay::cli {

void declareVerbs(VerbSpec& root, Session& session) {
    root.about("A client writes an order (program, data, recipe). A trainer carries it out anywhere and hands in a "
               "submission. The "
               "auditor replays it on other hardware with the rounding log enforced: honest training gives "
               "bit-identical results, "
               "anything else is caught, down to the step and the value.\n"
               "Results go to standard output, progress and messages to standard error. Exit codes: 0 accepted or "
               "done, 1 checked "
               "and rejected, 2 usage, 3 malformed or unreadable input, 4 this machine cannot do it, 5 inconclusive, "
               "70 a bug of "
               "Assay, 130 interrupted with its state kept.");
    addOrder(root, session);
    addTrain(root, session);
    addVerify(root, session);
    addPlan(root, session);
    addTamper(root, session);
    addEval(root, session);
    addInspect(root, session);
    addLog(root, session);
    addMerkle(root, session);
    addKeys(root, session);
    addBundle(root, session);
    addDemo(root, session);
    addVersion(root, session);
    addCompletion(root, session);
    root.example("assay demo", "see the whole story in two minutes");
    root.example("assay order new --program gpt --steps 20 --batch 8 --out job", "write an order, ready to train");
    root.example("assay train job/order.json --out run", "carry it out");
    root.example("assay verify run --order job/order.json", "check that it was carried out as ordered");
}

void addJsonOption(VerbSpec& verb, Session& session) {
    verb.flag("--json", "print the result as one JSON object", session.json);
}

void addProgressOption(VerbSpec& verb, Session& session) {
    OptionSpec option;
    option.name = "--progress";
    option.placeholder = "HOW";
    option.help = "progress on standard error: a live line, JSON Lines, or nothing";
    option.choices = {"auto", "line", "jsonl", "none"};
    option.defaultText = "auto: a line on a terminal";
    option.accept = [&session](const std::string& value) -> base::Result<void> {
        if (value == "auto") {
            session.progress = ProgressMode::automatic;
        } else if (value == "line") {
            session.progress = ProgressMode::line;
        } else if (value == "jsonl") {
            session.progress = ProgressMode::jsonLines;
        } else if (value == "none") {
            session.progress = ProgressMode::none;
        } else {
            return base::fail(base::ErrorCode::usage, "is \"" + value + "\", expected one of auto, line, jsonl, none");
        }
        return {};
    };
    verb.option(std::move(option));
}

} // namespace assay::cli
