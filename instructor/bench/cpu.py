"""`make bench-cpu`: how fast this project is on a CPU, beside a plain loop and beside itself.

    OF="kernel check grade class" SHAPES="m k n ..." ROUNDS=n cpu.py

All of them come from the environment, as make has them. What is measured are programs, which take
turns, so that a machine that is busy now and then is unfair to none:

    kernel    ./sgemm on one core, two and so on, its verification, and a plain loop (plain.c)
    check     ./sgemm-check beside ./sgemm, from start to end
    grade     a submission from nothing built to the printed grade, and the next one with the
              grader's own parts built; below a row what a first grade is made of
    class     so many workers on so many cores grade CLASS submissions; a run with nothing left

A table has the median and the least of ROUNDS, in seconds, and the median of each round's ratio to
the first row. Nothing is asserted: machines differ, and many are shared. Exit status: 0; 1 a program
failed; 2 bad input.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import shapes

ROOT = Path(__file__).resolve().parent.parent.parent
INSTRUCTOR = ROOT / "instructor"
CORES = sorted(os.sched_getaffinity(0))
CLASS = 8
GRADED = {
    "correct": INSTRUCTOR / "solutions/2_tiled.cu",
    # With a grid of 80 x 80 blocks whatever C needs.
    "correct, 6400 blocks": ROOT / "tests/kernels/right/surplus_blocks_load.cu",
    # Right on whole tiles; elsewhere C has to be explained.
    "faulty": INSTRUCTOR / "faulty/07_stale_behind_k.cu",
    # On whole tiles it ends, so that all other cases run up to their time limits.
    "hangs at edges": INSTRUCTOR / "faulty/15_phase_not_counted.cu",
    "hangs always": INSTRUCTOR / "faulty/15_step_of_zero.cu",
}


@dataclass
class Contender:
    name: str
    command: Sequence[str | Path]
    cores: int = len(CORES)
    seconds_in: Callable[[str], float] | None = None
    """Of what it prints; None: what passes from its start to its end."""
    before: Callable[[], object] = lambda: None
    """Not timed."""
    fine: Sequence[int] = (0,)
    """Exit statuses."""
    environment: dict[str, str] = field(default_factory=dict)
    note: Callable[[], str] = lambda: ""
    """A line below its row."""
    seconds: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Raises RuntimeError."""
        self.before()
        began = time.monotonic()
        ran = subprocess.run(list(map(str, self.command)), cwd=ROOT, text=True, errors="replace", check=False,
                             capture_output=True, env=os.environ | self.environment,
                             preexec_fn=lambda: os.sched_setaffinity(0, CORES[:self.cores]))
        took = time.monotonic() - began
        if ran.returncode not in self.fine:
            said = (ran.stderr or ran.stdout).strip().splitlines() or [f"status {ran.returncode}"]
            raise RuntimeError(f"{self.name}: {said[-1]}")
        self.seconds.append(self.seconds_in(ran.stdout) if self.seconds_in else took)


Group = tuple[str, int, list[Contender]]
"""Its heading, rounds, and who takes turns."""


def core_counts() -> list[int]:
    """1, 2, 3, 4, then doubled, and all."""
    return sorted({*(count for count in (1, 2, 3, 4, 8, 16, 32, 64, 128) if count <= len(CORES)), len(CORES)})


def on(count: int) -> str:
    return f"{count} core{'s' * (count > 1)}"


# ---- what is measured ----------------------------------------------------------------------------


def kernels(asked: Sequence[shapes.Shape], folder: Path) -> Iterator[Group]:
    def median(text: str) -> float:
        return float(json.loads(text)["median"])

    for shape in asked or [(1000, 500, 700)]:
        sizes = list(map(str, shape))
        sgemm = ["./sgemm", "--json", "--repeat", "3", *sizes]
        plain = ["build/bench/plain", *sizes]
        yield shapes.words_of(shape), 7, [
            *(Contender(f"CPU backend, {on(count)}", [*sgemm, "--verify", "none"], count, median)
              for count in core_counts()),
            *(Contender(f"plain loop, {on(count)}", plain, count, float)
              for count in sorted({1, len(CORES)})),
            Contender("verification", sgemm, seconds_in=lambda text: float(json.loads(text)["times"]["verify"]))]


def checks(asked: Sequence[shapes.Shape], folder: Path) -> Iterator[Group]:
    for shape in asked or [(34, 34, 34), (1000, 500, 700)]:
        yield f"{shapes.words_of(shape)}, whole programs", 7, [
            Contender(program, [program, *map(str, shape)]) for program in ("./sgemm", "./sgemm-check")]


