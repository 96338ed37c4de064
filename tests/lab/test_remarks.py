"""What `make check` remarks on a correct kernel: one thing that it could do better, with figures, and
nothing where a good kernel could object (which test_check.py looks at: it runs all that are right).

The figures are those of --counts, which test_counts.py checks. The kernels are 2_tiled.cu with an
edit, and some of the right ones.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checked import EACH_SETUP, TILED, Builder, run_check, shared_kernel
from conftest import REPOSITORY, sample

from instructor.faulty.mistakes import replaced

GCC = "gcc -O1"


LAST_LOOP = "        for (int i = 0"
STORE = "    if (row < m && col < n)\n"
BLOCKS_OF_X = "(n + TILE_SIZE - 1) / TILE_SIZE, "

# Columns by y: the tiles are stored as the threads lie, and used as they are stored.
EXCHANGED = ["tx = threadIdx.x, ty = threadIdx.y", "tx = threadIdx.y, ty = threadIdx.x"]
IN_THE_LOOP = [LAST_LOOP, f"        __syncthreads();\n{LAST_LOOP}"]
BEHIND_THE_LOOP = [STORE, f"    __syncthreads();\n{STORE}"]
TWO_BUFFERS = [
    "A_s[TILE_SIZE]", "A_s[2][TILE_SIZE]", "B_s[TILE_SIZE]", "B_s[2][TILE_SIZE]",
    "A_s[ty][tx]", "A_s[phase % 2][ty][tx]", "B_s[ty][tx]", "B_s[phase % 2][ty][tx]",
    "A_s[ty][i] * B_s[i][tx]", "A_s[phase % 2][ty][i] * B_s[phase % 2][i][tx]",
]  # fmt: skip
ONE_BLOCK_MORE = [BLOCKS_OF_X, "n / TILE_SIZE + 1, "]
PHASES_UP_TO_K = ["phase < (k + TILE_SIZE - 1) / TILE_SIZE", "phase < k"]
# Blocks that take one tile of C after the other. A barrier is between them, which the buffers need
# after an odd number of phases.
MANY_TILES = [
    *TWO_BUFFERS,
    "        __syncthreads(); /* everyone has read them before anyone loads the next ones */\n", "",
    "    int row =", "    for (int tile = blockIdx.y; tile * TILE_SIZE < m; tile += gridDim.y) {\n    int row =",
    "blockIdx.y * TILE_SIZE + ty", "tile * TILE_SIZE + ty",
    "        C[row * n + col] = sum;\n", "        C[row * n + col] = sum;\n    __syncthreads();\n    }\n",
]  # fmt: skip
# A last tile that is not whole has a part of the kernel for itself, and shared memory with it.
WHOLE_TILES_FIRST = [
    "(k + TILE_SIZE - 1) / TILE_SIZE; ++phase", "k / TILE_SIZE; ++phase",
    STORE, """    const int rest = k / TILE_SIZE * TILE_SIZE;
    __shared__ float C_s[TILE_SIZE][TILE_SIZE];
    C_s[ty][tx] = sum;
    __syncthreads();
    if (rest < k) {
        A_s[ty][tx] = row < m && rest + tx < k ? A[row * k + rest + tx] : 0.0f;
        B_s[ty][tx] = rest + ty < k && col < n ? B[(rest + ty) * n + col] : 0.0f;
        C_s[tx][ty] += 0.0f;
        __syncthreads();
        sum = C_s[ty][tx];
        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
    }
""" + STORE,
]  # fmt: skip


# Such intervals store to shared memory and load no input, and are no phases.
EXCHANGED_SUMS = [STORE, """    for (int i = 0; i < 8; ++i) {
        A_s[ty][tx] = sum;
        __syncthreads();
        sum = A_s[ty][TILE_SIZE - 1 - tx];
        __syncthreads();
    }
