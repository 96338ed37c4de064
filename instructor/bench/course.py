"""`make bench-class`: what grading many submissions costs beside grading each.

    course.py [--submissions N] [--rounds N]

Figures from runs that take turns. Workers: how long the same submissions take one at a time and two
at a time; linear would be half. A run in which nothing is left to grade says what is the same for any
number of workers (start, a look at the machine, tables and pages); it is taken off, and has a row of
its own, and so has what remains of linear in a class of 60 with it. Where others use the processors,
time says little, and the processor time that two workers take beside one says whether they are in
each other's way. Scheduling: what beside the graders' own processes a chunk of
30 takes, with a grader that only puts a result in its place, compared with a loop that starts the
same processes and does nothing else. Nothing is asserted: machines differ, and many are shared.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from grader.course import results, worker  # noqa: E402
from grader.interrupt import Stop  # noqa: E402
from grader.store import read_record  # noqa: E402

CHUNK, A_CLASS = 30, 60
TARGET_OF_LINEAR, TARGET_SECONDS = 0.9, 0.05
PLACES_A_RESULT = """
import os, pathlib, sys
words = dict(word.split("=", 1) for word in sys.argv[1:])
place = pathlib.Path(words["--results"]) / words["--name"]
os.rename(place / "prepared.json", place / "result.json")
"""


class Took(NamedTuple):
    seconds: float
    processor: float


def grade_class(folder: Path, jobs: int) -> Took:
    command = [sys.executable, "-B", "-m", "grader.course", "grade", "--class", str(folder),
               "--suite", "public", "--seed", "1", f"--jobs={jobs}"]
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(time.monotonic() - began,
                after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def make_class(folder: Path, submissions: int) -> None:
    text = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
    (folder / "submissions").mkdir(parents=True)
    for number in range(submissions):
        (folder / "submissions" / f"s{number}.cu").write_text(f"{text}// {number}\n")


class Round(NamedTuple):
    one: Took
    two: Took
    nothing: Took
    submissions: int

    def of_linear(self, submissions: int | None = None) -> float:
        """The time with one worker over twice that with two, without what neither changes; or with
        it, in a class of so many."""
        one, two = (took.seconds - self.nothing.seconds for took in (self.one, self.two))
        fixed = self.nothing.seconds * self.submissions / submissions if submissions else 0.0
        return (one + fixed) / (2 * (two + fixed))


def with_workers(submissions: int, rounds: int) -> list[Round]:
    found = []
    with tempfile.TemporaryDirectory(prefix="bench-class-") as temporary:
        folder = Path(temporary) / "class"
        make_class(folder, submissions)
        for _ in range(rounds):
            took = []
            for jobs in (1, 2):
                shutil.rmtree(folder / "results", ignore_errors=True)
                took.append(grade_class(folder, jobs))
            found.append(Round(*took, grade_class(folder, 2), submissions))
        [record] = (folder / "results/records/s0").glob("*/result.json")
        shutil.copy(record, Path(tempfile.gettempdir()) / f"bench-class-{os.getpid()}.json")
    return found


def scheduling(record: Path, rounds: int) -> list[float]:
    """Seconds a submission that a chunk takes beside its processes."""
    found = []
    with tempfile.TemporaryDirectory(prefix="bench-class-") as temporary:
        project = Path(temporary) / "project"
        (project / "grader").mkdir(parents=True)
        (project / "grader/__main__.py").write_text(PLACES_A_RESULT)
        worker.PROJECT = project
        for number in range(rounds):
            chunk = prepared(Path(temporary) / f"{number}", record)
            bare = prepared(Path(temporary) / f"{number} bare", record)
            found.append((run_chunk(chunk, record) - run_bare(bare, project)) / CHUNK)
    return found


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
    with Stop() as stop:
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-class", description=__doc__.split("\n")[0])
    parser.add_argument("--submissions", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rounds = with_workers(asked.submissions, asked.rounds)
    record = Path(tempfile.gettempdir()) / f"bench-class-{os.getpid()}.json"
    try:
        cost = scheduling(record, 2 * asked.rounds)
    finally:
        record.unlink()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("what", "median", "least", "most", "target"):
        table.add_column(head, justify="left" if head == "what" else "right", no_wrap=True)
    table.add_row("two workers, of linear", *spread([each.of_linear() for each in rounds], "{:.2f}"),
                  f"{TARGET_OF_LINEAR:g}")
    table.add_row(f"... in a class of {A_CLASS}, with what is fixed",
                  *spread([each.of_linear(A_CLASS) for each in rounds], "{:.2f}"), "")
    table.add_row("fixed: start, probe, tables, pages, s",
                  *spread([each.nothing.seconds for each in rounds], "{:.2f}"), "")
    table.add_row("processor time of two workers, of one's",
                  *spread([each.two.processor / each.one.processor for each in rounds], "{:.2f}"), "")
    table.add_row(f"scheduling, s a submission (chunk of {CHUNK})", *spread(cost, "{:.4f}"),
                  f"{TARGET_SECONDS:g}")
    Console(width=None if sys.stdout.isatty() else 80, highlight=False).print(table)


def spread(values: Sequence[float], form: str) -> list[str]:
    return [form.format(value)
            for value in (statistics.median(values), min(values), max(values))]


if __name__ == "__main__":
    main()
