"""The rungs of the ladder, instructor/solutions/: each is right at every shape, wherever the
matrices begin, from rung 4 on with every alpha and beta; and its head says what it is.

One program a rung (ladder/driver.h), which makes all of its calls one after the other: what one
call leaves behind, in a scratch array or a counter, is there for the next.

    intensity: 16 FLOP/byte

in a head is 2 m n k by the bytes that all threads' loads from global memory ask for, asynchronous
copies among them and stores left out, where m and n are whole tiles: what ./sgemm-check --counts
calls the elements of all loads, four bytes each.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from checked import Builder, run_check
from conftest import (
    REPOSITORY, RUN_SECONDS, UNSPACED, Tree, finished, locked, run_sgemm, sample,
)  # fmt: skip

from grader.build.parts import described
from grader.cases.read import load_suites

STARTER = REPOSITORY / "kernel.cu"
SOLUTIONS = REPOSITORY / "instructor" / "solutions"
LAST = SOLUTIONS / "9_every_shape"  # several files
RUNGS = [*sorted(SOLUTIONS.glob("*.cu")), LAST / "every_shape.cu"]
FIRST_WITH_SGEMM = 4  # the ones before have the signature that is handed out
FIRST_WITH_MODEL = 9  # takes its largest tiles, of which the head speaks, only for a longer k
each_rung = pytest.mark.parametrize("rung", RUNGS, ids=lambda path: path.stem)

# Where A, B and C begin, in floats behind a multiple of 16 bytes. Nowhere aligned; all; one not.
OFFSETS = [(1, 2, 3), (0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]

# m k n beyond the grader's: rows of whole vectors, with and without whole tiles; one more and one
# less than a tile of 64, 128 or 256; k over many phases, so that a sum may be split, or none.
MORE_SHAPES = [
    (36, 20, 44), (132, 12, 140), (64, 64, 64), (128, 16, 128), (129, 17, 127), (256, 32, 256),
    (255, 9, 257), (260, 36, 252), (64, 1000, 64), (65, 999, 63), (4, 4, 4), (2, 8, 2),
    (300, 8, 4), (4, 8, 300), (1, 1000, 1), (1, 7, 300), (300, 7, 1), (512, 24, 384),
]  # fmt: skip

SCALED_SHAPES = [(1, 1, 1), (34, 34, 34), (36, 20, 44), (129, 17, 127), (128, 64, 256),
                 (65, 999, 63)]
# 1.5 and -0.5; beta 0, where C holds NaN; alpha 0; C alone; nothing.
SCALED = [(1.5, -0.5), (2, 0), (0, -0.5), (0, 1), (0, 0), (1, 1)]

# How 4_register_tiles limits the rows of a launch.
MOST_BLOCKS = "65535 * TILE"


def shapes() -> list[tuple[int, int, int]]:
    cases = [case for suite in load_suites(described(), "all") for case in suite.cases]
    assert len(cases) >= 20
    return list(dict.fromkeys([*(tuple(case.params.values()) for case in cases), *MORE_SHAPES]))


def number_of(rung: Path) -> int:
    return int((LAST if rung.parent == LAST else rung).stem.split("_")[0])


def calls(scaled: bool) -> list[str]:
    """Lines for the driver. Every shape where nothing is aligned and where all is, and in one more
    place; with numbers whose sums are exact, too. `scaled`: also with alpha and beta."""
    lines = []

    def call(shape: tuple[int, int, int], fill: str, alpha: float, beta: float,
             offsets: tuple[int, int, int]) -> None:
        lines.append(" ".join(str(word) for word in (*shape, fill, alpha, beta, *offsets)))

    for number, shape in enumerate(shapes()):
        call(shape, "random", 1, 0, OFFSETS[0])
        call(shape, "random", 1, 0, OFFSETS[1])
        call(shape, "exact", 1, 0, OFFSETS[2 + number % 3])
    for shape in SCALED_SHAPES if scaled else []:
        for number, (alpha, beta) in enumerate(SCALED):
            call(shape, "random", alpha, beta, OFFSETS[number % 2])
    return lines


OPTIMIZE = "#pragma GCC optimize 1\n"  # or compiling takes longer than running


def program(tree: Tree, name: str, text: str) -> Path:
    """Built of this text, in the drivers' folder."""
    source = tree.write(f"tests/instructor/ladder/{name}", text)
    tree.make("program", "BACKEND=cpu", f"KERNEL={source.relative_to(tree.path)}", *UNSPACED)
    return tree.path / "build/program"


