"""Autolab: what its autograder prints. The last line of standard output is the autoresult,

    {"scores": {"Public": 38, "Hidden": 60}}

and the line before it describes the cases for Autolab's semantic layout. Students see all of it,
live, so it is made of the record as they may see it.

Before it parses the autoresult, Autolab puts every word before a colon in quotes
(autoresult.gsub(/([a-zA-Z0-9]+):/, '"\\1":')): a key in quotes is left alone, but a colon after a
word *inside* a string would break the line. Its keys are therefore names of problems without
colons, and nothing else is a string.
"""

import json
import re

from ..errors import BadInput
from ..record.model import Record, Timing
from ..record.student import is_hidden
from ..report.lines import graded, lost, measured, name, not_timed, number, shape, share, whole
from ..text import one_line

PUBLIC, HIDDEN = "Public", "Hidden"  # the problems that the assessment needs on Autolab
ASSESSMENT = "kernel.cu"


def export(record: Record, problem: str | None = None) -> str:
    """With `problem`, all points go to this one instead of Public and Hidden. Raises BadInput where
    that name would break Autolab's line."""
    if problem is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _/.-]*", problem):
        raise BadInput(f"--problem {problem!r}: letters, digits, blanks and _ / . - only")
    lines = [*report(record), dumped(presentation(record)), dumped({"scores": scores(record, problem)})]
    return "\n".join(lines) + "\n"


def dumped(value: object) -> str:
    """ASCII only: Autolab stores feedback in whatever encoding it finds."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def scores(record: Record, problem: str | None) -> dict[str, int | float]:
    if problem is not None:
        return {problem: number(record.score)}
    sums = {PUBLIC: 0.0} | ({HIDDEN: 0.0} if any(map(is_hidden, record.suites)) else {})
    for item in graded(record) if record.was_run else []:
        key = HIDDEN if item.hidden else PUBLIC
        sums[key] = sums.get(key, 0.0) + item.score
    return {key: number(value) for key, value in sums.items()}


def report(record: Record) -> list[str]:
    lines = [share(record), *whole(record)]
    for item in graded(record):
        lines.append(f"{item.status}: {one_line(f'{name(item)} {shape(item)}')}, {share(item)}")
        if isinstance(item, Timing) and measured(item):
            lines.append(f"    {measured(item)}")
        lines += [f"    {line}" for line in lost(item)]
    untimed = not_timed(record.performance)
    return [*lines, untimed] if untimed else lines


def presentation(record: Record) -> dict[str, object]:
    """Stages are columns, cases are boxes with a hint. Every box of a stage has its own key."""
    build = box(record.was_run, whole(record))
    stages: dict[str, dict[str, object]] = {"Build": {ASSESSMENT: build}}
    for item in graded(record):
        stage = stages.setdefault(HIDDEN if item.hidden else PUBLIC, {})
        key = one_line(item.name)
        while key in stage:  # names are unique in a suite, not over suites
            key += "'"
        stage[key] = box(item.status == "passed", [share(item), *(lost(item) or [item.status])])
    return {"_presentation": "semantic", "stages": list(stages), **stages}


def box(passed: bool, hint: list[str]) -> dict[str, object]:
    if passed:
        return {"passed": True}
    return {"passed": False, "hint": one_line("; ".join(hint))}
