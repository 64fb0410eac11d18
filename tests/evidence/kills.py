# SPDX-License-Identifier: Apache-2.0
"""kill -9 of trainer and verifier at random moments, resumed: the same final root and verdict as undisturbed."""
import json
import os
import random
import signal
import subprocess
import time

from runs import main, table


def killed(assay, arguments, after):
    """Starts the command in its own process group and kills the whole group after a while. True if it was still running."""
    process = subprocess.Popen([assay.program, *map(str, arguments)], env=assay.env, cwd=assay.scratch, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def root_of(submission):
    return json.loads((submission / "commitment.json").read_text())["root"]


def run(assay, options):
    failures = []
    order = assay.order("order", "--program", "gpt", "--steps", 12, "--batch", 4, "--width", 64, "--layers", 2, "--context", 32,
                        "--checkpoint-every", 3, "--optimizer", "adamw", "--lr", "0.001", "--dropout", "0.1")
    reference, train_seconds = assay.train(order, "reference", "default")
    honest = assay.verify(reference, order, "default")
    rows = [("what", "kills", "profile on resume", "same root", "verdict")]
    rounds = 20 if options.full else 2
    usable, _ = assay.kernels()
    others = ["threads=1", "threads=2"] + (["prescott"] if "prescott" in usable else [])
    for number in range(rounds):
        target = assay.scratch / f"killed-{number}"
        kills, profile = 0, "default"
        for attempt in range(3):
            arguments = ["train", order / "order.json", "--out", target, "--kernel", "default"] + (["--resume"] if attempt else [])
            if not killed(assay, arguments, random.uniform(0.02, train_seconds * 0.8)):
                break
            kills += 1
        if kills == 3:
            if number % 2:
                profile = random.choice(others)
            if not target.exists():
                assay.must("train", order / "order.json", "--out", target, "--kernel", profile)
            else:
                assay.must("train", order / "order.json", "--out", target, "--kernel", profile, "--resume")
        same = root_of(target) == root_of(reference)
        report = assay.verify(target, order, "default", "--store", assay.scratch / f"t{number}.sqlite")
        rows.append(("trainer", kills, profile, same, report["verdict"]))
        if report["verdict"] != "accepted":
            failures.append(f"trainer killed {kills} times, resumed under {profile}: {report['verdict']}: {report.get('reason')}")
        if profile == "default" and not same:
            failures.append("a trainer resumed under the same profile ended with another root")
        if profile == "default":
            for path in sorted(p for p in reference.rglob("*") if p.is_file()):
                if (target / path.relative_to(reference)).read_bytes() != path.read_bytes():
                    failures.append(f"{path.relative_to(reference)} differs after a resume under the same profile")
    for number in range(rounds):
        store = assay.scratch / f"v{number}.sqlite"
        kills = 0
        for attempt in range(3):
            arguments = ["verify", reference, "--order", order / "order.json", "--kernel", "default", "--store", store, "--json"]
            if not killed(assay, arguments + (["--resume"] if attempt else []), random.uniform(0.02, honest["wall"] * 0.9)):
                break
            kills += 1
        report = assay.verify(reference, order, "default", "--store", store, "--resume")
        rows.append(("verifier", kills, "", report.get("root_computed") == honest.get("root_computed"), report["verdict"]))
        for field in ("verdict", "root_computed", "steps_checked", "entries", "corrections", "log_bytes"):
            if report.get(field) != honest.get(field):
                failures.append(f"verifier killed {kills} times: {field} is {report.get(field)}, undisturbed {honest.get(field)}")
    table(rows)
    return failures


if __name__ == "__main__":
    main(run)
