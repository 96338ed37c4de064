"""Grids with far more blocks than write anything: all that write are watched, and a sample of the
others (engine/watch/surplus.c). What is a mistake there is found all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from checked import TILED, Builder, Checked, run_check, shared_kernel
from conftest import REPOSITORY, clean_environment, sample

from grader.text import grouped

GRID = "dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);"
START = "    int tx ="
A, B = "row < m && a_col < k ? A[row * k + a_col] : 0.0f", \
       "b_row < k && col < n ? B[b_row * n + col] : 0.0f"
GUARD, STORE = "    if (row < m && col < n)\n", "C[row * n + col] = sum;"
SECONDS = 300  # for what would hang

GRIDS = {  # by n, which says which one it is: its blocks, and how many of them write, of 34 rows
    34: ("30, 30", 900, 9),
    35: ("80, 80", 6400, 9),
    36: ("n, m", 34 * 36, 9),
    37: ("3, 3, 2000", 18000, 9),
    38: ("(1 << 14) + 3, 3", 3 * ((1 << 14) + 3), 9),
    39: ("20, 20", 400, 0),  # all are watched
}
RIGHT, FEW = 34, 39
(NO_BARRIER, A_ROWS, B_COLUMNS, LAST_BLOCK, TWO_STORE, ADDS, WRONG, NOT_ALL, STRAY,
 WRONG_IN_PLAIN, PRINTS, ENDLESS, FAR_AND_ENDLESS) = range(RIGHT + 1, RIGHT + 14)
"""What the kernel does where m is that number."""

EDITS = [
    (GRID, f"dim3 grid{GRID.removeprefix('dim3 grid').removesuffix(';')};\n"
     + "".join(f"    if (n == {n}) grid = dim3({grid});\n" for n, (grid, *_) in GRIDS.items())),
    ("#define TILE_SIZE 16\n", "#include <stdio.h>\n#define TILE_SIZE 16\n#ifdef __SANITIZE_THREAD__\n"
     "#define PLAIN 0\n#else\n#define PLAIN 1\n#endif\n"),
    (START, f"""
    if (blockIdx.x > 99 || blockIdx.z) return;
    if (m == {LAST_BLOCK} && blockIdx.x + blockIdx.y == 58) A_s[0][0] = A[m * k];
    if (m == {PRINTS} && !threadIdx.x && !threadIdx.y && !blockIdx.x && !blockIdx.y) printf("here\\n");
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
def program(checker: Builder, programs: Path) -> Path:
    return checker("gcc -O1", shared_kernel(programs, "surplus blocks.cu", edited(*EDITS)))


def blocks_of(run: Checked) -> list[dict[str, int] | None]:
    return [shape["blocks"] for shape in run.json["checked"]]


@pytest.mark.parametrize("n", sample([n for n in GRIDS if n != FEW], every=3, start=1))
def test_all_blocks_that_write_are_watched(program: Path, n: int) -> None:
    _, blocks, writing = GRIDS[n]
    run = run_check(program, "--json", RIGHT, 34, n)
    (seen,) = blocks_of(run)
    assert run.status == 0 and seen and (seen["all"], seen["writing"]) == (blocks, writing)
    assert writing + 3 <= seen["watched"] <= writing + 29
    text = run_check(program, RIGHT, 34, n).stdout
    assert "every load and store of blocks that write was checked, and C is correct" in " ".join(text.split())
    assert f" of {grouped(blocks)} blocks watched: the {writing} that write, and a sample\n" in text


def test_of_few_blocks_all_are_watched(program: Path) -> None:
    run = run_check(program, "--json", RIGHT, 34, FEW)
    assert run.status == 0 and blocks_of(run) == [None]
    assert "every load and store was checked, and C is correct" in run_check(program, RIGHT, 34, FEW).stdout


@pytest.mark.parametrize("option", sample(["--counts", "--phases"], every=2))
def test_counts_are_of_all_blocks(program: Path, option: str) -> None:
    run = run_check(program, "--json", option, 34)
    assert blocks_of(run) == [None]
    assert run.json["counts"][0]["blocks_ended"] == 900


@pytest.mark.parametrize(("m", "what"), sample([
    (A_ROWS, "load from A beyond its last row"), (B_COLUMNS, "load from B beyond its last column"),
    (LAST_BLOCK, "load from A beyond its last row"),
], every=2))  # fmt: skip
def test_a_mistake_of_blocks_that_write_nothing(program: Path, m: int, what: str) -> None:
    run = run_check(program, "--json", m, 34, 34)
    assert run.status == 1 and run.finding["what"] == what, run.json


