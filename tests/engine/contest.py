"""HiRace's contest: 590 graph kernels, named after the fault they have, through make program CHECK=1.

    python3 tests/engine/contest.py SUITE [--graph NAME]... [--jobs N] [--only TEXT]

SUITE is the folder `indigo` of a checkout of github.com/JohnJacobsonIII/HiRace-Artifact-SC24 (SC24), which
holds indigo_sources, indigo_include and input. Nothing of it is kept here. Exit status 1: a race was
missed that HiRace's names and graph have, or one was reported where there is none.

On a graph without an edge from a lower to a higher node (DAG_5n_5e) not each race can happen: the racy access
is made by no second thread. What is wanted there, `RACY`, was counted by running all threads' accesses
against each other, apart from this engine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ENGINE = Path(__file__).resolve().parent.parent.parent / "engine"
THREADS, BLOCKS = "256", "1024"  # the contest's own
RACES = {"shared-race", "global-race"}
BY_NAME = ("atomicBug", "syncBug", "guardBug", "raceBug")
RACY = {"DAG_5n_5e": 186, "counterDAG_5n_5e": 300}  # else as many as by name
SECONDS = 120


@dataclass
class Result:
    program: Path
    graph: str
    kinds: list[str]
    failure: str = ""

    @property
    def racy(self) -> bool:
        return any(fault in self.program.stem for fault in BY_NAME)

    @property
    def faulty(self) -> bool:
        return self.racy or "boundsBug" in self.program.stem

    @property
    def raced(self) -> bool:
        return bool(RACES & {*self.kinds})


def engines(count: int, folder: Path) -> Queue[Path]:
    """Copies of the engine, which build one program at a time."""
    free: Queue[Path] = Queue()
    for number in range(count):
        copy = folder / str(number)
        shutil.copytree(ENGINE, copy / "engine")
        free.put(copy)
    return free


def build(engine: Path, program: Path, include: Path) -> str:
    made = subprocess.run(
        ["make", "-s", "-f", "engine/Makefile", "build/check/program", "CHECK=1", f"KERNEL={program}",
         f"INCLUDE={include}"], cwd=engine, capture_output=True, text=True, check=False)
    return made.stderr if made.returncode else ""


def run(engine: Path, program: Path, graph: Path) -> Result:
    try:
        done = subprocess.run(["build/check/program", graph, THREADS, BLOCKS], cwd=engine,
                              env={"PATH": os.environ["PATH"], "ENGINE_JSON": "1"}, check=False,
                              timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return Result(program, graph.stem, [], str(error)[:200])
    failure = report["message"] or ("" if report["program"]["signal"] is None else "was stopped")
    return Result(program, graph.stem, [one["kind"] for one in report["findings"]], failure)


def contest(suite: Path, programs: list[Path], graphs: list[Path], jobs: int) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        free = engines(jobs, Path(folder))

        def one(program: Path) -> list[Result]:
            engine = free.get()
            try:
                failure = build(engine, program, suite / "indigo_include")
                return [Result(program, graph.stem, [], failure) if failure
                        else run(engine, program, graph) for graph in graphs]
            finally:
                free.put(engine)

        for results in pool.map(one, programs):
            yield from results


def judge(results: list[Result], graph: str, whole: bool) -> bool:
    """Prints one graph's figures. False: they are not as they should be."""
    racy = [r for r in results if r.racy]
    found = [r for r in racy if r.raced]
    wrong = [r for r in results if r.raced and not r.racy]
    clean = [r for r in results if not r.faulty]
    accused = [r for r in clean if r.kinds]
    outside = [r for r in results if "out-of-bounds" in r.kinds]
    failed = [r for r in results if r.failure]
    wanted = RACY.get(graph, len(racy)) if whole else len(racy)
    print(f"{graph}: {len(found)} of {wanted} races found; "
          f"{len(wrong)} reported in the {len(results) - len(racy)} others; "
          f"{len(accused)} of the {len(clean)} without a fault accused; "
          f"{len(outside)} leave an array; {len(failed)} failed")
    for what, list_of in (("missed", [r for r in racy if not r.raced] if wanted == len(racy) else []),
                          ("no race there", wrong), ("accused", accused), ("failed", failed)):
        for result in list_of:
            print(f"    {what}: {result.program.stem} {Counter(result.kinds)} {result.failure[:100]}")
    return len(found) == wanted and not wrong and not accused and not failed


def main() -> int:
    parser = argparse.ArgumentParser(description="HiRace's contest through make program CHECK=1")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--graph", action="append", help="default: DAG_100n_200e")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="programs with this in their names")
    given = parser.parse_args()
    suite = given.suite.resolve()
    programs = sorted(p for p in suite.glob("indigo_sources/*/*.cu") if given.only in p.stem)
    graphs = [suite / "input" / f"{name}.egr" for name in given.graph or ["DAG_100n_200e"]]
    if not programs or not all(graph.is_file() for graph in graphs):
        parser.error(f"{suite}: no such programs or graphs")
    began = time.monotonic()
    results = [*contest(suite, programs, graphs, given.jobs)]
    good = [judge([r for r in results if r.graph == graph.stem], graph.stem, not given.only)
            for graph in graphs]
    used = os.times()
    print(f"{time.monotonic() - began:.0f} s, {used.children_user + used.children_system:.0f} s "
          "of processor time")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
