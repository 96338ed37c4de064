"""The lab with other names for A, B, C, m, n, k, mysgemm and basicSgemm: everything that is printed is what it
is today with those names put in, and the old ones nowhere. So the engine knows them from the lab alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import renamed
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


def test_a_name_that_is_left_is_seen(tmp_path: Path) -> None:
    before, after = tmp_path / "a" / "gcc" / "x.txt", tmp_path / "b" / "gcc" / "x.txt"
    for path in (before, after):
        path.parent.mkdir(parents=True)
    before.write_text("kernel.cu:3: load from A beyond its end; C++, m=3 n=4\n")
    after.write_text("kernel.cu:3: load from F beyond its end; C++, q=3 v=4\n")
    assert yardstick("compare", "--renamed", tmp_path / "a", tmp_path / "b").returncode == 0
    after.write_text("kernel.cu:3: load from A beyond its end; C++, q=3 v=4\n")
    assert yardstick("compare", "--renamed", tmp_path / "a", tmp_path / "b").returncode == 1


def test_what_is_renamed() -> None:
    code = '#include "A.h"\nint m = f("A, B\\nC of m", "%d", "m\\n"); /* n */\n'
    assert renamed.in_strings(code) == '#include "A.h"\nint m = f("F, G\\nH of q", "%d", "q\\n"); /* n */\n'
    assert renamed.in_text("basicSgemm(m, n, k) in 18_a-m_k.cu: \\nC[m - 1]; A phase") == \
        "launchWork(q, v, w) in 18_a-m_k.cu: \\nH[q - 1]; A phase"
    assert renamed.is_free("int i, j;") and not renamed.is_free("int q;")
    assert all(len(old) == len(new) for old, new in renamed.NAMES.items())
