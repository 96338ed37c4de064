"""`make bench-grader`: how long a TA waits for a grade, and for what.

    grader.py [--rounds N] [--jobs N] [--suite SUITE]

Each round grades every submission below on all suites, in turn, from nothing built (a fresh
GRADER_CACHE; the virtual environment is there) to the printed table, and then once more with the
grader's own parts built, as for the next submission of a class. The table shows medians in seconds
of wall time, and what they are made of (GRADER_STAGES, see grader/__main__.py). The targets are for
2 cores without a GPU; nothing is asserted: machines differ, and many are shared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parent.parent.parent
INSTRUCTOR = REPOSITORY / "instructor"
STAGES = {"start": "start", "trusted parts": "parts", "compile": "build", "cases": "cases",
          "repair": "repairs", "causes": "causes", "report": "print"}
LONGEST_SECONDS = 600


@dataclass
class Subject:
    what: str
    kernel: Path
    target: float  # seconds
    fresh: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    stages: list[dict[str, float]] = field(default_factory=list)
    score: str = ""

    def stage(self, name: str) -> float:
        return statistics.median(each.get(name, 0.0) for each in self.stages)


def subjects() -> list[Subject]:
    faulty = INSTRUCTOR / "faulty"
    return [
        Subject("right", INSTRUCTOR / "solutions" / "2_tiled.cu", 12),
        # Right, with a grid of 80 x 80 blocks whatever C needs: beside the line above, what they cost.
        Subject("right, 6400 blocks",
                REPOSITORY / "tests" / "kernels" / "right" / "surplus_blocks_load.cu", 20),
        # Right on whole tiles, so that no case is skipped; elsewhere C has to be explained.
        Subject("faulty", faulty / "07_stale_behind_k.cu", 20),
        # On whole tiles it ends, so that all others are run up to their time limits.
        Subject("hangs at edges", faulty / "15_phase_not_counted.cu", 40),
        Subject("hangs always", faulty / "15_step_of_zero.cu", 40),
    ]


def grade(subject: Subject, cache: Path, asked: argparse.Namespace) -> tuple[float, dict]:
    """One grading: seconds, and its stages."""
    with tempfile.TemporaryDirectory(prefix="bench-grader-") as folder:
        stages, results = Path(folder) / "stages.json", Path(folder) / "results"
        command = [sys.executable, "-m", "grader", "--submission", str(subject.kernel), "--suite",
                   asked.suite, "--results", str(results), "--seed", "1", "--jobs", str(asked.jobs)]
        environment = os.environ | {"GRADER_CACHE": str(cache), "GRADER_STAGES": str(stages)}
        start = time.monotonic()
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True,
                              text=True, errors="replace", timeout=LONGEST_SECONDS, check=False)
        seconds = time.monotonic() - start
        if done.returncode not in (0, 1):
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            print(f"bench-grader: {said[-1]}", file=sys.stderr)
            sys.exit(done.returncode)
        record = json.loads(next(results.rglob("result.json")).read_text(encoding="utf-8"))
        subject.score = f"{record['score']:g}/{record['max_score']:g}"
        known = json.loads(stages.read_text())
        return seconds, known | {"start": seconds - sum(known.values())}


def measure(todo: list[Subject], asked: argparse.Namespace) -> None:
    console = Console(stderr=True)
    for number in range(asked.rounds):
        for subject in todo:
            if console.is_terminal:
                console.print(f"round {number + 1} of {asked.rounds}: {subject.what}", style="dim")
            with tempfile.TemporaryDirectory(prefix="bench-grader-cache-") as cache:
                seconds, stages = grade(subject, Path(cache), asked)
                subject.fresh.append(seconds)
                subject.stages.append(stages)
                subject.again.append(grade(subject, Path(cache), asked)[0])


def show(measured: list[Subject], asked: argparse.Namespace) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("submission", no_wrap=True)
    for head in ("points", "total", "target", *STAGES.values(), "next"):
        table.add_column(head, justify="right", no_wrap=True)
    for each in measured:
        table.add_row(
            each.what, each.score, f"{statistics.median(each.fresh):.1f}", f"{each.target:g}",
            *(f"{each.stage(name):.1f}" for name in STAGES), f"{statistics.median(each.again):.1f}")
    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False)
    console.print(f"From nothing built to the printed grade, {asked.suite} suites, {asked.jobs} "
                  f"cases at a time,\nmedian of {asked.rounds}, seconds; next: with the grader's "
                  "parts built")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-grader", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--suite", default="all")
    asked = parser.parse_args()
    measured = subjects()
    measure(measured, asked)
    show(measured, asked)


if __name__ == "__main__":
    main()
