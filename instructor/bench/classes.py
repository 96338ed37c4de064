"""`make bench-class`: what grading many submissions costs beside grading each.

    classes.py [--submissions N] [--rounds N]

The same class is graded by one worker on one core, by one on two cores and by two on two cores, in
turn. getrusage() does not see what runs below the sandbox; /proc/stat does, and whatever else runs
on those cores. Nothing is asserted: machines differ, and many are shared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from grader.build.parts import trusted_parts  # noqa: E402
from grader.text import counted  # noqa: E402

TARGET_OF_LINEAR = 0.9
NOT_BUSY = (3, 4, 7)
"""Columns of /proc/stat: idle, waiting for a disk, and taken by the machine's other guests."""
MEANING = """\
Of linear: 1 is half the time of the one worker. From one core, each worker has
a core in both, and what is missing is the cost of grading two at a time. One
worker on two cores uses both while it compiles the two builds of a submission;
two workers have to share them.
Processor time: what these cores computed, by /proc/stat, which includes the
sandbox and other programs. Where it is far above the first row's, the machine
was busy, and the times mean little.
Nothing to grade: start, a look at the machine, tables and pages. It is
subtracted from the other times."""


@dataclass
class Run:
    """So many workers on so many cores: what each round took."""

    workers: int
    cores: int
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{counted(self.workers, 'worker')} on {counted(self.cores, 'core')}"

    def measure(self, folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))[:self.cores]
        command = [sys.executable, "-B", "-m", "course", "grade", "--class", str(folder),
                   "--suite", "public", "--seed", "1", f"--jobs={self.workers}"]
        began, before = time.monotonic(), busy(cores)
        status = subprocess.run(command, cwd=REPOSITORY, check=False, stdout=subprocess.DEVNULL,
                                preexec_fn=lambda: os.sched_setaffinity(0, cores)).returncode
        if status:
            sys.exit(status)  # it has said why
        self.seconds.append(time.monotonic() - began)
        self.processor.append(busy(cores) - before)


def busy(cores: Sequence[int]) -> float:
    """Seconds for which they have computed since the machine started."""
    ticks = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *columns = line.split()
        if name in {f"cpu{core}" for core in cores}:  # the last two columns are in the first two, too
            ticks += sum(int(ticks) for place, ticks in enumerate(columns[:8])
                         if place not in NOT_BUSY)
    return ticks / os.sysconf("SC_CLK_TCK")


# ---- workers -------------------------------------------------------------------------------------


def make_class(folder: Path, submissions: int) -> None:
    text = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
    (folder / "submissions").mkdir(parents=True)
    for number in range(submissions):
        (folder / "submissions" / f"s{number}.cu").write_text(f"{text}// {number}\n")


def measure_workers(folder: Path, runs: Sequence[Run], nothing: Run, rounds: int) -> None:
    for number in range(rounds):
        for run in (*runs, nothing):
            if run is not nothing:
                shutil.rmtree(folder / "results", ignore_errors=True)
            what = "nothing left to grade" if run is nothing else str(run)
            say(f"round {number + 1} of {rounds}, {what}")
            run.measure(folder)


# ---- the table -----------------------------------------------------------------------------------


def say(what: str) -> None:
    console = Console(stderr=True)
    if console.is_terminal:
        console.print(what, style="dim", highlight=False)


def show(runs: Sequence[Run], nothing: Run, submissions: int) -> None:
    def each(run: Run, of: str) -> list[float]:
        """Seconds a submission, for each round."""
        return [(took - fixed) / submissions
                for took, fixed in zip(getattr(run, of), getattr(nothing, of), strict=True)]

    def of_linear(one: Run, two: Run) -> list[float]:
        return [alone / (two.workers * together) for alone, together in zip(
            each(one, "seconds"), each(two, "seconds"), strict=True)]

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("seconds a submission", no_wrap=True)
    for head in ("median", "least", "most", "target"):
        table.add_column(head, justify="right", no_wrap=True)

    def row(what: str, values: Sequence[float], target: object = "") -> None:
        table.add_row(what, *(f"{value:.2f}" for value in (
            statistics.median(values), min(values), max(values))), str(target))

    for run in runs:
        row(str(run), each(run, "seconds"))
        row("    processor time", each(run, "processor"))
    alone, both_cores, together = runs
    table.add_section()
    row(f"of linear, from {alone}", of_linear(alone, together), target=TARGET_OF_LINEAR)
    row(f"of linear, from {both_cores}", of_linear(both_cores, together))
    row("a run with nothing to grade, seconds", nothing.seconds)
    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False)
    console.print(table)
    console.print(MEANING)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-class", description=__doc__.split("\n")[0])
    parser.add_argument("--submissions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("bench-class: needs two cores")
    runs, nothing = [Run(1, 1), Run(1, 2), Run(2, 2)], Run(2, 2)
    with tempfile.TemporaryDirectory(prefix="bench-class-") as temporary:
        folder = Path(temporary) / "class"
        make_class(folder, asked.submissions)
        say("building the grader's own parts")  # before anything is timed
        trusted_parts()
        measure_workers(folder, runs, nothing, asked.rounds)
    show(runs, nothing, asked.submissions)


if __name__ == "__main__":
    main()
