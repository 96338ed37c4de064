"""One item a case, a mark of a suite and a shape that is timed: each fails with its reason (conftest.py)."""

from collections.abc import Callable

import pytest

from .record.model import AnyResult


def test_points(key: str, graded: dict[str, AnyResult], record_property: Callable[[str, object], None]) -> None:
    item = graded[key]
    record_property("score", item.score)  # for --junitxml, whose format has no points
    record_property("max_score", item.max_score)
    if item.status == "skipped":
        pytest.skip(item.reason)
    finding = getattr(item, "finding", None)
    lines = [f"    {line}" for line in finding.below] if finding else []
    hint = [f"    hint: {item.hint}"] if item.hint else []
    if not item.nothing_lost:
        pytest.fail("\n".join([f"{item.score:g} of {item.max_score:g} points: {item.reason}",
                               *lines, *hint]), pytrace=False)
