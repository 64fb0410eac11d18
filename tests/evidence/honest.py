# SPDX-License-Identifier: Apache-2.0
"""Random small honest orders across kernel pairs with the proven bound: never rejected, never inconclusive."""
import collections
import random

from runs import main


def random_order(number):
    program = random.choice(("mlp", "cnn", "gpt"))
    options = ["--program", program, "--steps", random.randint(1, 4), "--batch", random.choice((1, 2, 3, 5, 8)), "--seed", number,
               "--lr", random.choice(("0.0003", "0.003", "0.03")), "--schedule", random.choice(("constant", "cosine")),
               "--block", random.choice((16, 64, 256)), "--checkpoint-every", random.randint(1, 4)]
    if program == "gpt":
        width = random.choice((16, 32, 48, 64))
        options += ["--width", width, "--layers", random.randint(1, 2), "--context", random.choice((4, 8, 17, 32))]
    elif program == "cnn":
        options += ["--width", random.choice((4, 8, 12)), "--layers", random.randint(1, 2)]
    else:
        options += ["--width", random.choice((8, 33, 300)), "--layers", random.randint(1, 3)]
    if random.random() < 0.5:
        options += ["--optimizer", "adamw", "--weight-decay", "0.01"]
    else:
        options += ["--optimizer", "sgd", "--momentum", random.choice(("0", "0.9"))]
    if program != "cnn" and random.random() < 0.5:
        options += ["--dropout", "0.1"]
    if random.random() < 0.5:
        options += ["--clip", "1"]
    return options


def run(assay, options):
    failures = []
    usable, refused = assay.kernels()
    for name, reason in refused.items():
        print(f"skipped: {name}: {reason}")
    profiles = usable + ["reversed", "splitk", "threads=1", "threads=2"]
    counts = collections.Counter()
    entries = corrections = 0
    total = 200 if options.full else 6
    for number in range(total):
        arguments = random_order(number)
        order = assay.order(f"o{number}", *arguments)
        trained, audited = random.sample(profiles, 2)
        submission, _ = assay.train(order, f"s{number}", trained)
        audited += random.choice(("", "", ",noise=0.5"))
        report = assay.verify(submission, order, audited, "--store", assay.scratch / "honest.sqlite")
        counts[report["verdict"]] += 1
        entries += report.get("entries") or 0
        corrections += report.get("corrections") or 0
        if report["verdict"] != "accepted":
            failures.append(f"{' '.join(map(str, arguments))}, {trained} -> {audited}: {report['verdict']}: {report.get('reason')}")
    print(f"{total} orders, verdicts {dict(counts)}, {entries} entries, {corrections} corrections")
    return failures


if __name__ == "__main__":
    main(run)
