"""HiRace's contest: 590 graph kernels, named after the fault they have, through make program CHECK=1.

    python3 tests/engine/contest.py SUITE [--jobs N] [--only TEXT]

SUITE is the folder `indigo` of a checkout of github.com/JohnJacobsonIII/HiRace-Artifact-SC24 (SC24), which
holds indigo_sources, indigo_include and input. Nothing of it is kept here. Exit status 1: a race was
missed that HiRace's names have, or one was reported where there is none.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from alone import Alone, engine_in

THREADS, BLOCKS = "256", "1024"  # the contest's own
GRAPH = "input/DAG_100n_200e.egr"
BY_NAME = ("atomicBug", "syncBug", "guardBug", "raceBug")
FOUND, SILENT = "races found", "without a fault"


def outcome(engine: Alone, suite: Path, program: Path) -> str:
    """What came of it; anything but FOUND and SILENT is as it should not be."""
    made = engine.make("build/check/program", "CHECK=1", f"KERNEL={program}", f"INCLUDE={suite / 'indigo_include'}")
    if made.returncode:
        return f"failed: {made.stderr[:100]}"
    try:
        report = json.loads(engine.run(str(suite / GRAPH), THREADS, BLOCKS, ENGINE_JSON="1").stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return f"failed: {str(error)[:100]}"
    if report["message"] or report["program"]["signal"] is not None:
        return f"failed: {report['message'] or 'was stopped'}"
    kinds = {one["kind"] for one in report["findings"]}
    raced = not kinds.isdisjoint(("shared-race", "global-race"))
    if any(fault in program.stem for fault in BY_NAME):
        return FOUND if raced else "missed"
    if raced or kinds and "boundsBug" not in program.stem:
        return f"accused of {', '.join(sorted(kinds))}"
    return SILENT


def contest(suite: Path, programs: list[Path], jobs: int) -> list[str]:
    """In copies of the engine, each of which builds one program at a time."""
    free: Queue[Alone] = Queue()

    def one(program: Path) -> str:
        engine = free.get()
        try:
            return outcome(engine, suite, program)
        finally:
            free.put(engine)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            free.put(engine_in(Path(folder, str(number))))
        return list(pool.map(one, programs))


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
    outcomes = contest(suite, programs, given.jobs)
    for program, came in zip(programs, outcomes, strict=True):
        if came not in (FOUND, SILENT):
            print(f"{program.stem}: {came}")
    for came, count in Counter(outcomes).most_common():
        print(f"{count} {came}")
    return 0 if {*outcomes} <= {FOUND, SILENT} else 1


if __name__ == "__main__":
    sys.exit(main())
