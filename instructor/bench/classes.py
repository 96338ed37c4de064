"""`make bench-class`: what grading many submissions costs beside grading each.

    classes.py [--submissions N] [--rounds N]

The same class is graded by one worker on one core, by one on two cores and by two on two cores, in
turn. getrusage() does not see what runs below the sandbox; /proc/stat does, and whatever else runs
on those cores. Scheduling is measured with a grader that only puts a result in its place: what a chunk
takes, less what a loop takes that starts the same processes and does nothing else. Nothing is
asserted: machines differ, and many are shared.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from course import results, worker  # noqa: E402
from course.slurm import CHUNK  # noqa: E402
from grader.build.parts import trusted_parts  # noqa: E402
from grader.interrupt import asked_to_stop  # noqa: E402
from grader.record.store import read_record  # noqa: E402
from grader.text import counted  # noqa: E402

TARGET_OF_LINEAR, TARGET_SECONDS = 0.9, 0.05
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
subtracted from the other times.
Scheduling: what a chunk takes beside its graders' processes."""
PLACES_A_RESULT = """
import os, pathlib, sys
words = dict(word.split("=", 1) for word in sys.argv[1:])
place = pathlib.Path(words["--results"]) / words["--name"]
os.rename(place / "prepared.json", place / "result.json")
"""


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


# ---- scheduling ----------------------------------------------------------------------------------


def scheduling(record: Path, rounds: int) -> Iterator[float]:
    """Seconds a submission that a chunk takes beside its processes."""
    with tempfile.TemporaryDirectory(prefix="bench-class-") as temporary:
        project = Path(temporary) / "project"
        (project / "grader").mkdir(parents=True)
        (project / "grader/__main__.py").write_text(PLACES_A_RESULT)
        worker.PROJECT = project
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}, scheduling")
            chunk = prepared(Path(temporary) / f"{number}", record)
            bare = prepared(Path(temporary) / f"{number} bare", record)
            yield (run_chunk(chunk, record) - run_bare(bare, project)) / CHUNK


def prepared(folder: Path, record: Path) -> list[results.Job]:
    sha256 = read_record(record).submission.sha256
    jobs = [results.Job(folder / f"s{number}" / "hash", sha256) for number in range(CHUNK)]
    for job in jobs:
        job.directory.mkdir(parents=True)
        shutil.copy(record, job.directory / "prepared.json")
    return jobs


def run_chunk(jobs: Sequence[results.Job], record: Path) -> float:
    known = read_record(record)
    key = results.Key(tuple(known.suites), known.cases or "", known.grader or "", known.seed,
                      known.backend, known.compiler, known.architecture)
    began = time.monotonic()
    with asked_to_stop() as stop:
        worker.run(jobs, 1, worker.Grade(key, "bench", ()), stop, lambda running, ended: None)
    seconds = time.monotonic() - began
    assert all(results.done(job, key) for job in jobs)
    return seconds


def run_bare(jobs: Sequence[results.Job], project: Path) -> float:
    began = time.monotonic()
    for job in jobs:
        subprocess.run([sys.executable, "-B", "-m", "grader", f"--name={job.directory.name}",
                        f"--results={job.directory.parent}"], cwd=project, check=True)
    return time.monotonic() - began


# ---- the table -----------------------------------------------------------------------------------


def say(what: str) -> None:
    console = Console(stderr=True)
    if console.is_terminal:
        console.print(what, style="dim", highlight=False)


def show(runs: Sequence[Run], nothing: Run, cost: Sequence[float], submissions: int) -> None:
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

    def row(what: str, values: Sequence[float], places: int = 2, target: object = "") -> None:
        table.add_row(what, *(f"{value:.{places}f}" for value in (
            statistics.median(values), min(values), max(values))), str(target))

    for run in runs:
        row(str(run), each(run, "seconds"))
        row("    processor time", each(run, "processor"))
    alone, both_cores, together = runs
    row(f"scheduling, in a chunk of {CHUNK}", cost, 4, TARGET_SECONDS)
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
        [record] = (folder / "results/records/s0").glob("*/result.json")
        cost = list(scheduling(record, asked.rounds))
    show(runs, nothing, cost, asked.submissions)


if __name__ == "__main__":
    main()