@pytest.mark.parametrize(("m", "kind"), sample([
    (NO_BARRIER, "shared-race"), (TWO_STORE, "global-race"), (ADDS, "uninitialized-global"),
    (WRONG, "wrong-result"), (NOT_ALL, "unwritten"), (STRAY, "out-of-bounds"),
], every=3))  # fmt: skip
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


def test_blocks_that_write_to_variables_of_the_program(checker: Builder, tmp_path: Path) -> None:
    """Which the memory's hardware does not see: of such a kernel all blocks are watched. Block (0, 21)
    has to see what block (20, 20) wrote."""
    path = tmp_path / "kernel.cu"
    path.write_text(edited((GRID, "dim3 grid(30, 30);"), (START, HANDED_ON),
                           ("#define TILE_SIZE 16\n", "#define TILE_SIZE 16\n__device__ int handed;\n")))
    run = run_check(checker("gcc -O1", path), "--json", 34)
    assert blocks_of(run) == [None]
    assert run.finding and run.finding["kind"] == "global-race" and run.finding["line"]


def test_what_the_plain_run_prints_is_not_printed(program: Path) -> None:
    """It is the same as what the run under watch prints."""
    assert run_check(program, PRINTS, 34, 34).stdout.count("here\n") == 1


@pytest.mark.parametrize(("n", "asked"), [(34, 0), (FEW, 1)], ids=["large", "small"])
def test_one_plain_run_says_which_blocks_write_and_that_c_is_correct(
        program: Path, tmp_path: Path, n: int, asked: int) -> None:
    """Then ./sgemm has nothing to add."""
    runs, plain = tmp_path / "runs", tmp_path / "plain"
    plain.write_text(f"#!/bin/sh\necho run >>'{runs}'\n")
    plain.chmod(0o755)
    runs.touch()
    assert run_check(program, "--plain", plain, RIGHT, 34, n).status == 0
    assert len(runs.read_text().split()) == asked


def test_a_plain_run_with_a_wrong_c_is_heard(program: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\nprintf 'TEST FAILED\\nas it says\\n'\n")
    plain.chmod(0o755)
    run = run_check(program, "--plain", plain, WRONG_IN_PLAIN, 34, 34)
    assert run.status == 1 and "as it says" in run.stdout, run.stdout


def test_nothing_goes_on_when_the_check_is_ended(program: Path) -> None:
    """The plain run is a process of its own."""
    with subprocess.Popen([program, str(ENDLESS), "34", "34", "--timeout", "3000"],
                          env=clean_environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          start_new_session=True) as process:
        while not any(name == "writers" for name, _ in processes(process.pid)):
            assert process.poll() is None
            time.sleep(0.005)
        (writers,) = (pid for name, pid in processes(process.pid) if name == "writers")
        os.killpg(process.pid, signal.SIGKILL)
    while Path(f"/proc/{writers}/stat").exists() and " Z " not in stat_of(writers):
        time.sleep(0.005)


def stat_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return " Z "


def processes(session: int) -> list[tuple[str, int]]:
    """Their names, and numbers, of this session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        name, _, rest = stat_of(int(path.name)).partition("(")[2].rpartition(")")
        if rest and name is not None and rest.split()[3] == str(session):
            words = (path / "cmdline").read_bytes().split(b"\0")
            found.append((words[0].decode(), int(path.name)))
    return found


def test_an_endless_loop_with_an_index_outside_ends_soon(program: Path) -> None:
    """Not only when a block has had all its time: here 50 minutes."""
    ran = subprocess.run([program, str(FAR_AND_ENDLESS), "34", "40", "--timeout", "3000"],
                         env=clean_environment(), text=True, cwd=program.parent, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, timeout=SECONDS, check=False)
    assert ran.returncode == 1
    text = edited(*EDITS)
    line = 1 + text[:text.index("A[row * k")].count("\n")
    assert f"surplus blocks.cu:{line}: load from A beyond its last row" in " ".join(ran.stdout.split()), ran.stdout


def test_an_endless_loop_behind_a_race_ends_soon(program: Path) -> None:
    """Where no size is given."""
    ran = subprocess.run([program, "--timeout", "40"], env=clean_environment(), text=True, cwd=program.parent,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=35, check=False)
    assert ran.returncode == 1 and "race on shared memory" in ran.stdout, ran.stdout
