"""What was graded before is not graded again: the records of `make cases`, kept in build/cases.

In: a kernel's file and suites. Out: records. A record is of one case, where cases do not depend on each
other, else of all suites together; it is kept under all that it depends on: the kernel's text, the
grader with its compiler and its sandbox, what the cases say, and the seed.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grader.build.parts import Parts, of_grader
from grader.cases.model import Suite
from grader.cases.read import of_cases
from grader.record.model import Record
from grader.record.store import write
from instructor.release.repository import REPOSITORY

KEPT = REPOSITORY / "build" / "cases"

Run = Callable[[Path, list[Suite]], Record]


class Missing(Exception):
    """It was not graded before."""


class Graded:
    def __init__(self, parts: Parts, folder: Path, protection: str = ""):
        self.folder = folder
        self.grader = f"{of_grader(parts.lab.folder)} {parts.compiler} {protection}"

    def records(self, kernel: Path, suites: list[Suite], seed: int, run: Run | None) -> list[Record]:
        """`run` makes those that are missing. Raises Missing if there is none, and what it raises."""
        place = self.folder / f"{digest(self.grader, kernel.read_bytes())}.json"
        known = json.loads(place.read_bytes()) if place.exists() else {}
        parts = [suites] if any(suite.gate for suite in suites) else [[each] for each in cases_of(suites)]
        keys = [digest(str(seed), of_cases(part).encode()) for part in parts]
        missing = [(part, key) for part, key in zip(parts, keys, strict=True) if key not in known]
        if missing:
            if run is None:
                raise Missing
            made = run(kernel, together([part for part, _ in missing]))
            for part, key in missing:
                known[key] = json.loads((made if part is suites else of_case(made, part)).model_dump_json())
            place.parent.mkdir(parents=True, exist_ok=True)
            write(place, json.dumps(known).encode())
        return [Record.model_validate(known[key]) for key in keys]


def cases_of(suites: list[Suite]) -> list[Suite]:
    """Each case in a suite of its own."""
    return [replace(suite, cases=[case]) for suite in suites for case in suite.cases]


def together(parts: list[list[Suite]]) -> list[Suite]:
    """Those that are of one suite in one again."""
    found: dict[str, Suite] = {}
    for suite in (suite for part in parts for suite in part):
        before = found.get(suite.name)
        found[suite.name] = replace(before, cases=[*before.cases, *suite.cases]) if before else suite
    return list(found.values())


def of_case(record: Record, part: list[Suite]) -> Record:
    (case,) = part[0].cases
    tests = [test for test in record.tests if test.key == case.key]
    return record.model_copy(update={
        "tests": tests, "suites": [part[0].name], "marks": [], "needs_review": [],
        "score": sum(test.score for test in tests), "max_score": sum(test.max_score for test in tests)})


def digest(text: str, content: bytes) -> str:
    return hashlib.sha256(text.encode() + b"\0" + content).hexdigest()[:32]
