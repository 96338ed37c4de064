"""checker/findings.def is the one table of findings: what is made from it says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY
from grader.findings import KINDS, read


def test_the_documentation_has_the_table() -> None:
    rows = [f"| `{kind.name}` | {kind.meaning} |\n" for kind in KINDS.values()]
    page = (REPOSITORY / "docs" / "check.md").read_text()
    assert "|---|---|\n" + "".join(rows) + "\n" in page


def test_every_row_is_complete() -> None:
    without_hint = {"bad-launch", "kernel-fault", "host-fault"}  # the event says more
    for name, kind in KINDS.items():
        assert name == kind.name and kind.headline and kind.meaning
        assert bool(kind.hint) == (name not in without_hint)
        assert len(kind.headline) < 80


@pytest.mark.parametrize("row", ["x = 1", 'FINDING(A, "a", NONE, MAYBE, "b", "c")', "FINDING("])
def test_a_row_that_is_none(row: str, tmp_path: Path) -> None:
    table = tmp_path / "findings.def"
    table.write_text(f"/* rows */\n{row}\n")
    with pytest.raises((SyntaxError, ValueError)):
        read(table)
