"""HiRace's contest: 590 graph kernels, named after the fault they have, through make program CHECK=1.

    python3 tests/engine/contest.py SUITE [--jobs N] [--only TEXT]

SUITE is the folder `indigo` of a checkout of github.com/JohnJacobsonIII/HiRace-Artifact-SC24 (SC24), which
holds indigo_sources, indigo_include and input. Nothing of it is kept here. Exit status 1: a race was
missed that HiRace's names have, or one was reported where there is none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from alone import Alone, engine_in

THREADS, BLOCKS = "256", "1024"  # the contest's own
GRAPH = "input/DAG_100n_200e.egr"
BY_NAME = ("atomicBug", "syncBug", "guardBug", "raceBug")


@dataclass
class Result:
    program: str
    kinds: list[str]
    failure: str = ""

    @property
    def racy(self) -> bool:
        return any(fault in self.program for fault in BY_NAME)

    @property
    def raced(self) -> bool:
        return bool({"shared-race", "global-race"} & {*self.kinds})

    @property
    def accused(self) -> bool:
        """Without a fault by its name."""
        return bool(self.kinds) and not self.racy and "boundsBug" not in self.program


def run(engine: Alone, suite: Path, program: Path) -> Result:
    made = engine.make("build/check/program", "CHECK=1", f"KERNEL={program}", f"INCLUDE={suite / 'indigo_include'}")
    if made.returncode:
        return Result(program.stem, [], made.stderr)
    try:
        done = engine.run(str(suite / GRAPH), THREADS, BLOCKS, ENGINE_JSON="1")
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return Result(program.stem, [], str(error)[:200])
    failure = report["message"] or ("" if report["program"]["signal"] is None else "was stopped")
    return Result(program.stem, [one["kind"] for one in report["findings"]], failure)


def contest(suite: Path, programs: list[Path], jobs: int) -> Iterator[Result]:
    """In copies of the engine, each of which builds one program at a time."""
    free: Queue[Alone] = Queue()

    def one(program: Path) -> Result:
        engine = free.get()
        try:
            return run(engine, suite, program)
        finally:
            free.put(engine)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            free.put(engine_in(Path(folder, str(number))))
        yield from pool.map(one, programs)


def judge(results: list[Result]) -> bool:
    """Prints the figures. False: they are not as they should be."""
    wrong = {"missed": [r for r in results if r.racy and not r.raced],
             "no race there": [r for r in results if r.raced and not r.racy],
             "accused": [r for r in results if r.accused],
             "failed": [r for r in results if r.failure]}
    print(f"{len(results)} programs; {sum(r.racy and r.raced for r in results)} of {sum(r.racy for r in results)} "
          "races found;", *(f"{len(those)} {what};" for what, those in wrong.items()))
    for what, those in wrong.items():
        for r in those:
            print(f"    {what}: {r.program} {r.kinds} {r.failure[:100]}")
    return not any(wrong.values())


def main() -> int:
    parser = argparse.ArgumentParser(description="HiRace's contest through make program CHECK=1")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="programs with this in their names")
    given = parser.parse_args()
    suite = given.suite.resolve()
    programs = sorted(p for p in suite.glob("indigo_sources/*/*.cu") if given.only in p.stem)
    if not programs or not (suite / GRAPH).is_file():
        parser.error(f"{suite}: no such programs, or no {GRAPH}")
    return 0 if judge([*contest(suite, programs, given.jobs)]) else 1


if __name__ == "__main__":
    sys.exit(main())
