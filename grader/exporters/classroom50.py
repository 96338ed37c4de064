"""Classroom 50: what its runner takes from an autograder.py, for one submission.

In: a record as students see it, and the runner's environment. Out: three files.

- result.json, of its schema classroom50/result/v1. The runner's environment says which submission
  this is; owner, assignment_type and datetime it overwrites with what it knows itself.
- release-body.md, Markdown, the text of the submission's release.
- annotations, workflow commands for the log that put the mistakes beside the lines of kernel.cu.

Scores are integers there. Points for speed are rounded down, with the exact value under "points", a
member that we add. No test at all would read as "nothing to grade,
success", so a submission that was not run has one test that failed.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import MachineFault
from ..record.model import ROUNDING, Record
from ..report.lines import Item, graded, lost, name, number, of_repair, parts, whole
from ..text import one_line
from . import github

SCHEMA = "classroom50/result/v1"
# Members of result.json, and the variables that hold them.
IDENTITY = {"classroom": "CLASSROOM", "assignment": "ASSIGNMENT",
            "assignment_type": "ASSIGNMENT_TYPE", "owner": "OWNER", "submission": "SUBMISSION_TAG",
            "commit": "COMMIT_URL", "release": "RELEASE_URL", "review": "REVIEW_URL"}
LARGEST_BODY = 100_000  # GitHub takes 125,000 characters, and the runner may add some


def write(record: Record, directory: Path, environment: Mapping[str, str]) -> None:
    """The three files into `directory`. Raises MachineFault where the environment is not the
    runner's, and OSError."""
    texts = {"annotations": github.annotations(record),
             "release-body.md": github.summary(record, LARGEST_BODY),
             "result.json": result(record, environment)}
    for file, text in texts.items():
        (directory / file).write_text(text, encoding="utf-8")


def result(record: Record, environment: Mapping[str, str]) -> str:
    """The text of result.json. Raises MachineFault where the environment is not the runner's."""
    if not record.was_run or not graded(record):
        # Of a suite without cases it has passed.
        tests = [entry(github.FILE, record.was_run, record.score, record.max_score, whole(record))]
    else:
        suites = sorted({item.suite for item in graded(record)})
        tests = [entry for suite in suites
                 for entry in of_suite(suite, [item for item in graded(record) if item.suite == suite])]
    return json.dumps({
        "schema": SCHEMA,
        **identity(environment),
        "datetime": f"{record.started[:len('2026-11-21T06:00:00')]}Z",
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def of_suite(suite: str, items: list[Item]) -> list[dict[str, Any]]:
    """A test each. No test may have more than its points: with those of a repair, the suite is one."""
    repaired = [item for item in items if of_repair(item)]
    if not repaired:
        return [entry(name(item), item.status == "passed", item.score, item.max_score, lost(item)) for item in items]
    reasons = [line for item in [*repaired, *items] for line in lost(item)[:1]]
    return [entry(suite, False, sum(item.score for item in items), sum(item.max_score for item in items),
                  list(dict.fromkeys(reasons)))]


def identity(environment: Mapping[str, str]) -> dict[str, str]:
    for variable in IDENTITY.values():
        if not environment.get(variable):
            raise MachineFault(f"{variable}: not set; Classroom 50's runner sets it")
    return {member: environment[variable] for member, variable in IDENTITY.items()}


def entry(title: str, passed: bool, score: float, max_score: float, reasons: list[str]) -> dict[str, Any]:
    full = math.ceil(max_score - ROUNDING)
    message = "" if passed else "; ".join([parts(score, max_score), *reasons])
    return {
        "test-name": without_commands(one_line(title)) or github.FILE,
        "passed": passed,
        "score": full if passed else math.floor(score + ROUNDING),
        "max-score": full,
        "points": number(score),
        "message": without_commands(one_line(message, 2_000)),
    }


def without_commands(text: str) -> str:
    """The runner prints these texts into its log, where `::` at the beginning of a line and `##[`
    anywhere in it begin a command."""
    space = github.ZERO_WIDTH_SPACE
    return text.replace("::", f":{space}:").replace("##[", f"#{space}#[")
