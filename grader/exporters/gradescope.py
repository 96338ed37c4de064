"""Gradescope: /autograder/results/results.json.

Hidden cases are given Gradescope's own visibility, and with it the TA's text where students never
see them ("hidden"); where they will see them some day, the student's view. What a submission
printed while it ran a hidden case is left out for both: a submission could print the inputs, and
Gradescope's page is the one place where somebody would look.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from ..feedback import student_view
from ..record import Record, Timing
from .reading import ROUNDING
from .text import (Item, graded, lost, measured, name, not_timed, number, plain, points, protection,
                   shape, status, whole)

Visibility = Literal["hidden", "after_published", "after_due_date", "visible"]


def export(record: Record, hidden_cases: Visibility = "hidden") -> str:
    of_students = student_view(record)
    shown = [
        (seen if test.hidden and hidden_cases != "hidden" else test)
        for test, seen in zip(graded(record), graded(of_students), strict=True)
    ]
    tests = head(of_students) + [entry(test, hidden_cases) for test in shown]
    results: dict[str, Any] = {
        "execution_time": round(record.seconds),
        "output": overview(of_students, hidden_cases),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    # Gradescope adds the tests up. A score at the top would replace the sum, so it is there only
    # where they do not add up: a refused submission has no points whatever its cases earned.
    total = sum(test.get("score", 0) for test in tests)
    if abs(total - record.score) > ROUNDING:
        results["score"] = number(record.score)
    return json.dumps(results, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def head(record: Record) -> list[dict[str, Any]]:
    """A test of its own for what concerns no case: seen by students in any case."""
    if not record.refusal and record.build.ok:
        return []
    lines = whole(record)
    if record.build.output and not record.refusal:
        lines += ["", plain(record.build.output)]
    first: dict[str, Any] = {"name": "kernel.cu", "status": "failed", "output": "\n".join(lines),
                             "visibility": "visible"}
    if not record.tests:  # so that there are points that can be missing
        first |= {"score": number(record.score), "max_score": number(record.max_score)}
    return [first]


def entry(test: Item, hidden_cases: Visibility) -> dict[str, Any]:
    return {
        "name": name(test),
        "score": number(test.score),
        "max_score": number(test.max_score),
        "status": "passed" if status(test) == "passed" else "failed",
        "output": output(test),
        "tags": [test.suite],
        "visibility": hidden_cases if test.hidden else "visible",
    }


def output(test: Item) -> str:
    lines = [shape(test)] if shape(test) else []
    if isinstance(test, Timing):
        return "\n".join([*lines, *([measured(test)] if measured(test) else []), *lost(test)])
    lines += [f"{criterion.name}: {points(criterion.score)} of {points(criterion.max_score)}"
              for criterion in test.criteria]
    lines += lost(test)
    if test.output and not test.hidden:
        lines += ["", "It printed:", plain(test.output)]
    return "\n".join(lines)


def overview(record: Record, hidden_cases: Visibility) -> str:
    """What students see first. "All tests passed" over cases that they cannot see would mislead."""
    public = [item for item in graded(record) if not item.hidden]
    hidden = [item for item in graded(record) if item.hidden]
    lines = whole(record)
    if public:
        lines.append(f"Cases that you can see: {points(sum(test.score for test in public))} of "
                     f"{points(sum(test.max_score for test in public))} points.")
    if hidden and hidden_cases != "visible":
        lines.append(f"{len(hidden)} more cases, for {points(sum(t.max_score for t in hidden))} "
                     "points, are not shown here; they count.")
    if not_timed(record):
        lines.append(not_timed(record))
    lines.append(f"Run on the {record.backend} backend; sandbox: {protection(record)}.")
    return "\n".join(lines)