def run(program: Path, *arguments: str, lines: Sequence[str] = ()) -> str:
    """What it says."""
    done = finished([program, *arguments], input="".join(line + "\n" for line in lines), timeout=RUN_SECONDS)
    return f"{done.stdout}{done.stderr}".strip()


@pytest.mark.parametrize("rung", sample(RUNGS, every=8, start=3), ids=lambda path: path.stem)
def test_every_shape_alignment_alpha_and_beta(tree: Tree, rung: Path) -> None:
    lines, text = calls(scaled=number_of(rung) >= FIRST_WITH_SGEMM), rung.read_text()
    included = rung.relative_to(REPOSITORY)
    if MOST_BLOCKS in text:  # so that these shapes have more; the true ones are tried at night
        included = tree.write(f"build/{rung.name}", text.replace(MOST_BLOCKS, "5 * TILE")).relative_to(tree.path)
    driver = program(tree, rung.name, f"{OPTIMIZE}#define HAS_SGEMM {int('void sgemm(' in text)}\n"
                     f'#include "../../../{included}"\n#include "driver.h"\n')
    assert run(driver, lines=lines) == f"{len(lines)} calls"


@pytest.mark.slow
def test_what_other_gpus_would_run(tree: Tree) -> None:
    """How rung 8 shares depends on the machine; here all of it runs."""
    text = (REPOSITORY / "tests/instructor/ladder/even_shares.cu").read_text()
    assert run(program(tree, "even_shares.cu", text)) == "106 problems, 29 shared"


# ---- heads ---------------------------------------------------------------------------------------


def head_of(rung: Path) -> str:
    text = rung.read_text()
    assert text.startswith("/* ") and " */" in text, rung
    return text[: text.index("*/") + 2]


def intensity_of(rung: Path) -> float:
    said = re.findall(r"^ \* intensity: (\d+(?:\.\d+)?) FLOP/byte$", head_of(rung), re.MULTILINE)
    assert len(said) == 1, f"{rung.name}: a line ` * intensity: 8 FLOP/byte` in the first comment"
    return float(said[0])


@each_rung
def test_head(rung: Path) -> None:
    """What limits it, the two lines that programs read, and the functions."""
    head, text = head_of(rung), rung.read_text()
    assert re.search(r"\n \* intensity: [^\n]*\n \* loses:    (nothing|tiled) \*/$", head), rung.name
    assert re.search(r"\blimits?\b", head), f"{rung.name}: what limits it?"
    handed_out = re.search(r"^__global__ void mysgemm\(.*\)$", STARTER.read_text(), re.MULTILINE)
    assert handed_out
    if number_of(rung) < FIRST_WITH_SGEMM:
        assert handed_out[0] in text and "sgemm(m, n, k, 1.0f" not in text, rung.name
        assert text.count("\n") <= 64, f"{rung.name}: more than a page"
        return
    assert re.search(r"^void sgemm\(int m, int n, int k, float alpha, const float \*A, "
                     r"const float \*B,\s+float beta, float \*C\)$", text, re.MULTILINE), rung.name
    call = r"^\s+sgemm\(m, n, k, 1\.0f, A, B, 0\.0f, C\);$"
    assert re.search(call, text, re.MULTILINE), f"{rung.name}: basicSgemm is sgemm with 1 and 0"


