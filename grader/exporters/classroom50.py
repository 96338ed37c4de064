"""Classroom 50: what its runner takes from an autograder.py, for one submission.

In: a record as students see it, and the runner's environment. Out: three files.

- result.json, of its schema classroom50/result/v1. The runner's environment says which submission
  this is; owner, assignment_type and datetime it overwrites with what it knows itself.
- release-body.md, Markdown, the text of the submission's release.
- annotations, workflow commands for the log that put the mistakes beside the lines of kernel.cu.

Scores are integers there. A case that lost something gets its points rounded down, and the exact
value under "points", a member that we add. No test at all would read as "nothing to grade,
success", so a submission that was not run has one test that failed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import MachineFault
from ..record.model import ROUNDING, Record
from ..report.lines import Item, graded, lost, name, number, share, whole
from ..text import one_line
from . import annotations, summary

SCHEMA = "classroom50/result/v1"
# Members of result.json, and the variables that hold them.
IDENTITY = {"classroom": "CLASSROOM", "assignment": "ASSIGNMENT",
            "assignment_type": "ASSIGNMENT_TYPE", "owner": "OWNER", "submission": "SUBMISSION_TAG",
            "commit": "COMMIT_URL", "release": "RELEASE_URL", "review": "REVIEW_URL"}
LARGEST_BODY = 100_000  # GitHub takes 125,000 characters, and the runner may add some


def write(record: Record, directory: Path, environment: Mapping[str, str]) -> None:
    """The three files into `directory`. Raises MachineFault where the environment is not the
    runner's, and OSError."""
    texts = {"annotations": annotations.export(record),
             "release-body.md": summary.export(record, LARGEST_BODY),
             "result.json": result(record, environment)}
    for file, text in texts.items():
        (directory / file).write_text(text, encoding="utf-8")


def result(record: Record, environment: Mapping[str, str]) -> str:
    """The text of result.json. Raises MachineFault where the environment is not the runner's."""
    if record.refusal or not record.build.ok or not graded(record):
        passed = not record.refusal and record.build.ok  # a suite without cases
        tests = [entry(annotations.FILE, passed, record, whole(record))]
    else:
        tests = [entry(name(item), item.status == "passed", item, lost(item))
                 for item in graded(record)]
    return json.dumps({
        "schema": SCHEMA,
        **identity(environment),
        "datetime": f"{record.started[:len('2026-11-21T06:00:00')]}Z",
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def identity(environment: Mapping[str, str]) -> dict[str, str]:
    for variable in IDENTITY.values():
        if not environment.get(variable):
            raise MachineFault(f"{variable}: not set; Classroom 50's runner sets it")
    return {member: environment[variable] for member, variable in IDENTITY.items()}


def entry(title: str, passed: bool, of: Item | Record, reasons: list[str]) -> dict[str, Any]:
    full = math.ceil(of.max_score - ROUNDING)
    message = "" if passed else "; ".join([share(of), *reasons])
    return {
        "test-name": without_commands(one_line(title)) or annotations.FILE,
        "passed": passed,
        "score": full if passed else math.floor(of.score + ROUNDING),
        "max-score": full,
        "points": number(of.score),
        "message": without_commands(one_line(message, 2_000)),
    }


def without_commands(text: str) -> str:
    """The runner prints these texts into its log, where `::` at the beginning of a line and `##[`
    anywhere in it begin a command."""
    space = summary.ZERO_WIDTH_SPACE
    return text.replace("::", f":{space}:").replace("##[", f"#{space}#[")
