"""Grids with far more blocks than write anything: all that write are watched, and a sample of the
others (engine/watch/surplus.c). What is a mistake there is found all the same."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from checked import TILED, Builder, Checked, check_command, run_check, shared_kernel
from conftest import REPOSITORY, UNSPACED, Tree, clean_environment, script, slow_but

GRID = "dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);"
START = "    int tx ="
A, B = "row < m && a_col < k ? A[row * k + a_col] : 0.0f", \
       "b_row < k && col < n ? B[b_row * n + col] : 0.0f"
GUARD, STORE = "    if (row < m && col < n)\n", "C[row * n + col] = sum;"

GRIDS = {  # by n, which says which one it is: its blocks, and how many of them write, of 34 rows
    34: ("30, 30", 900, 9),
    35: ("80, 80", 6400, 9),
    36: ("30, 30", 16 * 900, 16 * 9),  # in 17 launches: of no more than 16 it is noted which blocks write
    37: ("3, 3, 200", 1800, 9),
    38: ("(1 << 14) + 3, 3", 3 * ((1 << 14) + 3), 9),
    39: ("20, 20", 400, 0),  # all are watched
}
RIGHT, MANY_LAUNCHES, FEW = 34, 36, 39
(NO_BARRIER, A_ROWS, B_COLUMNS, LAST_BLOCK, TWO_STORE, ADDS, WRONG, NOT_ALL, STRAY,
 WRONG_IN_PLAIN, PRINTS, ENDLESS, FAR_AND_ENDLESS) = range(RIGHT + 1, RIGHT + 14)
"""What the kernel does where m is that number."""

EDITS = [
    (GRID, f"dim3 grid{GRID.removeprefix('dim3 grid').removesuffix(';')};\n"
     + "".join(f"    if (n == {n}) grid = dim3({grid});\n" for n, (grid, *_) in GRIDS.items())),
    ("#define TILE_SIZE 16\n", "#include <stdio.h>\n#define TILE_SIZE 16\n#define PLAIN !__tsan_init\n"
     'extern "C" __device__ void __tsan_init(void) __attribute__((weak));\n'),
    ("    mysgemm<<<", f"    for (int i = n == {MANY_LAUNCHES} ? 17 : 1; i > 0; --i)\n        mysgemm<<<"),
    (START, f"""
    if (blockIdx.x > 99 || blockIdx.z) return;
    if (m == {LAST_BLOCK} && blockIdx.x + blockIdx.y == 58) A_s[0][0] = A[m * k];
    if (m == {PRINTS} && !threadIdx.x && !threadIdx.y) printf("here\\n");
    if (m == {ENDLESS}) for (volatile int i = 0; ; ++i) ;
{START}"""),
    ("++phase)", f"phase += m != {FAR_AND_ENDLESS})"),
    (A, f"(row < m || m == {A_ROWS}) && a_col < k ? A[row * k + a_col + (m == {FAR_AND_ENDLESS} ? m * k : 0)] : 0.0f"),
    (B, f"b_row < k && (col < n || m == {B_COLUMNS}) ? B[b_row * n + col] : 0.0f"),
    ("__syncthreads(); /* both", f"if (m != {NO_BARRIER}) __syncthreads(); /* both"),
    (GUARD, f"    if (row < m && col < n && (m != {NOT_ALL} || blockIdx.x) ||\n"
     f"        m == {STRAY} && blockIdx.x == 29 && blockIdx.y == 11)\n"),
    (STORE, f"""{{
        if (m == {NO_BARRIER} && k == 70) for (volatile int i = 0; ; ++i) ; // of the usual shapes
        if (m == {ADDS}) sum += C[row * n + col];
        C[row * n + col] = m == {WRONG_IN_PLAIN} && PLAIN ? 1 : m == {WRONG} ? sum + 1 : sum;
        if (m == {TWO_STORE} && row == 0 && col == 0) C[1] = sum;
    }}"""),
]


def edited(*edits: tuple[str, str]) -> str:
    """The tiled solution with these pieces of text exchanged."""
    text = (REPOSITORY / TILED).read_text()
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def program(whole_checker: Builder, programs: Path) -> Path:
    return whole_checker("gcc -O1", shared_kernel(programs, "surplus blocks.cu", edited(*EDITS)))


def blocks_of(run: Checked) -> list[dict[str, int] | None]:
    return [shape["blocks"] for shape in run.json["checked"]]


def test_all_blocks_that_write_are_watched(program: Path) -> None:
    for n, (_, blocks, writing) in GRIDS.items():
        run = run_check(program, "--json", RIGHT, 34, n)
        (seen,) = blocks_of(run)
        assert run.status == 0, run
        if n == FEW:
            assert seen is None
            continue
        assert seen and (seen["all"], seen["writing"]) == (blocks, writing)
        assert writing + 3 <= seen["watched"] <= writing + (16 * 29 if n == MANY_LAUNCHES else 29)


def test_the_program_is_made_when_it_is_asked_for(tree: Tree) -> None:
    """`make check` of the usual sizes does not pay for it; and it is not asked about another kernel.cu."""
    (tree.path / "own.cu").write_text(edited(*EDITS))
    made, text = (tree.path / "build" / name for name in ("check/writers", "cpu/kernel.ii"))
    made.unlink(missing_ok=True)
    tree.make("sgemm-check", "KERNEL=own.cu", "BACKEND=cpu", *UNSPACED)
    program = tree.path / "sgemm-check"
    assert blocks_of(run_check(program, "--json", RIGHT, 34, FEW)) == [None] and not made.exists()
    (seen,) = blocks_of(run_check(program, "--json", RIGHT, 34, 34))
    assert seen and seen["writing"] == 9 and made.exists()
    made.rename(made.with_name("other"))
    os.utime(text)
    assert blocks_of(run_check(program, "--json", RIGHT, 34, 34)) == [None] and not made.exists()
    own = tree.path / "own.cu"
    own.write_text(own.read_text() + "// another one\n")
    tree.make("sgemm-check", "KERNEL=own.cu", "BACKEND=cpu", *UNSPACED)
    shutil.copy2(made.with_name("other"), made)
    os.utime(made)
    assert blocks_of(run_check(program, "--json", RIGHT, 34, 34)) == [None], "of another kernel.cu"


def test_which_blocks_were_watched_is_said(program: Path) -> None:
    for n, of_blocks in ((35, " of blocks that write"), (FEW, "")):
        said = run_check(program, RIGHT, 34, n).stdout
        assert f"every load and store{of_blocks} was checked, and C is correct" in " ".join(said.split())
        assert (" of 6400 blocks watched: the 9 that write, and a sample\n" in said) == (n == 35)


def test_counts_are_of_all_blocks(program: Path) -> None:
    run = run_check(program, "--json", "--counts", 34)
    assert blocks_of(run) == [None]
    assert run.json["counts"][0]["blocks_ended"] == 900


@pytest.mark.parametrize(("m", "what"), slow_but([
    (A_ROWS, "load from A beyond its last row"), (B_COLUMNS, "load from B beyond its last column"),
    (LAST_BLOCK, "load from A beyond its last row"),
], lambda _, value: value[0] == LAST_BLOCK))  # fmt: skip
def test_a_mistake_of_blocks_that_write_nothing(program: Path, m: int, what: str) -> None:
    run = run_check(program, "--json", m, 34, 34)
    assert run.status == 1 and run.finding["what"] == what, run.json


@pytest.mark.parametrize(("m", "kind"), slow_but([
    (NO_BARRIER, "shared-race"), (TWO_STORE, "global-race"), (ADDS, "uninitialized-global"),
    (WRONG, "wrong-result"), (NOT_ALL, "unwritten"), (STRAY, "out-of-bounds"),
], lambda _, value: value[0] in (ADDS, WRONG)))  # fmt: skip
def test_a_mistake_of_blocks_that_write(program: Path, m: int, kind: str) -> None:
    """Nothing is said of C on account of blocks that were left out."""
    run = run_check(program, "--json", m, 34, 34)
    assert run.status == 1 and run.finding["kind"] == kind, run.json
    if m == WRONG:
        assert blocks_of(run) == [None]


HANDED_ON = """
    if (blockIdx.x == 20 && blockIdx.y == 20) { handed = 1; return; }
    if (blockIdx.x == 0 && blockIdx.y == 21) C[0] += handed - 1;
    int tx ="""


def test_blocks_that_write_to_variables_of_the_program(whole_checker: Builder, programs: Path) -> None:
    """Which the memory's hardware does not see: of such a kernel all blocks are watched. Block (0, 21)
    has to see what block (20, 20) wrote."""
    kernel = shared_kernel(programs, "handed on.cu", edited(
        (GRID, "dim3 grid(30, 30);"), (START, HANDED_ON),
        ("#define TILE_SIZE 16\n", "#define TILE_SIZE 16\n__device__ int handed;\n")))
    run = run_check(whole_checker("gcc -O1", kernel), "--json", 34)
    assert blocks_of(run) == [None]
    assert run.finding and run.finding["kind"] == "global-race" and run.finding["line"]


def test_blocks_that_are_watched_print(program: Path) -> None:
    """No others run; and what the plain run prints is not printed."""
    said = run_check(program, PRINTS, 34, 34).stdout
    prints = said.count("here\n")
    assert prints < 40 and f": {prints} of 900 blocks watched: the 9 that write" in said, said


def plain_program(folder: Path, does: str) -> Path:
    return script(folder / "plain", does)


def test_one_plain_run_says_which_blocks_write_and_that_c_is_correct(program: Path, tmp_path: Path) -> None:
    """Then ./sgemm has nothing to add."""
    runs = tmp_path / "runs"
    plain = plain_program(tmp_path, f"echo run >>'{runs}'")
    for n, asked in ((34, 0), (FEW, 1)):
        runs.write_text("")
        assert run_check(program, "--plain", plain, RIGHT, 34, n).status == 0
        assert len(runs.read_text().split()) == asked


def test_a_plain_run_with_a_wrong_c_is_heard(program: Path, tmp_path: Path) -> None:
    plain = plain_program(tmp_path, "printf 'TEST FAILED\\nas it says\\n'")
    run = run_check(program, "--plain", plain, WRONG_IN_PLAIN, 34, 34)
    assert run.status == 1 and "as it says" in run.stdout, run.stdout


def test_nothing_goes_on_when_the_check_is_ended(program: Path) -> None:
    """The plain run is a process of its own."""
    with subprocess.Popen(check_command(program, ENDLESS, 34, 34, "--timeout", 3000),
                          env=clean_environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          start_new_session=True) as process:
        while b"writers" not in names_in(process.pid):
            assert process.poll() is None
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
    while names_in(process.pid):
        time.sleep(0.005)


def names_in(session: int) -> list[bytes]:
    """Of its processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, its_session, *_ = (path / "stat").read_text().rpartition(")")[2].split()
            if its_session == str(session) and state != "Z":
                found.append((path / "cmdline").read_bytes().split(b"\0")[0])
    return found


def test_an_endless_loop_with_an_index_outside_ends_soon(program: Path) -> None:
    """Not only when a block has had all its time: here 50 minutes."""
    said = run_check(program, FAR_AND_ENDLESS, 34, 40, "--timeout", 3000).stdout
    text = edited(*EDITS)
    line = 1 + text[:text.index("A[row * k")].count("\n")
    assert f"surplus blocks.cu:{line}: load from A beyond its last row" in " ".join(said.split()), said


def test_an_endless_loop_behind_a_race_ends_soon(program: Path) -> None:
    """Where no size is given."""
    assert "race on shared memory" in run_check(program, "--timeout", 40).stdout
