"""Gradescope: /autograder/results/results.json.

In: a record, and the same as students see it. Out: JSON, made of the latter. Hidden cases are given
Gradescope's own visibility; where students never see them ("hidden"), their text is the TA's. What a
submission printed during a hidden case is left out of both: a submission could print its inputs,
and Gradescope's page is where a student would look for them.
"""

import json
from typing import Any, Literal, get_args

from ..record.model import ROUNDING, Record, Test, Timing
from ..report.lines import (Item, graded, lost, measured, name, not_timed, number, points,
                            protection, shape, whole)
from ..text import counted, plain

Visibility = Literal["hidden", "after_published", "after_due_date", "visible"]
VISIBILITIES = get_args(Visibility)


def export(record: Record, of_students: Record, hidden_cases: Visibility = "hidden") -> str:
    shown = [item if item.hidden and hidden_cases == "hidden" else seen
             for item, seen in zip(graded(record), graded(of_students), strict=True)]
    tests = head(of_students) + [entry(item, hidden_cases) for item in shown]
    results: dict[str, Any] = {
        "execution_time": round(record.seconds),
        "output": overview(of_students, hidden_cases),
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), "text"),
        "visibility": "visible", "stdout_visibility": "hidden",
        "tests": tests,
    }
    # Gradescope adds the tests up. A score at the top would replace the sum, so it is there only
    # where they do not add up: a refused submission has no points whatever its cases earned.
    total = sum(test.get("score", 0) for test in tests)
    if abs(total - record.score) > ROUNDING:
        results["score"] = number(record.score)
    return json.dumps(results, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def head(record: Record) -> list[dict[str, Any]]:
    """A refusal or a compile error as a separate test, which students always see."""
    if record.was_run:
        return []
    lines = whole(record)
    if record.build.output and not record.refusal:
        lines += ["", plain(record.build.output)]
    first: dict[str, Any] = {"name": "kernel.cu", "status": "failed", "output": "\n".join(lines),
                             "visibility": "visible"}
    if not record.tests:  # so that there are points that can be missing
        first |= {"score": number(record.score), "max_score": number(record.max_score)}
    return [first]


def entry(item: Item, hidden_cases: Visibility) -> dict[str, Any]:
    lines = [shape(item), measured(item) if isinstance(item, Timing) else ""]
    lines = [*filter(None, lines), *lost(item)]
    if isinstance(item, Test) and item.output and not item.hidden:
        lines += ["", "It printed:", plain(item.output)]
    return {
        "name": name(item), "score": number(item.score), "max_score": number(item.max_score),
        "status": "passed" if item.status == "passed" else "failed",
        "output": "\n".join(lines),
        "tags": [item.suite],
        "visibility": hidden_cases if item.hidden else "visible",
    }


def overview(record: Record, hidden_cases: Visibility) -> str:
    """What students see first. "All tests passed" over cases that they cannot see would mislead."""
    public, hidden = ([item for item in graded(record) if item.hidden == half] for half in (False, True))
    lines = whole(record)
    if public:
        lines.append(f"Cases that you can see: {points(sum(item.score for item in public))} of "
                     f"{points(sum(item.max_score for item in public))} points.")
    if hidden and hidden_cases != "visible":
        worth = points(sum(item.max_score for item in hidden))
        lines.append(f"Not shown here, but part of the grade: {counted(len(hidden), 'more case')}, "
                     f"for {worth} points.")
    lines += filter(None, [not_timed(record.performance)])
    lines.append(f"Run on the {record.backend} backend; sandbox: {protection(record)}.")
    return "\n".join(lines)