def grades(asked: Sequence[shapes.Shape], folder: Path) -> Iterator[Group]:
    def stages(file: Path) -> str:
        return ", ".join(f"{name} {seconds:.1f}" for name, seconds in json.loads(file.read_text()).items())

    contenders = []
    for number, (name, kernel) in enumerate(GRADED.items()):
        place, first = folder / f"g{number}", folder / f"stages{number}.json"
        command = [sys.executable, "-m", "grader", "--submission", kernel, "--suite", "all", "--results",
                   place / "results", "--seed", "1"]
        cache = {"GRADER_CACHE": str(place / "cache")}
        contenders += [
            Contender(name, command, fine=(0, 1), environment=cache | {"GRADER_STAGES": str(first)},
                      before=lambda place=place: shutil.rmtree(place, ignore_errors=True),
                      note=lambda first=first: stages(first)),
            Contender("  the next one", command, fine=(0, 1), environment=cache)]
    yield "from nothing built to the printed grade", 3, contenders


def classes(asked: Sequence[shapes.Shape], folder: Path) -> Iterator[Group]:
    text = (INSTRUCTOR / "solutions/2_tiled.cu").read_text()
    (folder / "submissions").mkdir(parents=True)
    for number in range(CLASS):
        (folder / "submissions" / f"s{number}.cu").write_text(f"{text}// {number}\n")

    def graded(name: str, workers: int, cores: int, anew: bool = True) -> Contender:
        return Contender(name, [sys.executable, "-m", "course", "grade", "--class", folder, "--suite", "public",
                                "--seed", "1", "--jobs", str(workers)], cores,
                         before=lambda: anew and shutil.rmtree(folder / "results", ignore_errors=True))

    graded("", 1, len(CORES)).run()  # builds the grader's own parts
    two = min(2, len(CORES))
    yield f"a class of {CLASS}", 2, [
        graded("1 worker on 1 core", 1, 1), graded(f"1 worker on {on(two)}", 1, two),
        graded(f"2 workers on {on(two)}", 2, two), graded("nothing left to grade", 2, two, anew=False)]


GROUPS: dict[str, Callable[[Sequence[shapes.Shape], Path], Iterator[Group]]] = {
    "kernel": kernels, "check": checks, "grade": grades, "class": classes}


# ---- turns and tables ----------------------------------------------------------------------------


def take_turns(contenders: Sequence[Contender], rounds: int) -> None:
    for number in range(rounds):
        for each in contenders:
            if sys.stderr.isatty():
                print(f"\r{each.name:40} round {number + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
            each.run()
    if sys.stderr.isatty():
        print(f"\r{'':60}\r", end="", file=sys.stderr, flush=True)


def show(title: str, contenders: Sequence[Contender]) -> None:
    print(f"{title:46}{'median':>11}{'least':>11}{'ratio':>11}")
    for each in contenders:
        ratios = [own / first for own, first in zip(each.seconds, contenders[0].seconds, strict=True)]
        print(f"  {each.name:44}{statistics.median(each.seconds):11.4f}{min(each.seconds):11.4f}"
              f"{statistics.median(ratios):11.2f}")
        if note := each.note():
            print(f"      {note}")
    print(flush=True)


def rounds_of(text: str) -> int:
    """0: as usual. Raises ValueError."""
    if not re.fullmatch("[0-9]{0,4}", text):
        raise ValueError(f"ROUNDS={text}: it takes a number")
    return int(text or 0)


def main() -> int:
    try:
        asked = shapes.parse(os.environ.get("SHAPES", ""))
        rounds = rounds_of(os.environ.get("ROUNDS", ""))
        chosen = os.environ.get("OF", "").split() or list(GROUPS)
        if unknown := set(chosen) - set(GROUPS):
            raise ValueError(f"OF={unknown.pop()}: it takes {', '.join(GROUPS)}")
    except ValueError as error:
        print(f"bench-cpu: {error}", file=sys.stderr)
        return 2
    try:
        for name in chosen:
            with tempfile.TemporaryDirectory(prefix="bench-cpu-") as folder:
                for title, usual, contenders in GROUPS[name](asked, Path(folder)):
                    take_turns(contenders, rounds or usual)
                    show(title, contenders)
    except (OSError, RuntimeError) as error:
        print(f"bench-cpu: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
