"""tests/quick.txt lists tests that exist."""

from __future__ import annotations

import subprocess
import sys

from conftest import REPOSITORY, clean_environment


def test_what_make_test_quick_runs_is_there() -> None:
    """pytest fails for a name that it does not find."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "@tests/quick.txt", "-n", "0", "--collect-only", "-q"],
        cwd=REPOSITORY, env=clean_environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
