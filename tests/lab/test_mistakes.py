"""`make check` names the mistakes that students make, at the line, however the kernel is written:
each mistake of instructor/faulty/mistakes.toml in each of its styles.

A failure here means that a student is shown a symptom, or another mistake than the one made. The
styles themselves are right: test_check.py.
"""

from pathlib import Path
from typing import Any

import pytest
from checked import Builder, run_check
from conftest import sample, slow_but
from corpus import SEEDED

from instructor.faulty import mistakes
from instructor.faulty.mistakes import Seeded


@pytest.mark.parametrize("seeded", sample(SEEDED, every=122), ids=lambda each: each.name)
def test_mistake(checker: Builder, tmp_path: Path, seeded: Seeded) -> None:
    kernel = seeded.write(tmp_path)
    program = checker("gcc -O1", kernel, with_locals=True)
    run = run_check(program, "--json", "--seed", 1, *seeded.shape.split())
    assert run.status == 1, f"{seeded.did}, but\n{run}"
    if seeded.causes and not says_as_much(run.finding, seeded):
        cause = run.finding["cause"]
        assert cause and cause["name"] in seeded.causes and cause["line"] in seeded.lines, run.json


def says_as_much(finding: Any, seeded: Seeded) -> bool:
    """A race names both lines, and the barrier that is missing; a barrier that not all threads
    reach is named at its own line."""
    lines = {finding["line"], (finding["other"] or finding)["line"]}
    return (not finding["cause"] and finding["kind"] in seeded.found
            and not lines.isdisjoint(seeded.lines))


def finding_of(checker: Builder, tmp_path: Path, style: str, edits: list[str], *words: object) -> Any:
    """In a style with these edits."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(mistakes.replaced((mistakes.FOLDER / f"styles/{style}.cu").read_text(), edits, style))
    return run_check(checker("gcc -O1", kernel, with_locals=True), "--json", "--seed", 1, *words).finding


@pytest.mark.parametrize(("asked", "compared"), [("row < n", True), ("row <= n", False)])
def test_a_size_is_named_where_just_that_is_asked_for(
    checker: Builder, tmp_path: Path, asked: str, compared: bool
) -> None:
    edits = ["row < m && a_col", f"{asked} && a_col"]
    cause = finding_of(checker, tmp_path, "handout", edits, 40, 20, 24)["cause"]
    assert ("is compared with n; A has m rows" in cause["what"]) == compared, cause


def test_products_are_counted(checker: Builder, tmp_path: Path) -> None:
    """Every other one, and the last of them is the last but one of the tile."""
    cause = finding_of(checker, tmp_path, "handout", ["i < TILE; ++i", "i < TILE; i += 2"], 34)["cause"]
    assert cause["what"] == "8 products are added in each tile phase; the tiles are 16 wide"


def test_a_grid_is_said_for_which_sizes(checker: Builder, tmp_path: Path) -> None:
    """It need not be the same for all."""
    edits = ["grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE)", "grid(m / TILE, m / TILE)"]
    cause = finding_of(checker, tmp_path, "handout", edits, 34)["cause"]
    assert cause["what"] == "the grid does not cover C: it is (2, 2) for C of 34 x 34, and for C of 37 x 29"


BLOCKS = "dim3 blocks((n + T - 1) / T, (m + T - 1) / T);"
IN_A_ROW = [BLOCKS, "int blocks = (n + T - 1) / T * ((m + T - 1) / T);",
            "blockIdx.y * T", "blockIdx.x / ((n + T - 1) / T) * T",
            "blockIdx.x * T", "blockIdx.x % ((n + T - 1) / T) * T"]  # fmt: skip
"""The blocks of `one_dimensional`, in a grid of one row: that is correct."""
BARRIER = "        __syncthreads(); // first"
SECOND_HALVES = """\
        A_s[ty][tx + TILE] = row < m && a_col + TILE < k ? A[row * k + a_col + TILE] : 0.0f;
        B_s[ty + TILE][tx] = b_row + TILE < k && col < n ? B[(b_row + TILE) * n + col] : 0.0f;
