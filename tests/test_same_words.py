"""The yardstick itself: two runs of one version are alike, and another word is seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import same_words
from conftest import REPOSITORY, Tree


def yardstick(*words: object, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", REPOSITORY / "tests" / "same_words.py", *words]
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          timeout=600, check=False)


@pytest.mark.slow  # builds a checkout
def test_what_is_kept(tree: Tree, tmp_path: Path) -> None:
    kept = yardstick("keep", tmp_path, "--compilers", "gcc", "--kernels", "18_c_transposed",
                     "--jobs", 1, cwd=tree.path)
    assert kept.returncode == 0, kept.stderr
    (path,) = tmp_path.glob("*/*.txt")
    text = path.read_text()
    for expected in ("$ ./sgemm --seed 1 34\n", "$ ./sgemm-check --seed 1 --json", "TEST FAILED",
                     '\n  "kind": "wrong-result",\n', "C is the product", "(exit status 1)"):
        assert expected in text


def test_another_word_is_seen(tmp_path: Path) -> None:
    before, after = tmp_path / "a" / "gcc" / "x.txt", tmp_path / "b" / "gcc" / "x.txt"
    for path in (before, after):
        path.parent.mkdir(parents=True)
        path.write_text("$ make\nC is the product\n")
    same = yardstick("compare", tmp_path / "a", tmp_path / "b")
    assert same.returncode == 0 and same.stdout == "1 files compared, 0 differ\n"
    after.write_text("$ make\nC is a product\n")
    differs = yardstick("compare", tmp_path / "a", tmp_path / "b")
    assert differs.returncode == 1 and "\n-C is the product\n+C is a product\n" in differs.stdout
    after.unlink()
    missing = yardstick("compare", tmp_path / "a", tmp_path / "b")
    assert missing.returncode == 1 and "only in" in missing.stdout


def test_times_are_left_out_and_results_are_not() -> None:
    text = 'kernel 1.234 ms, 0.001 s, 12.5 GFLOP/s "seconds": 0.0123, C[1][0] is -3.50778937'
    assert same_words.steady(text) == (
        'kernel 0 ms, 0 s, 0 GFLOP/s "seconds": 0, C[1][0] is -3.50778937')


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    ran = yardstick("compare", tmp_path, tmp_path / "none")
    assert ran.returncode == 2 and "no such folder" in ran.stderr
