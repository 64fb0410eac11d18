# SPDX-License-Identifier: Apache-2.0
"""Honest runs under one kernel verify bit for bit under every other one; what the log costs."""
import json

from runs import differing_lines, find_data, main, same_file, table


LONG_SUMS = "gpt long sums"


def log_info(assay, submission):
    """Log statistics, with the bytes that 1.6 bit for each module output and input gradient would take (the published encoding)."""
    out, _ = assay.must("log", "info", submission, "--json")
    return json.loads(out)


def orders(assay, options):
    text = find_data("shakespeare.txt")
    mnist = find_data("mnist")
    data = ["--data", f"text:{text}"] if text else []
    if options.full:
        sizes = ["--steps", 20, "--batch", 8, "--width", 384, "--layers", 4, "--context", 64]
        cnn = ["--steps", 40, "--batch", 16, "--width", 64]
    else:
        sizes = ["--steps", 3, "--batch", 2, "--width", 64, "--layers", 2, "--context", 32]
        cnn = ["--steps", 3, "--batch", 4, "--width", 16]
    adamw = ["--optimizer", "adamw", "--lr", "0.001", "--schedule", "cosine", "--warmup", 2, "--clip", 1, "--dropout", "0.1"]
    sgd = ["--optimizer", "sgd", "--lr", "0.05", "--momentum", "0.9", "--weight-decay", "0.0005"]
    yield "gpt proven", assay.order("gpt", "--program", "gpt", *data, *sizes, *adamw)
    yield "gpt empirical", assay.order("gpt-e", "--program", "gpt", *data, *sizes, *adamw, "--bound", "empirical")
    if options.full:  # sums of up to 4,096 terms in one block, with the small bound: here real kernels do need corrections
        yield LONG_SUMS, assay.order("gpt-l", "--program", "gpt", *data, "--steps", 6, "--batch", 8, "--width", 128, "--layers", 2,
                                     "--context", 64, "--feed-forward", 4096, *adamw, "--bound", "empirical", "--block", 8192)
    if mnist:
        yield "cnn proven", assay.order("cnn", "--program", "cnn", "--data", f"idx:{mnist}", *cnn, *sgd)
        yield "cnn empirical", assay.order("cnn-e", "--program", "cnn", "--data", f"idx:{mnist}", *cnn, *sgd, "--bound", "empirical")
    else:
        print("skipped: MNIST is not beside the checkout")


def run(assay, options):
    failures = []
    usable, refused = assay.kernels()
    print("core types here:", ", ".join(usable) or "none")
    for name, reason in refused.items():
        print(f"skipped: {name}: {reason}")
    base = "haswell" if "haswell" in usable else "default"
    profiles = [name for name in ("prescott", "skylakex", "barcelona") if name in usable]
    if not options.full:
        profiles = profiles[:1]
    profiles += [f"{base},splitk", f"{base},reversed", f"{base},threads=1", f"{base},threads=2", f"{base},noise=0.9"]
    rows = [("order", "verifier", "verdict", "sites equal", "entries", "corrections", "log B/step", "seconds")]
    ratios = [("order", "log B/step", "dense B/step", "ratio 1 :")]
    for label, order in orders(assay, options):
        real_corrections = 0
        reference = assay.scratch / f"{order.name}.digests"
        submission, seconds = assay.train(order, f"{order.name}-sub", base, "--site-digests", reference)
        rows.append((label, f"(trained: {base})", "", "", "", "", "", f"{seconds:.1f}"))
        for profile in profiles:
            digests = assay.scratch / "auditor.digests"
            report = assay.verify(submission, order, profile, "--site-digests", digests)
            equal = digests.exists() and same_file(reference, digests)
            rows.append((label, profile, report["verdict"], equal, report.get("entries"), report.get("corrections"),
                         round(report.get("log_bytes", 0) / max(1, report.get("steps_checked", 1))), f"{report['wall']:.1f}"))
            if report["verdict"] != "accepted" or not equal:
                failures.append(f"{label} under {profile}: {report['verdict']} {report.get('reason')}, sites equal: {equal}")
            if "noise" not in profile:
                real_corrections += report.get("corrections") or 0
            if options.full and "noise" in profile and not report.get("corrections"):
                failures.append(f"{label} under {profile}: noise of this size should have needed corrections")
            if report.get("corrections"):
                ignored = assay.scratch / "ignored.digests"
                other = assay.verify(submission, order, profile, "--ignore-log", "--site-digests", ignored)
                differ, total = differing_lines(reference, ignored) if ignored.exists() else (0, 0)
                rows.append((label, profile + " without log", other["verdict"], f"{differ}/{total} differ", "", "", "", ""))
                if differ == 0 or other["verdict"] == "accepted":
                    failures.append(f"{label} under {profile} without the log: {differ} sites differ, {other['verdict']}")
        if label == LONG_SUMS and not real_corrections:
            failures.append(f"{label}: no real kernel needed a correction")
        info = log_info(assay, submission)
        per_step = info["log_bytes"] / info["steps"]
        ratios.append((label, round(per_step), round(info["dense_bytes_per_step"]),
                       round(info["dense_bytes_per_step"] / per_step)))
    table(rows)
    print()
    table(ratios)
    return failures


if __name__ == "__main__":
    main(run)
