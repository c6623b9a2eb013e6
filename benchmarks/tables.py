"""Reading a large table of comments, and counting by sixteen overlapping groups."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from benchmarks.timing import Line, interleaved
from rmix.datasets.civilcomments import FILE, GROUP_NAMES, IDENTITIES
from rmix.metrics import GroupTable

ROWS = 448_000  # of CivilComments
DISTINCT = 4_000  # rows that are made; the file repeats them under other numbers
OTHERS = ("identity_any", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit")
# in a process of its own, so that its memory can be measured
LOAD = """
import json, resource, sys, time
from rmix.datasets import CivilComments
start = time.process_time()
bundle = CivilComments(root=sys.argv[1]).load()
seconds = time.process_time() - start
kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, kilobytes, sum(map(len, bundle.splits.values())), bundle.n_groups]))
"""


def write_comments(path: Path) -> None:
    """A file of the layout, the number of rows and about the size of the published one."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i:x}" * (1 + i % 3) for i in range(2000)])
    shape = (DISTINCT, 1 + len(IDENTITIES) + len(OTHERS))
    shares = np.where(rng.random(shape) < 0.6, 0, rng.integers(0, 61, shape) / 61)  # of sixty annotators
    split = rng.choice(["train", "val", "test"], DISTINCT, p=[0.6, 0.1, 0.3])
    with tempfile.TemporaryFile("w+", newline="") as file:
        writer = csv.writer(file)
        for row in range(DISTINCT):
            text = " ".join(rng.choice(words, rng.integers(5, 90)))
            text = f'He said, "{text}"\nand left.' if row % 7 == 0 else text
            writer.writerow(["@", text, split[row], *shares[row]])
        file.seek(0)
        rows = file.read().split("@,")[1:]
    with path.open("w", newline="") as file:
        file.write(",".join(["", "comment_text", "split", "toxicity", *IDENTITIES, *OTHERS]) + "\r\n")
        file.writelines(f"{i},{rows[i % DISTINCT]}" for i in range(ROWS))


def reading() -> list[Line]:
    """Processor time and memory of a process that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        write_comments(path)
        size = path.stat().st_size / 2**20
        command = [sys.executable, "-c", LOAD, folder]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(3)]
    assert all(run[2:] == [ROWS, len(GROUP_NAMES)] for run in runs), runs
    seconds, gib = median(run[0] for run in runs), max(run[1] for run in runs) / 2**20
    what = f"CivilComments: {ROWS:,} rows ({size:.0f} MiB) to groups and splits"
    return [
        Line(f"{what}, processor time", f"{seconds:.2f} s", "<= 3 s", seconds <= 3),
        Line(f"{what}, memory of the process", f"{gib:.2f} GiB", "<= 1 GiB", gib <= 1),
    ]


def counting() -> list[Line]:
    """A group table of all rows, and fairlearn's on as many disjoint groups."""
    rng = np.random.default_rng(0)
    y, said = rng.integers(0, 2, ROWS), rng.integers(0, 2, ROWS)
    member, group = rng.random((ROWS, 16)) < 0.1, rng.integers(0, 16, ROWS)
    things: dict[str, Callable[[], object]] = {"rmix": lambda: GroupTable.of(y == said, member)}
    if find_spec("fairlearn"):
        from fairlearn.metrics import MetricFrame
        from sklearn.metrics import accuracy_score

        things["fairlearn"] = lambda: (
            MetricFrame(metrics=accuracy_score, y_true=y, y_pred=said, sensitive_features=group).by_group
        )
    seconds = {name: median(times) for name, times in interleaved(things, 5, process_time).items()}
    ours = 1000 * seconds["rmix"]
    lines = [Line(f"group table, {ROWS:,} rows x 16 overlapping groups", f"{ours:.1f} ms", "<= 20 ms", ours <= 20)]
    if "fairlearn" in seconds:
        theirs = f"{1000 * seconds['fairlearn']:.0f} ms"
        lines.append(Line("fairlearn's MetricFrame, as many rows x 16 disjoint groups", theirs))
    return lines


def lines() -> list[Line]:
    """Both."""
    return [*reading(), *counting()]
