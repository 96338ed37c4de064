"""`make check` names the mistakes that students make, at the line, however the kernel is written:
each mistake of instructor/faulty/mistakes.toml in each of its styles.

A failure here means that a student is shown a symptom, or another mistake than the one made. The
styles themselves are right: test_check.py.
"""

from pathlib import Path
from typing import Any

import pytest
from checked import Builder, run_check
from conftest import sample
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
}


@pytest.mark.parametrize("name", WITHOUT_CAUSE)
def test_no_other_mistake_is_named(checker: Builder, tmp_path: Path, name: str) -> None:
    style, edits, kind, hint = WITHOUT_CAUSE[name]
    shape = [] if hint else [34]
    finding = finding_of(checker, tmp_path, style, edits, *shape)
    assert (finding["kind"], finding["cause"]) == (kind, None) and hint in finding["hint"], finding
    assert name != "store beyond C" or finding["access"] == "write"
