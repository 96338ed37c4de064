"""GitHub Classroom: the result that its reporter (autograding-grading-reporter) reads from a step's
output `result`, base64 of JSON.

The reporter adds the tests' scores up, so a case can earn a part of its points, which Classroom's
own graders do not offer. It prints names and messages into the workflow's log, where a line could
be a command to the runner: they are one line each, and hold none.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from ..feedback import student_view
from ..record import Record, Test
from .text import (Item, graded, lost, name, number, one_line, points, status, without_commands,
                   whole)

FILE = "kernel.cu"


def export(record: Record) -> str:
    """The base64 text, without a line end."""
    return base64.b64encode(document(record).encode()).decode("ascii")


def step_output(record: Record) -> str:
    """The line for $GITHUB_OUTPUT."""
    return f"result={export(record)}\n"


def document(record: Record) -> str:
    record = student_view(record)
    if record.refusal or not record.build.ok or not graded(record):
        tests = [of_whole(record)]
    else:
        tests = [of_case(item) for item in graded(record)]
    result = {
        "version": 1,
        "status": "pass" if all(test["status"] == "pass" for test in tests) else "fail",
        "max_score": number(record.max_score),
        "tests": tests,
    }
    return json.dumps(result, ensure_ascii=True, allow_nan=False)


def of_case(item: Item) -> dict[str, Any]:
    finding = item.finding if isinstance(item, Test) else None
    line = finding.line if finding and is_kernel(finding.file) else 0
    passed = status(item) == "passed"
    message = "" if passed else "; ".join(
        [f"{points(item.score)} of {points(item.max_score)} points", *lost(item)])
    return entry(name(item), passed, item.score, message, line, item.seconds)


def of_whole(record: Record) -> dict[str, Any]:
    line = record.refusal.line if record.refusal else record.build.line
    passed = not record.refusal and record.build.ok  # a suite without cases
    return entry(FILE, passed, record.score, "; ".join(whole(record)), line, record.seconds)


def entry(
    title: str, passed: bool, score: float, message: str, line: int, seconds: float
) -> dict[str, Any]:
    return {
        "name": without_commands(one_line(title)),
        "status": "pass" if passed else "fail",
        "score": number(score),
        "message": without_commands(one_line(message, 2_000)),
        "test_code": "",
        "filename": FILE if line else "",
        "line_no": line,
        "duration": round(seconds * 1000),
    }


def is_kernel(file: str | None) -> bool:
    return file is not None and file.rsplit("/", 1)[-1] == FILE
