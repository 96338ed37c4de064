"""tests/quick.txt lists tests that exist."""

import re

from conftest import REPOSITORY


def test_what_make_test_quick_runs_is_there() -> None:
    """A parameter that is not there stops pytest itself."""
    for line in (REPOSITORY / "tests/quick.txt").read_text().splitlines():
        path, _, name = line.partition("::")
        if path.startswith("tests/"):
            text = (REPOSITORY / path).read_text()
            assert not name or re.search(rf"^def {re.escape(name.partition('[')[0])}\(", text, re.MULTILINE), line
