"""A loop over a tile reads beyond it: is it the loop that goes too far, or the index that is one too large?

A failure here means that a student looks for the end of a loop that is right, or is not told of one that is wrong."""

from pathlib import Path

import pytest
from checked import TILED, Builder, run_check
from conftest import REPOSITORY

from instructor.faulty.mistakes import replaced

LOOP = """        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
"""
TWO_LOOPS = """        float a[TILE_SIZE];
        for (int i = 0; i < TILE_SIZE; ++i)
            a[i] = A_s[ty][i + 1];
        for (int i = 0; i < TILE_SIZE; ++i)
            sum += a[i] * B_s[i][tx];
"""
BY_TWO = """        for (int i = 0; i {0} TILE_SIZE; i += 2)
            sum += A_s[ty][i] * B_s[i][tx] + A_s[ty][{1}] * B_s[i + 1][tx];
"""
A_TOO_LARGE = "off-by-one", "the index of A_s is 1 column too large"
B_TOO_LARGE = "off-by-one", "the index of B_s is 1 row too large"
TOO_FAR = "loop-count", "the loop over a tile runs beyond it: A_s has 16 rows and 16 columns"


@pytest.mark.parametrize(("loop", "cause"), [
    (LOOP.replace("A_s[ty][i]", "A_s[ty][i + 1]"), A_TOO_LARGE),
    (LOOP.replace("B_s[i]", "B_s[i + 1]"), B_TOO_LARGE),
    (LOOP.replace("i <", "i <="), TOO_FAR),
    (TWO_LOOPS, A_TOO_LARGE),
    (BY_TWO.format("<=", "i + 1"), TOO_FAR),
    (BY_TWO.format("<", "i + 2"), None),
    # Both from 1 on: begins the loop one too late, or is 1 too much added to i?
    (LOOP.replace("int i = 0; i <", "int i = 1; i <="), None),
    (LOOP.replace("A_s[ty][i]", "A_s[ty][(i + phase) % 17]"), None),
], ids=["A + 1", "B + 1", "<=", "two loops", "by two", "by two, in one place", "from 1", "by phase"])
def test_cause(checker: Builder, tmp_path: Path, loop: str, cause: tuple[str, str] | None) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(replaced((REPOSITORY / TILED).read_text(), [LOOP, loop], TILED))
    finding = run_check(checker("gcc -O1", kernel), "--json", "--seed", 1).finding
    assert finding["kind"] == "shared-out-of-bounds"
    assert cause == (finding["cause"] and (finding["cause"]["name"], finding["cause"]["what"]))
