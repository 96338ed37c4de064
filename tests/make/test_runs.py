"""tests/quick.txt lists tests that exist."""

from __future__ import annotations

import re

from conftest import REPOSITORY


def test_what_make_test_quick_runs_is_there() -> None:
    words = [line for line in (REPOSITORY / "tests/quick.txt").read_text().split() if line.startswith("tests/")]
    assert words
    for word in words:
        path, *names = word.split("[")[0].split("::")
        assert (REPOSITORY / path).exists(), word
        for name in names:
            assert re.search(rf"^ *(def|class) {name}\b", (REPOSITORY / path).read_text(), re.MULTILINE), word
