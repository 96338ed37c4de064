"""Correct kernels pass: the solutions, and the odd ways in which students get it right.

A failure here means that a student with correct code is told it is wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY, run_sgemm, sample, slow_but
from corpus import RIGHT, SOLUTIONS

FILLS = ["random", "ones-twos", "identity", "index", "exact", "extremes"]

# m k n, as on the command line.
SHAPES = {
    "one element": "1 1 1",
    "three tiles with an edge": "34 34 34",
    "one tile": "16 16 16",
    "one tile and one": "17 17 17",
    "old lab 1": "128",
    "old lab 2": "128 256 256",
    "old lab 3": "120 201 250",
    "m > n": "70 20 35",
    "n > m": "35 20 70",
    "k is 1": "40 1 50",
    "k below a tile": "33 7 18",
    "primes": "53 31 67",
    "m over 1024": "1061 5 9",
    "k over 1024": "9 1061 5",
    "n over 1024": "5 9 1061",
    "one row": "1 40 37",
    "one column": "37 40 1",
    "multiples of a tile": "64 32 48",
}
# Enough for kernels that differ in how they sum and how they cut C.
SOME_SHAPES = ["1 1 1", "34 34 34", "120 201 250", "17 1 40", "40 7 3", "1061 5 9", "5 9 1061"]


def assert_passes(tree, kernel: Path, backend: str, *args: str) -> None:
    run = run_sgemm(tree.build(kernel.relative_to(REPOSITORY), spaces=True, BACKEND=backend), *args)
    assert run.status == 0, f"{kernel} is right, but\n{run.output}"


# The last takes as long to compile as ten others; test_ladder.py runs it.
EACH_SOLUTION = slow_but(SOLUTIONS, lambda _, path: path != SOLUTIONS[-1])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("kernel", EACH_SOLUTION, ids=lambda path: path.stem)
def test_solution(tree, kernel, backend, shape):
    """A solution that fails on some shape would cost every student points there."""
    assert_passes(tree, kernel, backend, *shape.split())


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("kernel", EACH_SOLUTION, ids=lambda path: path.stem)
def test_solution_with_every_fill(tree, kernel, backend, fill):
    """Each fill's own tolerance has to let correct code through."""
    assert_passes(tree, kernel, backend, "34", "--fill", fill)


def test_there_are_solutions():
    """The tests above are void without any. More about them: test_ladder.py."""
    assert {"1_naive", "2_tiled", "6_double_buffered"} <= {path.stem for path in SOLUTIONS}
    assert len(RIGHT) >= 15 and len(SUMMING) == len(ORDERS)


@pytest.mark.parametrize("shape", SOME_SHAPES)
@pytest.mark.parametrize("kernel", sample(RIGHT, every=20, start=1), ids=lambda path: path.stem)
def test_right_in_another_style(tree, kernel, backend, shape):
    """There is more than one way to write it, and none is to be punished. In `make test` a tenth
    of them, and others in test_check.py."""
    assert_passes(tree, kernel, backend, *shape.split())


ORDERS = {
    "partial_sums", "four_accumulators", "double_accumulator", "backwards", "kahan",
    "fma_and_hints", "split_k", "warp_shuffle", "4_register_tiles",
}
SUMMING = [path for path in [*RIGHT, *SOLUTIONS] if path.stem in ORDERS]


@pytest.mark.parametrize("kernel", sample(SUMMING, every=4), ids=lambda path: path.stem)
def test_any_summation_order_passes_at_1000_500_700(tree, kernel, backend):
    """The old lab compared with 1e-6, relative: at this size it rejected partial sums of tiles,
    four accumulators and even a sum in double precision."""
    assert_passes(tree, kernel, backend, "1000", "500", "700", "--timeout", "100")
