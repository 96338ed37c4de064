"""The lab with other names for A, B, C, m, n, k, mysgemm and basicSgemm: everything that is printed is what it
is today with those names put in, and the old ones nowhere. So the engine knows them from the lab alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

KERNELS = ("18_c_transposed", "2_tiled,1_naive,0[1-9]_*", "1[0-7]_[a-m]*", "18_[a-m]*", "21_[a-g]*_handout", "21_[h-z]*_handout")


def yardstick(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", REPOSITORY / "tests" / "same_words.py", *words]
    return subprocess.run([str(word) for word in command], cwd=REPOSITORY, capture_output=True,
                          text=True, check=False)


@pytest.mark.slow  # builds all programs twice; by day test_no_lab_in_engine.py reads the engine's files
@pytest.mark.parametrize("kernels", KERNELS)
def test_other_names(kernels: str, tmp_path: Path) -> None:
    keep = ("--compilers", "usual", "--jobs", 1, "--kernels", kernels)
    for folder, more in (("today", ()), ("renamed", ("--renamed",))):
        kept = yardstick("keep", tmp_path / folder, *keep, *more)
        assert kept.returncode == 0, kept.stderr
    compared = yardstick("compare", "--renamed", tmp_path / "today", tmp_path / "renamed")
    assert compared.returncode == 0, compared.stdout