@pytest.fixture
def two_cores() -> Iterator[None]:
    """As many multiprocessors has the CPU backend then, by which rungs 8 and 9 share out their work."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:2])
    yield
    os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize("rung", sample(RUNGS, every=3, start=1), ids=lambda path: path.stem)
@pytest.mark.usefixtures("two_cores")
def test_intensity_is_as_counted(checker: Builder, rung: Path) -> None:
    m, k, n = 256, 4096 if number_of(rung) == FIRST_WITH_MODEL else 32, 256
    checked = run_check(checker("gcc -O1", rung.relative_to(REPOSITORY)), "--counts", "--json", "--seed", 1, m, k, n)
    assert checked.status == 0, checked
    loads = checked.json["counts_sum"]["global"]["all"]["loads"]["elements"]
    assert 2 * m * n * k / (4 * loads) == pytest.approx(intensity_of(rung), rel=0.01)


# With an argument every_kernel.cu, without one driver.h.
LAST_RUNG = """
#define main every_kernel
#include "every_kernel.cu"
#undef main
#define main each_call
#define HAS_SGEMM 1
#include "driver.h"
#undef main
int main(int words, char **) { return words > 1 ? every_kernel() : each_call(); }
"""


@pytest.fixture(scope="module")
def last_rung(tree: Tree) -> Path:
    """The last rung as a submission is, in one file: compiled once, as it takes as long as ten others."""
    kept = tree.programs / "last rung"
    with locked(tree.programs / "last rung.lock"):
        if not kept.exists():
            tree.make("build/9_every_shape.cu")
            shutil.copy2(program(tree, "last_rung.cu", LAST_RUNG), kept)
    return kept


def test_the_last_rung_as_one_file(tree: Tree) -> None:
    """It includes no file beside it, and has all that they hold."""
    tree.make("build/9_every_shape.cu")
    text = (tree.path / "build/9_every_shape.cu").read_text()
    assert '#include "' not in text and "#pragma once" not in text
    for part in LAST.iterdir():
        behind = re.split(r'^(?:#include "|#pragma once).*\n', part.read_text(), flags=re.MULTILINE)
        assert text.count(behind[-1].strip()) == 1, part.name


@pytest.mark.slow  # half a minute of sums; by day test_solutions.py has the rungs below
def test_each_kernel_of_the_last_rung(last_rung: Path) -> None:
    assert run(last_rung, "every kernel") == "937 problems"


# More rows than a grid has rows of blocks, many columns, and a k that is long beside C.
EXTREME = ["1100001 1 3 exact 1 0 0 0 0", "520000 2 2 random 1.5 -0.5 1 2 3",
           "1 1 2000003 exact 1 0 0 0 0", "2 300000 3 random 1 0 0 0 0"]


@pytest.mark.slow
def test_the_last_rung_takes_all_shapes(last_rung: Path) -> None:
    """Wherever the matrices begin, and extreme ones."""
    lines = [*calls(scaled=True)[::20], *EXTREME]
    assert run(last_rung, lines=lines) == f"{len(lines)} calls"


@pytest.mark.slow
@pytest.mark.parametrize(("rung", "call"), [
    *((RUNGS[-1], call) for call in EXTREME), (RUNGS[FIRST_WITH_SGEMM - 1], f"{65535 * 64 + 17} 1 1 random")])
def test_extreme_shapes_in_sgemm(tree: Tree, rung: Path, call: str) -> None:
    m, k, n, fill, *_ = call.split()
    built = tree.build(rung.relative_to(REPOSITORY))
    assert run_sgemm(built, m, k, n, "--fill", fill, "--timeout", 100).status == 0


def test_the_ladder_has_no_gaps() -> None:
    """Numbered as it climbs; each rung asks global memory for no more than the one before."""
    assert MOST_BLOCKS in RUNGS[FIRST_WITH_SGEMM - 1].read_text()
    assert [number_of(rung) for rung in RUNGS] == list(range(1, len(RUNGS) + 1))
    assert len(RUNGS) >= 9
    climbed = [intensity_of(rung) for rung in RUNGS]
    assert climbed == sorted(climbed)
