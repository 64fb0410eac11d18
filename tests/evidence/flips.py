# SPDX-License-Identifier: Apache-2.0
"""One byte changed at random positions over all files of a submission: never accepted as unchanged, never a crash."""
import collections
import random
import shutil

from runs import main


def run(assay, options):
    failures = []
    order = assay.order("order", "--program", "mlp", "--steps", 4, "--batch", 4, "--width", 16, "--layers", 1,
                        "--checkpoint-every", 2)
    submission, _ = assay.train(order, "sub", "default")
    honest = assay.verify(submission, order, "default")
    if honest["verdict"] != "accepted":
        return [f"the unchanged submission: {honest['verdict']}: {honest.get('reason')}"]
    files = sorted(path for path in submission.rglob("*") if path.is_file() and path.stat().st_size)
    counts = collections.Counter()
    trials = 1000 if options.full else 40
    for trial in range(trials):
        # Every file gets its share: large checkpoints would otherwise take nearly all positions.
        original = files[trial % len(files)]
        data = bytearray(original.read_bytes())
        at = random.randrange(len(data))
        data[at] ^= 1 << random.randrange(8)
        copy = assay.scratch / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(submission, copy)
        (copy / original.relative_to(submission)).write_bytes(data)
        report = assay.verify(copy, order, "default", "--store", assay.scratch / "flips.sqlite")
        counts[(report["exit"], report["verdict"])] += 1
        if report["exit"] not in (1, 3):
            failures.append(f"{original.name}, byte {at}: exit {report['exit']}, {report['verdict']}: {report.get('reason')}")
    for (code, verdict), count in sorted(counts.items(), key=str):
        print(f"exit {code}, verdict {verdict}: {count}")
    return failures


if __name__ == "__main__":
    main(run)