"""
WIDE = ["A_s[TILE][TILE]", "A_s[TILE][2 * TILE]", "B_s[TILE][TILE]", "B_s[2 * TILE][TILE]",
        BARRIER, SECOND_HALVES + BARRIER]  # fmt: skip
"""The tiles of `handout`, twice as long along k as a block is, so two lines fill each. Left are the loops: """
BY_WIDE = ["(k + TILE - 1) / TILE;", "(k + 2 * TILE - 1) / (2 * TILE);",
           "a_col = phase * TILE", "a_col = 2 * phase * TILE",
           "b_row = phase * TILE", "b_row = 2 * phase * TILE"]  # fmt: skip

WITHOUT_CAUSE = {
    # name: style, edits; the finding's kind, and what of the hint
    # Threads return where B has no row for them: of A they leave out elements, too.
    "never written": ("handout", ["        A_s[ty]", "        if (b_row >= k) return;\n        A_s[ty]"],
                      "unwritten", ""),
    # Rows of B are taken to be k long, too.
    "store beyond C": ("handout", ["B[b_row * n", "B[b_row * k", "if (row < m && col < n)", ""], "out-of-bounds", ""),
    # The first tiles are loaded before the loop, which leaves out the second ones.
    "load of another line": ("prefetch", ["int phase = 0;", "int phase = 1;"], "uninitialized-shared", ""),
    # 256 threads fill 16 rows of 16, one after the other: the block fits the tile.
    "index into a row": ("one_dimensional", ["tile_a[y][i]", "tile_a[y][i - 1]"], "shared-out-of-bounds", ""),
    # A hint at guards would lead away from the size that is wrong. This kernel goes along k in steps of 7, for
    # which there is no formula.
    "square shape is right": ("naive", ["A[row * k + p]", "A[row * k + 7 * p % k]",
                                        "B[p * n + col]", "B[7 * p % k * k + col]"],
                              "out-of-bounds", "m=n=k=34 is correct"),
    # Row and column are divided out of one blockIdx: by how many, depends on C.
    "guard in a row of blocks": ("one_dimensional", [*IN_A_ROW, "row < m && p + x", "p + x"], "out-of-bounds", ""),
    "swizzled": ("one_dimensional", [
        *IN_A_ROW[:2], "blockIdx.y * T", "blockIdx.x % ((m + T - 1) / T) * T",
        "blockIdx.x * T", "blockIdx.x / ((m + T - 1) / T) * T", "row < m && p + x", "p + x"], "out-of-bounds", ""),
    # Five for 34 x 34 and for 37 x 29, by chance.
    "too few in a row": ("one_dimensional", [BLOCKS, "int blocks = (m * n + T * T - 1) / (T * T);", *IN_A_ROW[2:]],
                         "unwritten", ""),
    "divided by m": ("one_dimensional", [*IN_A_ROW[:2], *(edit.replace("(n +", "(m +") for edit in IN_A_ROW[2:])],
                     "unwritten", "where do the grid"),
    # How many rows are of a block depends on C, too: half of them, rounded down.
    "half of C's rows": ("naive", ["    int row = blockIdx.y * blockDim.y + threadIdx.y;\n", "",
                                   "if (row < m && col < n)",
                                   "for (int i = threadIdx.y, row = blockIdx.y * (m / 2) + i; "
                                   "i < m / 2 && col < n; i += 16, row += 16)", "(m + 15) / 16", "2"],
                         "unwritten", "where do the grid"),
    # The right blockIdx, too small a factor.
    "store of another factor": ("register_tile", ["int row = row0 +", "int row = blockIdx.y * THREADS +"],
                                "global-race", ""),
    # A thread multiplies other rows than it stores; or the columns, but not each with each row.
    "other rows": ("register_tile", ["A_s[ty + i * THREADS][q]", "A_s[ty + i][q]"], "wrong-result", ""),
    "a column for each row": ("register_tile", ["B_s[q][tx + j * THREADS]", "B_s[q][tx + i * THREADS]"],
                              "wrong-result", ""),
    "column backwards": ("handout", ["B_s[i][tx]", "B_s[TILE - 1 - i][tx]"], "wrong-result", ""),
    # Two lines fill a tile: half of it is multiplied, or it advances by half of it.
    "half of a wide tile": ("handout", [*WIDE, *BY_WIDE], "wrong-result", ""),
    "step of half a tile": ("handout", [*WIDE, "i < TILE;", "i < 2 * TILE;"], "wrong-result", ""),
    # The loop reaches the last tile, and does not load it.
    "last tile left out": ("prefetch", ["if (phase + 1 < phases)", "if (phase + 2 < phases)"], "wrong-result", ""),
    # The first tile is not loaded: the line that loads the next ones is right.
    "no first tile of A": ("prefetch", ["    A_s[0][ty][tx] = row < m && tx < k ? A[row * k + tx] : 0.0f;\n", ""],
                           "uninitialized-shared", ""),
    "no first tile of B": ("prefetch", ["    B_s[0][ty][tx] = ty < k && col < n ? B[ty * n + col] : 0.0f;\n", ""],
                           "uninitialized-shared", ""),
}


AT_NIGHT = "swizzled", "too few in a row", "column backwards"


@pytest.mark.parametrize("name", slow_but([*WITHOUT_CAUSE], lambda _, name: name not in AT_NIGHT))
def test_no_other_mistake_is_named(checker: Builder, tmp_path: Path, name: str) -> None:
    style, edits, kind, hint = WITHOUT_CAUSE[name]
    shape = [] if hint else [34]
    finding = finding_of(checker, tmp_path, style, edits, *shape)
    assert (finding["kind"], finding["cause"]) == (kind, None) and hint in finding["hint"], finding
    assert name != "store beyond C" or finding["access"] == "write"
