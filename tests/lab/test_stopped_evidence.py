"""A cause comes of a further run, on sizes of its own (engine/host/check/evidence.c). Where that is stopped before its
launches have ended, by the time limit on a busy machine or by another mistake, what it has not done is no evidence.

A failure here means that a student is told of a load that is left out, a loop that ends too soon or a grid that is too
small, and nothing of that is so; or that a cause is lost that the run has shown before it was stopped.

The kernels stop where m is odd: they are checked on sizes that are even, and the evidence is on primes."""

from pathlib import Path
from typing import Any

import pytest
from checked import Builder, run_check
from conftest import REPOSITORY, slow_but

from instructor.faulty.mistakes import replaced

EVEN = 34, 70, 20
HANDOUT = "instructor/faulty/styles/handout.cu"
OVERWRITTEN = "instructor/faulty/11_b_overwritten.cu"
HALF = "instructor/faulty/07_half_a_tile.cu"

BACK = ["A_s[ty][i]", "A_s[ty][(i - tx) % TILE]"]
SUM = ["sum = 0.0f", "sum = 1.0f"]
LOADS, PRODUCTS = "        A_s[ty][tx] =", "        for (int i = 0; i < TILE; ++i)\n"


def stop(before: str, where: str, how: str = "if ({}) __trap();") -> list[str]:
    """An edit: a thread comes no further than this line."""
    return [before, f"{how.format(f'm % 2 && {where}')}\n{before}"]


ENDLESS = "for (volatile bool on = {}; on;) {{}}"
"""By that the time limit is reached, which counts processor time: whatever the machine, at this line."""


def found(checker: Builder, tmp_path: Path, path: str, edits: list[str]) -> Any:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(replaced((REPOSITORY / path).read_text(), edits, path))
    return run_check(checker("gcc -O1", kernel), "--json", "--seed", 1, *EVEN).finding


LACKING = {
    # What was said: the kernel, its mistake, where it stops; the kind of the finding.
    "a load is left out": (HANDOUT, [*SUM, *stop(LOADS, "blockIdx.x && phase", ENDLESS)], "wrong-result"),
    "a load is left out, with a fault": (HANDOUT, [*SUM, *stop(LOADS, "blockIdx.x && phase")], "wrong-result"),
    "an index is off": (HANDOUT, ["if (row < m &&", "if (blockIdx.x != blockIdx.y && row < m &&",
                                  *stop("    float sum", "blockIdx.y")], "unwritten"),
    # The first column's threads alone have an index outside; or each one has other indices outside.
    "a loop over a tile runs too far": (HANDOUT, ["A_s[ty][i]", "A_s[ty][i - (tx == 0)]", *stop(PRODUCTS, "tx == 0")],
                                        "shared-out-of-bounds"),
    "the loop of one thread does": (HANDOUT, [*BACK, *stop(PRODUCTS, "tx == 14")], "shared-out-of-bounds"),
    "the loops of half the threads do": (HANDOUT, [*BACK, *stop(PRODUCTS, "ty == 7")], "shared-out-of-bounds"),
    "a tile is not filled": (HALF, stop("            float b =", "i == 4"), "uninitialized-shared"),
    "the grid does not cover C": (OVERWRITTEN, stop("        float sum =", "row == 27"), "input-written"),
    # In the order n, m, k: what follows is no mistake in the length of a row.
    "a row has another length": (HANDOUT, ["(m, n, k, A, B, C); // launch", "(n, m, k, A, B, C); // launch",
                                           *stop(PRODUCTS, "phase")], "out-of-bounds"),
}  # fmt: skip


@pytest.mark.parametrize("name", slow_but(list(LACKING), lambda _, name: name == "a load is left out"))
def test_what_a_stopped_run_lacks_is_no_mistake(checker: Builder, tmp_path: Path, name: str) -> None:
    path, edits, kind = LACKING[name]
    finding = found(checker, tmp_path, path, edits)
    assert (finding["kind"], finding["cause"]) == (kind, None), finding


SHOWN = {
    # Read by a pointer to a row, which leads out of the array: that ends the launch.
    "loop-count": (HANDOUT, [PRODUCTS, f"        const float *a = A_s[ty];\n{PRODUCTS.replace('<', '<=')}",
                             "A_s[ty][i]", "a[i]", "B_s[i][tx]", "B_s[i % TILE][tx]"], "a[i]"),
    # Blocks of 5 x 6 threads at tiles of 4 x 4.
    "launch-exchanged": (HANDOUT, ["#define TILE 16", "#define TILE 4", "<<<grid, block>>>", "<<<block, grid>>>"],
                         "<<<block, grid>>>"),
    # Of 32 x 16 threads at tiles of 16 x 16.
    "block-shape": (HANDOUT, ["dim3 block(TILE,", "dim3 block(2 * TILE,"], "// launch"),
}  # fmt: skip


@pytest.mark.parametrize("cause", slow_but(list(SHOWN), lambda _, cause: cause == "loop-count"))
def test_what_a_finding_has_ended_shows_its_cause(checker: Builder, tmp_path: Path, cause: str) -> None:
    path, edits, where = SHOWN[cause]
    finding = found(checker, tmp_path, path, edits)
    assert finding["kind"] == "shared-out-of-bounds" and finding["cause"]["name"] == cause, finding
    lines = (tmp_path / "kernel.cu").read_text().splitlines()
    assert where in lines[finding["cause"]["line"] - 1], finding


@pytest.mark.slow
def test_a_shape_that_takes_too_long_confirms_nothing(checker: Builder, tmp_path: Path) -> None:
    """Whether the kernel is wrong there at all is seen in another run, with values of other kinds."""
    edits = ["A[row * k + a_col]", "A[row * m + a_col]"]
    assert found(checker, tmp_path, HANDOUT, edits)["cause"]["name"] == "row-length"
    endless = stop("    float sum", "A[0] != 1", ENDLESS)
    assert found(checker, tmp_path, HANDOUT, [*edits, *endless])["cause"] is None
