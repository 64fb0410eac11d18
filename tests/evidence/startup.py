# SPDX-License-Identifier: Apache-2.0
"""Start times as a person feels them (median of several starts), and opening a submission of 10,000 steps."""
import json
import statistics
import subprocess
import time
import pathlib

from runs import main


def median_start(assay, program, *arguments, runs=9):
    times = []
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run([program, *arguments], capture_output=True, env=assay.env)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def run(assay, options):
    for arguments in (("version",), ("--help",)):
        print(f"assay {arguments[0]}: {1000 * median_start(assay, assay.program, *arguments):.0f} ms")
    steps = 10000 if options.full else 200
    order = assay.order("long", "--program", "mlp", "--steps", steps, "--batch", 1, "--width", 4, "--layers", 1,
                        "--checkpoint-every", steps)
    submission, seconds = assay.train(order, "long-sub", "default,threads=1")
    print(f"{steps} steps trained in {seconds:.0f} s")
    times = []
    for _ in range(5):
        start = time.monotonic()
        out, _ = assay.must("inspect", submission, "--json")
        times.append(time.monotonic() - start)
    print(f"opening a submission of {steps} steps: {statistics.median(times):.3f} s")
    json.loads(out)
    return []


if __name__ == "__main__":
    main(run)
