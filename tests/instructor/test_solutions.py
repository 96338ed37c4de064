"""Correct kernels pass: the solutions, and the odd ways in which students get it right.

A failure here means that a student with correct code is told it is wrong.
"""

from pathlib import Path

import pytest
from conftest import REPOSITORY, Tree, run_sgemm, sample
from corpus import RIGHT, SOLUTIONS

# Each fill's own tolerance has to let correct code through.
FILLS = [f"34 --fill {fill}" for fill in ("random", "ones-twos", "identity", "index", "exact", "extremes")]
# m k n, as on the command line.
SHAPES = [
    "1 1 1", "34 34 34", "16 16 16", "17 17 17",
    "128", "128 256 256", "120 201 250",  # the old lab's
    "70 20 35", "35 20 70", "40 1 50", "33 7 18", "53 31 67",
    "1061 5 9", "9 1061 5", "5 9 1061", "1 40 37", "37 40 1", "64 32 48",
]
# Enough for kernels that differ in how they sum and how they cut C.
SOME_SHAPES = ["1 1 1", "34 34 34", "120 201 250", "17 1 40", "40 7 3", "1061 5 9", "5 9 1061"]


def assert_passes(tree: Tree, kernel: Path, backend: str, *commands: str) -> None:
    program = tree.build(kernel.relative_to(REPOSITORY), spaces=True, BACKEND=backend)
    for command in commands:
        run = run_sgemm(program, *command.split())
        assert run.status == 0, f"{kernel} is right, but\n{run.output}"


@pytest.mark.parametrize("kernel", sample(SOLUTIONS, every=3), ids=lambda path: path.stem)
def test_solution(tree: Tree, kernel: Path, backend: str) -> None:
    """A solution that fails on some shape would cost every student points there."""
    assert_passes(tree, kernel, backend, *SHAPES, *FILLS)


@pytest.mark.parametrize("kernel", sample(RIGHT, every=20, start=1), ids=lambda path: path.stem)
def test_right_in_another_style(tree: Tree, kernel: Path, backend: str) -> None:
    """There is more than one way to write it, and none is to be punished. In `make test` a tenth
    of them, and others in test_check.py."""
    assert_passes(tree, kernel, backend, *SOME_SHAPES)
