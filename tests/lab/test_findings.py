"""findings.def of the engine, and causes.def of it and of the lab, are the tables of findings and causes:
what is made from them says the same."""

from conftest import REPOSITORY
from kinds import CAUSES, KINDS


def test_the_documentation_has_the_tables() -> None:
    page = (REPOSITORY / "docs" / "check.md").read_text()
    findings = [(kind.name, kind.meaning) for kind in KINDS.values()]
    for table in (findings, CAUSES.items()):
        rows = [f"| `{name}` | {meaning} |\n" for name, meaning in table]
        assert "|---|---|\n" + "".join(rows) + "\n" in page