""" + STORE]
# Such blocks take as many tiles as there are: for small matrices there may be too many.
TWENTY_BLOCKS = [*MANY_TILES, "(m + TILE_SIZE - 1) / TILE_SIZE);", "20);"]


@pytest.fixture
def edited(checker: Builder, programs: Path) -> Callable[..., Path]:
    """Each built once."""
    def build(edits: list[str], setup: str = GCC) -> Path:
        text = replaced((REPOSITORY / TILED).read_text(), edits, TILED)
        name = f"remark {hashlib.sha256(text.encode()).hexdigest()[:16]}.cu"
        return checker(setup, shared_kernel(programs, name, text))

    return build


def remark(program: Path) -> Any:
    run = run_check(program, "--json", "--seed", 1)
    assert (run.status, run.finding) == (0, None), run
    found = run.json["remark"]
    if found:
        assert found.keys() == {"name", "file", "line", "what", "detail"}
        assert found["file"] == run.json["source"]["file"] and "" not in found["detail"]
    return found


def line_of(program: Path, found: Any, words: str, which: int = 0) -> int:
    text = (program.parent / found["file"]).read_text().splitlines()
    return [number for number, line in enumerate(text, 1) if words in line][which]


def expect(program: Path, name: str, words: str, which: int = 0) -> Any:
    """This remark at the line with these words, if there are several at number `which`."""
    found = remark(program)
    assert found and (found["name"], found["line"]) == (name, line_of(program, found, words, which)), found
    return found


def counted(program: Path) -> Any:
    return run_check(program, "--counts", "--json", "--seed", 1).json["counts"][0]


def counted_line(program: Path, line: int, memory: str) -> Any:
    return next(each["counted"] for each in counted(program)["lines"]
                if (each["line"], each["memory"]) == (line, memory))  # fmt: skip


# ---- each remark ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_loads_as_in_the_naive_kernel(checker: Builder, setup: str) -> None:
    program = checker(setup, "instructor/solutions/1_naive.cu")
    found = expect(program, "naive-loads", "A[row * k")
    loads = counted(program)["global"]
    assert loads["A"]["loads"]["elements"] == loads["B"]["loads"]["elements"] == 64 * 64 * 64
    assert found["what"] == "every element of A and of B is loaded 64 times"
    assert found["detail"][0].startswith("from global memory, as in the naive kernel; if")
    assert found["detail"][0].endswith("into shared memory, it would be 4 times")
    assert found["detail"][1].startswith("counted with m=64 k=64 n=64")


def test_loads_of_two_naive_launches(checker: Builder, tmp_path: Path) -> None:
    text = (REPOSITORY / "instructor/faulty/styles/naive.cu").read_text()
    launch = next(line for line in text.splitlines() if "<<<" in line)
    (tmp_path / "twice.cu").write_text(text.replace(launch, f"{launch}\n{launch}"))
    found = expect(checker(GCC, tmp_path / "twice.cu"), "naive-loads", "// load A")
    assert found["what"] == "every element of A and of B is loaded 128 times"
    assert "more often than in the naive kernel" in found["detail"][0]


def test_tiles_of_one_matrix_alone(checker: Builder) -> None:
    found = expect(checker(GCC, "tests/kernels/right/early_return_harmless.cu"), "naive-loads", "A[row * k")
    assert found["what"] == "every element of A is loaded 64 times"


def test_the_line_of_the_other_load(checker: Builder) -> None:
    program = checker(GCC, "instructor/faulty/styles/naive.cu")
    found = expect(program, "naive-loads", "// load A")
    assert found["detail"][0].startswith(f"B in line {line_of(program, found, '// load B')}, ")


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_x_counts_rows(edited: Callable[..., Path], setup: str) -> None:
    program = edited(EXCHANGED, setup)
    found = remark(program)
    assert found["name"] == "uncoalesced"
    lines = {line_of(program, found, "A[row * k"): ("A", "k"), line_of(program, found, "B[b_row"): ("B", "n")}
    matrix, columns = lines[found["line"]]
    percent = counted_line(program, found["line"], matrix)["coalesced_percent"]
    assert found["what"] == f"only {percent:g} % of the bytes that this line moves are used" and percent == 25
    assert f"threadIdx.x counts rows of {matrix} here" in found["detail"][0]
    assert f"load elements {columns} apart" in found["detail"][0]


def test_bank_conflicts(checker: Builder) -> None:
    program = checker(GCC, "tests/kernels/right/counts_transposed.cu")
    found = expect(program, "bank-conflicts", "A_s[tx][ty] =")
    worst = counted_line(program, found["line"], "shared")["worst_way"]
    assert found["what"] == f"{worst} threads of a warp store to one bank of shared memory" and worst == 32


@pytest.mark.parametrize("setup", EACH_SETUP)
@pytest.mark.parametrize(("edits", "which"), sample([
    (TWO_BUFFERS, 1), (IN_THE_LOOP, 0), (BEHIND_THE_LOOP, 2),
], every=3), ids=["two buffers", "twice", "behind the loop"])  # fmt: skip
def test_a_barrier_that_is_not_needed(edited: Callable[..., Path], setup: str, edits: list[str], which: int) -> None:
    """Of two that are each not needed without the other, either."""
    expect(edited(edits, setup), "unneeded-barrier", "__syncthreads();", which)


def test_more_blocks_than_c_needs(edited: Callable[..., Path]) -> None:
    program = edited(ONE_BLOCK_MORE)
    found = expect(program, "surplus-blocks", "<<<")
    launch = counted(program)
    assert (launch["blocks"], launch["blocks_without_stores"]) == (20, 4)
    assert found["what"] == "the grid has 20 blocks; 16 store elements of C"
    assert found["detail"][0].startswith("mysgemm<<<(5, 4), (16, 16)>>>: 80 x 64 threads")


def test_phases_that_load_nothing(edited: Callable[..., Path]) -> None:
    """One for each element along k, of which 60 are behind it."""
    found = expect(edited(PHASES_UP_TO_K), "idle-phases", "A_s[ty][tx] =")
    assert found["what"].startswith("60 of the 64 tile phases")


# ---- no remark -----------------------------------------------------------------------------------


@pytest.mark.parametrize("edits", [
    pytest.param(MANY_TILES, marks=pytest.mark.slow),  # by day TWENTY_BLOCKS has them
    WHOLE_TILES_FIRST, TWENTY_BLOCKS, EXCHANGED_SUMS,
], ids=["many tiles", "whole tiles first", "a grid that suits the GPU", "sums that threads exchange"])  # fmt: skip
def test_what_another_shape_or_kernel_needs(edited: Callable[..., Path], edits: list[str]) -> None:
    program = edited(edits)
    assert remark(program) is None
    assert (counted(program)["blocks_without_stores"] > 0) == (edits is TWENTY_BLOCKS)


def test_only_of_the_usual_shapes(checker: Builder) -> None:
    """Who asks for sizes or counts gets what was asked for."""
    program = checker(GCC, "instructor/solutions/1_naive.cu")
    assert run_check(program, "--json", "--fill", "counting").json["remark"]
    for arguments in ([64], ["--counts"], ["--indices"], ["--phases"]):
        run = run_check(program, *arguments)
        assert run.status == 0 and "remark" not in run.stdout, arguments
    wrong = run_check(checker(GCC, "instructor/faulty/01_first_barrier.cu"), "--json")
    assert (wrong.status, wrong.json["remark"]) == (1, None)


# ---- text ----------------------------------------------------------------------------------------


def test_where_it_is_printed(edited: Callable[..., Path]) -> None:
    run = run_check(edited(TWO_BUFFERS))
    text = replaced((REPOSITORY / TILED).read_text(), TWO_BUFFERS, TILED)
    line = 1 + text[:text.rindex("__syncthreads();")].count("\n")
    lines = run.stdout.splitlines()
    (at,) = [number for number, line in enumerate(lines) if "remark: " in line]
    assert run.status == 0 and run.stderr == ""
    assert lines[0].startswith("no mistakes found: ")
    assert lines[at - 1] == "    m=1100 k=40 n=2"
    assert lines[at].endswith(f".cu:{line}: remark: this __syncthreads() is not needed")
    assert all(each.startswith("    ") for each in lines[at + 1 : -1])
    assert lines[-1].startswith("next: make grade")
    assert max(len(each) for each in lines if each.startswith("    m")) <= 80
