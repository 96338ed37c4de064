"""findings.def of the engine, and causes.def of it and of the lab, are the tables of findings and causes:
what is made from them says the same."""

from __future__ import annotations

from conftest import REPOSITORY
from kinds import CAUSES, KINDS


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


def test_every_finding_has_a_headline_and_a_hint() -> None:
    without_hint = {"bad-launch", "kernel-fault", "host-fault"}  # the event says more
    for name, kind in KINDS.items():
        assert 0 < len(kind.headline) < 80 and bool(kind.hint) == (name not in without_hint)
