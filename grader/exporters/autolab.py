"""Autolab: what its autograder prints. The last line of standard output is the autoresult,

    {"scores": {"Public": 38, "Hidden": 60}}

and the line before it describes the cases for Autolab's semantic layout. Students see all of it,
live, so it is made from their view.

Before it parses the autoresult, Autolab puts every word before a colon in quotes
(autoresult.gsub(/([a-zA-Z0-9]+):/, '"\\1":')): a key in quotes is left alone, but a colon after a
word *inside* a string would break the line. Its keys are therefore names of problems without
colons, and nothing else is a string.
"""

from __future__ import annotations

import json
import re

from ..errors import BadInput
from ..feedback import student_view
from ..record import Record, Test
from .text import lost, name, number, one_line, points, shape, whole

PUBLIC, HIDDEN = "Public", "Hidden"  # the problems that the assessment needs on Autolab
ASSESSMENT = "kernel.cu"


def export(record: Record, problem: str | None = None) -> str:
    """With `problem`, all points go to this one instead of Public and Hidden."""
    if problem is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _/.-]*", problem):
        raise BadInput(f"--problem {problem!r}: letters, digits, blanks and _ / . - only")
    record = student_view(record)
    lines = [*report(record), dumped(presentation(record)),
             dumped({"scores": scores(record, problem)})]
    return "\n".join(lines) + "\n"


def dumped(value: object) -> str:
    """ASCII only: Autolab keeps feedback as whatever encoding it finds."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def scores(record: Record, problem: str | None) -> dict[str, int | float]:
    if problem is not None:
        return {problem: number(record.score)}
    hidden = [test for test in record.tests if test.hidden]
    sums = {PUBLIC: sum(test.score for test in record.tests if not test.hidden)}
    if hidden or any(suite.split("/")[0] == "hidden" for suite in record.suites):
        sums[HIDDEN] = sum(test.score for test in hidden)
    if record.refusal or not record.build.ok:
        sums = dict.fromkeys(sums, 0.0)
    return {key: number(value) for key, value in sums.items()}


def report(record: Record) -> list[str]:
    lines = [f"{points(record.score)} of {points(record.max_score)} points", *whole(record)]
    for test in record.tests:
        lines.append(f"{test.status}: {one_line(f'{name(test)} {shape(test)}')}, "
                     f"{points(test.score)} of {points(test.max_score)} points")
        lines += [f"    {line}" for line in lost(test)]
    return lines


def presentation(record: Record) -> dict[str, object]:
    """Stages are columns, cases are boxes with a hint. Every box of a stage has its own key."""
    stages: dict[str, dict[str, object]] = {"Build": {ASSESSMENT: box(
        record.build.ok and not record.refusal, whole(record))}}
    for test in record.tests:
        stage = stages.setdefault(HIDDEN if test.hidden else PUBLIC, {})
        stage[unused(one_line(test.name), stage)] = box_of(test)
    return {"_presentation": "semantic", "stages": list(stages), **stages}


def box_of(test: Test) -> dict[str, object]:
    said = lost(test) or [test.status]
    return box(test.status == "passed",
               [f"{points(test.score)} of {points(test.max_score)} points", *said])


def box(passed: bool, hint: list[str]) -> dict[str, object]:
    if passed:
        return {"passed": True}
    return {"passed": False, "hint": one_line("; ".join(hint))}


def unused(key: str, taken: dict[str, object]) -> str:
    """Names are unique in a suite, not over suites."""
    while key in taken:
        key += "'"
    return key
