"""The grader as a pytest test: one item a case, which passes with full marks for that case, and one
a shape that is timed.

    python -m pytest grader --submission path/kernel.cu --suite all -k 34 -x --junitxml=out.xml

In: options (plugin.py). Out: pytest's own results, and the record of the grade. The cases run in
grade.py, in parallel; an item only waits for its case.
"""

from collections.abc import Callable

import pytest

from .grade import Grading
from .record import model

Property = Callable[[str, object], None]


def test_case(case: str, grading: Grading, record_property: Property) -> None:
    """Full marks for this case."""
    test = grading.result(case)
    record_points(test, record_property)
    if test.status == "skipped":
        pytest.skip(test.reason)
    if test.status != "passed":
        pytest.fail(in_words(test), pytrace=False)


def test_speed(performance: str, grading: Grading, record_property: Property) -> None:
    """All points for this shape's speed; skipped where it is not timed."""
    timing = grading.timing(performance)
    record_points(timing, record_property)
    if timing.state in ("not-timed", "skipped"):
        pytest.skip(timing.reason)
    if not timing.nothing_lost:
        pytest.fail(f"{timing.score:g} of {timing.max_score:g} points: {timing.reason}",
                    pytrace=False)


def record_points(item: model.Test | model.Timing, record_property: Property) -> None:
    """For --junitxml, whose format has no points."""
    record_property("score", item.score)
    record_property("max_score", item.max_score)


def in_words(test: model.Test) -> str:
    lines = [f"{test.score:g} of {test.max_score:g} points: {test.reason}"]
    if test.finding:
        lines += [f"    {line}" for line in test.finding.below]
    if test.hint:
        lines.append(f"    hint: {test.hint}")
    return "\n".join(lines)
