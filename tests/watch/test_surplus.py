"""Grids with far more blocks than write anything: all that write are watched, and a sample of the
others (engine/watch/surplus.c). What is a mistake there is found all the same."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from checked import TILED, Builder, Checked, run_check, shared_kernel
from conftest import REPOSITORY, clean_environment, sample

from grader.text import grouped

GRID = "dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);"
A, B = "row < m && a_col < k ? A[row * k + a_col] : 0.0f", \
       "b_row < k && col < n ? B[b_row * n + col] : 0.0f"
STORE = "C[row * n + col] = sum;"
SECONDS = 300  # for what would hang

Edited = Callable[..., Path]


@pytest.fixture
def edited(checker: Builder, programs: Path) -> Edited:
    """The tiled solution with 30 x 30 blocks, or others, and with these pieces of text exchanged."""

    def build(*edits: tuple[str, str], grid: str = "30, 30") -> Path:
        text = (REPOSITORY / TILED).read_text()
        for before, after in [(GRID, f"dim3 grid({grid});"), *edits]:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        name = f"edited {hashlib.sha256(text.encode()).hexdigest()[:16]}.cu"
        return checker("gcc -O1", shared_kernel(programs, name, text))

    return build


def blocks_of(run: Checked) -> list[dict[str, int] | None]:
    return [shape["blocks"] for shape in run.json["checked"]]


GRIDS = {
    "80, 80": (6400, 9),
    "n, m": (34 * 34, 9),
    "3, 3, 2000": (18000, 9),
    "(1 << 14) + 3, 3": (3 * ((1 << 14) + 3), 9),
}
SILENT = [("int tx =", "if (blockIdx.x > 99 || blockIdx.z) return;\n    int tx =")]


@pytest.mark.parametrize("grid", sample(GRIDS, every=2))
def test_all_blocks_that_write_are_watched(edited: Edited, grid: str) -> None:
    program, (blocks, writing) = edited(*SILENT, grid=grid), GRIDS[grid]
    run = run_check(program, "--json", 34)
    (seen,) = blocks_of(run)
    assert run.status == 0 and seen and (seen["all"], seen["writing"]) == (blocks, writing)
    assert writing + 3 <= seen["watched"] <= writing + 29
    text = run_check(program, 34).stdout
    assert "every load and store of blocks that write was checked, and C is correct" in " ".join(text.split())
    assert f" of {grouped(blocks)} blocks watched: the {writing} that write, and a sample\n" in text


def test_of_few_blocks_all_are_watched(edited: Edited) -> None:
    run = run_check(edited(grid="20, 20"), "--json", 34)
    assert run.status == 0 and blocks_of(run) == [None]
    assert "every load and store was checked, and C is correct" in run_check(edited(grid="20, 20"), 34).stdout


@pytest.mark.parametrize("option", ["--counts", "--phases"])
def test_counts_are_of_all_blocks(edited: Edited, option: str) -> None:
    run = run_check(edited(), "--json", option, 34)
    assert blocks_of(run) == [None]
    assert run.json["counts"][0]["blocks_ended"] == 900


OUTSIDE = {
    # Of blocks that write nothing: what they do, which element is outside of what.
    "rows of A": ((A, "a_col < k ? A[row * k + a_col] : 0.0f"), "load from A beyond its last row"),
    "columns of B": ((B, "b_row < k ? B[b_row * n + col] : 0.0f"),
                     "load from B beyond its last column"),
    "in the last block": (("int tx =", "if (blockIdx.x + blockIdx.y == 58 && m == 34) "
                           "A_s[0][0] = A[m * k];\n    int tx ="),
                          "load from A beyond its last row"),
}


@pytest.mark.parametrize("where", sample(OUTSIDE, every=2))
def test_a_mistake_of_blocks_that_write_nothing(edited: Edited, where: str) -> None:
    edit, what = OUTSIDE[where]
    run = run_check(edited(edit), "--json")
    assert run.status == 1 and run.finding["what"] == what, run.json


@pytest.mark.parametrize(("edit", "kind"), sample([
    (("__syncthreads(); /* both", "/* both"), "shared-race"),
    ((STORE, STORE + "\n    if (row == 0 && col == 0) C[1] = sum;"), "global-race"),
    ((STORE, "C[row * n + col] += sum;"), "uninitialized-global"),
    ((STORE, "C[row * n + col] = sum + 1;"), "wrong-result"),
    (("if (row < m && col < n)\n", "if (row < m && col < n && blockIdx.x)\n"), "unwritten"),
    (("if (row < m && col < n)\n", "if (row < m && col < n || blockIdx.x == 29 && "
      "blockIdx.y == 11)\n"), "out-of-bounds"),
], every=3), ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_a_mistake_of_blocks_that_write(edited: Edited, edit: tuple[str, str], kind: str) -> None:
    run = run_check(edited(edit), "--json", 34)
    assert run.status == 1 and run.finding["kind"] == kind, run.json


def test_a_result_that_is_wrong_is_so_with_all_blocks(edited: Edited) -> None:
    """Nothing is said of C on account of blocks that were left out."""
    run = run_check(edited((STORE, "C[row * n + col] = sum + 1;")), "--json", 34)
    assert run.finding["kind"] == "wrong-result" and blocks_of(run) == [None]


HANDED_ON = """
    if (blockIdx.x == 20 && blockIdx.y == 20) { handed = 1; return; }
    if (blockIdx.x == 0 && blockIdx.y == 21) C[0] += handed - 1;
    int tx ="""


def test_blocks_that_write_to_variables_of_the_program(edited: Edited) -> None:
    """Which the memory's hardware does not see: of such a kernel all blocks are watched. Block (0, 21)
    has to see what block (20, 20) wrote."""
    run = run_check(edited(("#define TILE_SIZE 16\n", "#define TILE_SIZE 16\n__device__ int handed;\n"),
                           ("int tx =", HANDED_ON)), "--json", 34)
    assert blocks_of(run) == [None]
    assert run.finding and run.finding["kind"] == "global-race" and run.finding["line"]


def test_what_the_plain_run_prints_is_not_printed(edited: Edited) -> None:
    """It is the same as what the run under watch prints."""
    program = edited(("#define TILE_SIZE 16\n", "#include <stdio.h>\n#define TILE_SIZE 16\n"),
                     ("int tx =", 'if (!threadIdx.x && !threadIdx.y && !blockIdx.x && !blockIdx.y) '
                      'printf("here\\n");\n    int tx ='))
    assert run_check(program, 34).stdout.count("here\n") == 1


@pytest.mark.parametrize(("grid", "asked"), [("30, 30", 0), ("3, 3", 1)], ids=["large", "small"])
def test_one_plain_run_says_which_blocks_write_and_that_c_is_correct(
        edited: Edited, tmp_path: Path, grid: str, asked: int) -> None:
    """Then ./sgemm has nothing to add."""
    runs, plain = tmp_path / "runs", tmp_path / "plain"
    plain.write_text(f"#!/bin/sh\necho run >>'{runs}'\n")
    plain.chmod(0o755)
    runs.touch()
    assert run_check(edited(grid=grid), "--plain", plain, 34).status == 0
    assert len(runs.read_text().split()) == asked


def test_a_plain_run_with_a_wrong_c_is_heard(edited: Edited, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\nprintf 'TEST FAILED\\nas it says\\n'\n")
    plain.chmod(0o755)
    program = edited((STORE, "\n#ifdef __SANITIZE_THREAD__\n" + STORE + "\n#else\n"
                             "C[row * n + col] = 1;\n#endif\n"))
    run = run_check(program, "--plain", plain, 34)
    assert run.status == 1 and "as it says" in run.stdout, run.stdout


def test_nothing_goes_on_when_the_check_is_ended(edited: Edited, tmp_path: Path) -> None:
    """The plain run is a process of its own."""
    program = edited(("float sum = 0.0f;", "float sum = 0.0f;\n    for (volatile int i = 0; ; ++i) ;"))
    with subprocess.Popen([program, "34", "--timeout", "3000"], env=clean_environment(),
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          start_new_session=True) as process:
        while not any(name == "writers" for name, _ in processes(process.pid)):
            assert process.poll() is None
        (writers,) = (pid for name, pid in processes(process.pid) if name == "writers")
        os.killpg(process.pid, signal.SIGKILL)
    while Path(f"/proc/{writers}/stat").exists() and " Z " not in stat_of(writers):
        pass


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


ENDLESS = [("++phase)", "phase += 0)"), (A, "A[row * k + a_col + m * k]")]


def test_an_endless_loop_with_an_index_outside_ends_soon(checker: Builder, tmp_path: Path) -> None:
    """Not only when a block has had all its time: here 50 minutes."""
    text = (REPOSITORY / TILED).read_text()
    for before, after in ENDLESS:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path = tmp_path / "edited.cu"
    path.write_text(text)
    program = checker("gcc -O1", path)
    ran = subprocess.run([program, "--timeout", "3000"], env=clean_environment(), text=True,
                         cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         timeout=SECONDS, check=False)
    line = 1 + text[:text.index(ENDLESS[1][1])].count("\n")
    assert ran.returncode == 1
    assert ran.stdout.startswith(f"edited.cu:{line}: load from A beyond its last row"), ran.stdout
