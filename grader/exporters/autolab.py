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
from ..record import Record, Timing
from .text import (Item, graded, lost, measured, name, not_timed, number, one_line, points, shape,
                   status, whole)

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
    hidden = [item for item in graded(record) if item.hidden]
    sums = {PUBLIC: sum(item.score for item in graded(record) if not item.hidden)}
    if hidden or any(suite.split("/")[0] == "hidden" for suite in record.suites):
        sums[HIDDEN] = sum(item.score for item in hidden)
    if record.refusal or not record.build.ok:
        sums = dict.fromkeys(sums, 0.0)
    return {key: number(value) for key, value in sums.items()}


def report(record: Record) -> list[str]:
    lines = [f"{points(record.score)} of {points(record.max_score)} points", *whole(record)]
    for item in graded(record):
        lines.append(f"{status(item)}: {one_line(f'{name(item)} {shape(item)}')}, "
                     f"{points(item.score)} of {points(item.max_score)} points")
        if isinstance(item, Timing) and measured(item):
            lines.append(f"    {measured(item)}")
        lines += [f"    {line}" for line in lost(item)]
    return lines + ([not_timed(record)] if not_timed(record) else [])


def presentation(record: Record) -> dict[str, object]:
    """Stages are columns, cases are boxes with a hint. Every box of a stage has its own key."""
    stages: dict[str, dict[str, object]] = {"Build": {ASSESSMENT: box(
        record.build.ok and not record.refusal, whole(record))}}
    for item in graded(record):
        stage = stages.setdefault(HIDDEN if item.hidden else PUBLIC, {})
        stage[unused(one_line(item.name), stage)] = box_of(item)
    return {"_presentation": "semantic", "stages": list(stages), **stages}


def box_of(item: Item) -> dict[str, object]:
    said = lost(item) or [status(item)]
    return box(status(item) == "passed",
               [f"{points(item.score)} of {points(item.max_score)} points", *said])


def box(passed: bool, hint: list[str]) -> dict[str, object]:
    if passed:
        return {"passed": True}
    return {"passed": False, "hint": one_line("; ".join(hint))}


def unused(key: str, taken: dict[str, object]) -> str:
    """Names are unique in a suite, not over suites."""
    while key in taken:
        key += "'"
    return key
