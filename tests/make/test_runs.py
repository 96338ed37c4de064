"""tests/quick.txt lists tests that exist."""

from __future__ import annotations

import sys

from conftest import finished


def test_what_make_test_quick_runs_is_there() -> None:
    """pytest fails for a name that it does not find."""
    ran = finished([sys.executable, "-m", "pytest", "@tests/quick.txt", "-n", "0", "--collect-only", "-q"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
