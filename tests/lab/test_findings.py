"""findings.def of the engine, and causes.def of it and of the lab, are the tables of findings and causes:
what is made from them says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY
from kinds import CAUSES, KINDS, kinds


def test_the_documentation_has_the_tables() -> None:
    page = (REPOSITORY / "docs" / "check.md").read_text()
    findings = [(kind.name, kind.meaning) for kind in KINDS.values()]
    for table in (findings, CAUSES.items()):
        rows = [f"| `{name}` | {meaning} |\n" for name, meaning in table]
        assert "|---|---|\n" + "".join(rows) + "\n" in page


def test_every_cause_has_a_rule() -> None:
    files = [*(REPOSITORY / "lab" / "mistakes").glob("cause_*.c"),
             *(REPOSITORY / "engine" / "host" / "check").glob("cause*.c")]
    rules = "".join(path.read_text() for path in files)
    for name in CAUSES:
        assert f"CAUSE_{name.upper().replace('-', '_')}" in rules


def test_every_row_is_complete() -> None:
    without_hint = {"bad-launch", "kernel-fault", "host-fault"}  # the event says more
    for name, kind in KINDS.items():
        assert name == kind.name and kind.headline and kind.meaning
        assert bool(kind.hint) == (name not in without_hint)
        assert len(kind.headline) < 80


@pytest.mark.parametrize("row", ["x = 1", 'FINDING(A, "a", NONE, MAYBE, "b", "c", "d")', "FINDING("])
def test_a_row_that_is_none(row: str, tmp_path: Path) -> None:
    table = tmp_path / "findings.def"
    table.write_text(f"/* rows */\n{row}\n")
    with pytest.raises((SyntaxError, ValueError)):
        kinds(table)
