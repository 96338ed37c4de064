"""How the tests are run: conftest.FailuresAtOnce names a failing test when it fails, not when the
last one has ended; tests/quick.txt lists tests that exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, clean_environment

TESTS = """
def test_fails(): assert 1 == 2, "for a reason"
def test_passes(): pass
"""


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
def test_a_failure_is_named_at_once(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-n", workers, "test_it.py"],
        cwd=tmp_path, env=clean_environment({"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests'}"}),
        capture_output=True, text=True, check=False)  # fmt: skip
    before_the_end = ran.stdout.partition("= FAILURES =")[0]
    assert "FAILED test_it.py::test_fails (call): " in before_the_end
    assert before_the_end.count("FAILED") == 1 and "test_passes" not in before_the_end


def test_what_make_test_quick_runs_is_there() -> None:
    """pytest fails for a name that it does not find."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "@tests/quick.txt", "-n", "0", "--collect-only", "-q"],
        cwd=REPOSITORY, env=clean_environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
