# SPDX-License-Identifier: Apache-2.0
"""Every planted fault, signed with the trainer's own key, is rejected for the right reason at the right step."""
import collections
import random

from runs import differing_lines, find_data, main, table

# kind -> parts that the first divergence may name (see core/engine/README.md)
PARTS = {
    "weights": {"state_root"},
    "data-order": {"batch"},
    "skip-step": {"state_root"},
    "lr": {"learning_rate"},
    "optimizer": {"state_root"},
    "dropout": {"loss", "log_root", "state_root"},
    "seed": {"batch", "loss", "log_root", "state_root"},
    "loss": {"loss"},
    "site": {"loss", "log_root", "state_root"},
    "checkpoint": {"final_file"},
    "log-flip": {"log_root", "state_root", "loss"},
    "log-extra": {"log_root"},
    "log-drop": {"log_root"},
    "log-empty": {"log_root"},
}
LOG_KINDS = ("log-flip", "log-extra", "log-drop", "log-empty")


def orders(assay, options):
    steps = 12 if options.full else 4
    text, mnist = find_data("shakespeare.txt"), find_data("mnist")
    common = ["--steps", steps, "--checkpoint-every", 4 if options.full else 2]
    data = ["--data", f"text:{text}"] if text else []
    yield "gpt", assay.order("gpt", "--program", "gpt", *data, *common, "--batch", 4, "--width", 64, "--layers", 2, "--context",
                             32, "--optimizer", "adamw", "--lr", "0.003", "--schedule", "cosine", "--dropout", "0.1"), steps
    data = ["--data", f"idx:{mnist}"] if mnist else []
    yield "cnn", assay.order("cnn", "--program", "cnn", *data, *common, "--batch", 8, "--width", 16, "--optimizer", "sgd", "--lr",
                             "0.05", "--momentum", "0.9"), steps


def run(assay, options):
    failures = []
    rows = [("order", "kind", "step", "verdict", "source", "part", "at step", "site", "element")]
    counts = collections.Counter()
    for label, order, steps in orders(assay, options):
        honest_digests = assay.scratch / "honest.digests"
        submission, _ = assay.train(order, f"{label}-sub", "default", "--site-digests", honest_digests)
        key = order / "trainer.pem"
        for kind in PARTS:
            for number in range(3 if options.full else 1):
                step = random.randint(1, steps)
                for recommit in ((False, True) if kind in LOG_KINDS else (False,)):
                    out = assay.scratch / f"{label}-{kind}-{step}-{number}-{recommit}"
                    where = ["--step", step]
                    if kind == "site":
                        where = ["--at", f"{step}:{random.randint(0, 20)}:{random.randint(0, 15)}"]
                    code, _, err, _ = assay.call("tamper", submission, "--kind", kind, *where, "--key", key, "--data", order,
                                                 "--out", out, *(["--recommit"] if recommit else []))
                    name = kind + (" recommitted" if recommit else "")
                    if code == 2:
                        rows.append((label, name, step, "not applicable", "", err.strip().splitlines()[-1][:60], "", "", ""))
                        counts["not applicable"] += 1
                        continue
                    if code != 0:
                        failures.append(f"{label} {name} at {step}: tamper ended with {code}: {err}")
                        continue
                    digests = assay.scratch / "replay.digests"
                    report = assay.verify(out, order, "default", "--site-digests", digests)
                    first = report.get("first_divergence") or {}
                    rows.append((label, name, step, report["verdict"], first.get("source"), first.get("part"), first.get("step"),
                                 first.get("site"), first.get("element")))
                    counts[report["verdict"]] += 1
                    if report["verdict"] == "accepted" and kind == "log-flip":
                        # An absorbed flip is another valid run: every site of the replay must equal the honest run's, but for
                        # the flipped value itself, which the update has swallowed.
                        differ, total = differing_lines(honest_digests, digests)
                        rows.append((label, "  absorbed flip", step, f"{differ}/{total} sites differ", "", "", "", "", ""))
                        continue
                    expected = steps if kind == "checkpoint" else step
                    if report["verdict"] != "rejected":
                        failures.append(f"{label} {name} at {step}: {report['verdict']}: {report.get('reason')}")
                    elif first.get("part") not in PARTS[kind] or first.get("step") != expected:
                        failures.append(f"{label} {name} at {step}: found {first.get('part')} at step {first.get('step')}")
    table(rows)
    print(dict(counts))
    return failures


if __name__ == "__main__":
    main(run)
