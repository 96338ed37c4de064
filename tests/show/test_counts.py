"""./sgemm-check --counts and --phases: what a kernel loads and stores, exactly.

Two sources say what is right: formulas (2 m n k loads for the naive kernel, and what tiles save), and what
Nsight Compute read from the counters of an H200 for the same kernels (docs/look.md names them). A failure
here means that a student is told a number that is not so.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from checked import EACH_SETUP, SETUPS, Builder, Checked, run_check, shared_kernel
from conftest import REPOSITORY, first_of_each, in_terminal, sample, screen, slow_but
from corpus import faulty

from instructor.faulty.mistakes import replaced

NAIVE = "instructor/solutions/1_naive.cu"
TILED = "instructor/solutions/2_tiled.cu"
COPIES = "tests/kernels/right/memcpy_pieces.cu"
STYLES = "instructor/faulty/styles"
GCC = "gcc -O1"


def right(name: str) -> str:
    return f"tests/kernels/right/{name}.cu"


def counts(program: Path, *args: object, **options: Any) -> Any:
    """The one launch of a run, and the sums, which are the same."""
    run = run_check(program, "--counts", "--json", "--seed", 1, *args, **options)
    assert run.status == 0, run
    assert len(run.json["counts"]) == 1, run
    launch, total = run.json["counts"][0], run.json["counts_sum"]
    assert launch["blocks_ended"] == launch["blocks"]
    for key in ("global", "shared", "barriers", "loads_if_once_per_block"):
        assert launch[key] == total[key], key
    return launch | total


def ways(counted: Any, *keys: str) -> dict[str, tuple[Any, ...]]:
    """Loads and so on, as tuples of these figures; what did not happen is left out."""
    return {way: tuple(figures[key] for key in keys) for way, figures in counted.items() if figures["requests"]}


# ---- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setup", "kernel", "size", "loads", "naive"),
    first_of_each([
        (GCC, NAIVE, 64, 524_288, 524_288),
        *((setup, right("small_tiles"), 4, 64, 128) for setup in SETUPS),
        (GCC, f"{STYLES}/tiles_32.cu", 4, 32, 128),
        *((setup, COPIES, 64, 524_288, 524_288) for setup in SETUPS),
    ], family=lambda values: values[1:]),
)
def test_loads_against_the_naive_kernel(checker: Builder, setup: str, kernel: str, size: int, loads: int,
                                        naive: int) -> None:
    found = counts(checker(setup, kernel), size)
    assert found["global"]["all"]["loads"]["elements"] == loads
    assert found["loads_naive"] == found["flops"] == naive
    assert found["global"]["C"]["stores"]["elements"] == size * size
    if kernel not in (NAIVE, COPIES):
        assert found["loads_if_once_per_block"] == loads


def ceil(a: int, b: int) -> int:
    return -(-a // b)


@pytest.mark.parametrize("shape", [(34, 34, 34), (35, 70, 20), (3, 9, 41), (1, 1, 1)])
@pytest.mark.parametrize(("kernel", "tile"), [(NAIVE, 16), (TILED, 16), (right("small_tiles"), 7)])
def test_edges(checker: Builder, kernel: str, tile: int, shape: tuple[int, int, int]) -> None:
    """A block needs its rows of A and its columns of B, as far as there are any."""
    m, k, n = shape
    found = counts(checker(GCC, kernel), *shape)
    needed = k * (m * ceil(n, tile) + n * ceil(m, tile))
    loads = 2 * m * n * k if kernel == NAIVE else needed
    assert found["loads_if_once_per_block"] == needed
    assert found["global"]["all"]["loads"]["elements"] == loads
    blocks = ceil(m, tile) * ceil(n, tile)
    per_block = 0 if kernel == NAIVE else 2 * ceil(k, tile)
    assert found["blocks"] == blocks and found["barriers"] == blocks * per_block
    assert found["barriers_per_block"] == [per_block, per_block]
    if tile == 16:  # each warp has two rows
        sectors = [{((row + y) * n + x) // 8 for y in (0, 1) if row + y < m for x in range(col, min(col + 16, n))}
                   for row in range(0, m, 2) for col in range(0, n, 16)]
        assert found["global"]["C"]["stores"]["sectors"] == sum(map(len, sectors))


# ---- what a GPU counted --------------------------------------------------------------------------

# Nsight Compute on an H200, 64 64 64: requests, sectors and percent of loads and of stores; then
# shared bank conflicts of loads and of stores; then shared store instructions. (Its shared loads are
# fewer than those of the source: nvcc joins neighboring ones.)
H200 = {
    right("counts_column_major"): ((16_384, 270_336, 12.5), (128, 4_096, 12.5), 0, 0, 0),
    right("counts_transposed"): ((512, 2_048, 100), (128, 512, 100), 0, 7_936, 512),
    "padded": ((512, 2_048, 100), (128, 512, 100), 0, 0, 512),
    right("counts_float4"): ((256, 2_560, 100), (32, 512, 100), 0, 0, 256),
    right("counts_divergent"): ((32_768, 81_920, 42.5), (128, 512, 100), 0, 0, 0),
    right("small_tiles"): ((3_800, 21_920, 46.72), (190, 1_096, 46.72), 0, 0, 4_000),
    right("split_k"): ((16_384, 32_768, 56.25), (0, 0, None), 0, 0, 0),
    f"{STYLES}/tiles_32.cu": ((512, 2_048, 100), (128, 512, 100), 0, 0, 512),
}


ALONE = right("counts_divergent"), "padded"
"""No other test needs these, and to build one takes most of the time."""


@pytest.mark.parametrize("kernel", slow_but([*H200], lambda _, kernel: kernel not in ALONE),
                         ids=lambda kernel: Path(kernel).stem)
def test_against_a_gpu(checker: Builder, programs: Path, kernel: str) -> None:
    """counts_transposed.cu with one column more, padded, stores what a warp stores into 32 banks."""
    loads, stores, load_conflicts, store_conflicts, shared_stores = H200[kernel]
    source: str | Path = kernel
    if kernel == "padded":
        text = (REPOSITORY / right("counts_transposed")).read_text()
        source = shared_kernel(programs, "padded.cu", text.replace("[TILE_SIZE];", "[TILE_SIZE + 1];", 1))
    found = counts(checker(GCC, source), 64)
    for way, (requests, sectors, percent) in (("loads", loads), ("stores", stores)):
        got = found["global"]["all"][way]
        assert (got["requests"], got["sectors"]) == (requests, sectors), way
        assert got["coalesced_percent"] == (percent and pytest.approx(percent, abs=0.005)), way
    assert found["shared"]["loads"]["conflicts"] == load_conflicts
    assert found["shared"]["stores"]["conflicts"] == store_conflicts
    assert found["shared"]["stores"]["requests"] == shared_stores


# ---- particular accesses -------------------------------------------------------------------------


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_a_float4_is_one_access(checker: Builder, setup: str) -> None:
    """With either compiler, though to a compiler it is a struct of four floats."""
    found = counts(checker(setup, right("counts_float4")), 64)
    keys = ("elements", "requests", "sectors")
    assert ways(found["global"]["A"], *keys) == {"loads": (4_096, 128, 512)}
    assert ways(found["global"]["B"], *keys) == {"loads": (16_384, 128, 2_048)}
    assert ways(found["global"]["C"], *keys) == {"stores": (4_096, 32, 512)}
    assert found["shared"]["stores"]["elements"] == 20_480
    assert found["shared"]["loads"]["elements"] == 327_680  # and no flag of gcc's


FLOAT4_FORMS = """
__constant__ float4 weights[2] = {{1, 0, 0, 0}, {0, 1, 0}};
struct pair { float4 first; float2 second; };
union either { float4 whole; float part[4]; };
__device__ float sum(const float4 &v) { return v.x + v.y + v.z + v.w; }
__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

__global__ void copy(const float *from, float *to, float4 by_value)
{
    __shared__ float4 tile[2][2];
    __shared__ pair pairs[2];
    __shared__ int2 numbers[4];
    const float4 *in = reinterpret_cast<const float4 *>(from);
    float4 *out = (float4 *)to;

    float4 v = in[0];                                        /* load 1 */
    tile[0][1] = in[1];                                      /* load 2 */
    pairs[1].first = in[2];                                  /* load 3 */
    float4 braces = {v.x, v.y, v.z, v.w}, some = {1, 2}, none = {}, zero = {0.0f};
    const float4 constant = float4{sum(tile[0][1]), 1, 2, 3};
    either e;
    e.whole = in[3];                                         /* load 4 */
    numbers[1] = make_int2(1, 2);
    float4 parts[2] = {in[4], make_float4(0, 0, 0, 1)};      /* load 5 */
    out[0] = braces;                                         /* store 1 */
    out[1] = float4{constant.x, constant.y, constant.z, constant.w + zero.x};
    out[2] = make_float4(sum_of(pairs[1].first), e.part[3], parts[0].z + weights[1].y, 0);
    out[3] = from[0] > 0 ? some : none;
    out[4] = by_value;                                       /* store 5 */
    *(float2 *)(to + 20) = *(const float2 *)(from + 20);     /* load and store 6 */
}

"""
LAUNCH = """    float *to;
    cudaMalloc((void **)&to, 32 * sizeof(float));
    copy<<<1, 1>>>(A, to, make_float4(1, 2, 3, 4));
    cudaFree(to);
"""


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_vectors_as_students_write_them(checker: Builder, setup: str, tmp_path: Path) -> None:
    kernel = tmp_path / f"float4_forms_{setup.replace(' ', '')}.cu"
    kernel.write_text(replaced((REPOSITORY / NAIVE).read_text(), [
        "void basicSgemm(", f"{FLOAT4_FORMS}void basicSgemm(", "    mysgemm<<<", f"{LAUNCH}    mysgemm<<<"], NAIVE))
    run = run_check(checker(setup, kernel), "--counts", "--json", 8)
    assert run.status == 0, run
    copy = run.json["counts"][0]
    assert copy["kernel"] == "copy"
    loads = copy["global"]["A"]["loads"]
    # from[0] > 0 is a load of its own; 5 of float4, 1 of float2
    assert (loads["requests"], loads["elements"]) == (7, 23)
    stores = copy["global"]["other"]["stores"]
    assert (stores["requests"], stores["elements"]) == (6, 22)


def test_atomics_are_counted_once(checker: Builder) -> None:
    """atomicAdd of floats is a loop of compare-and-swaps in the emulator."""
    found = counts(checker(GCC, right("split_k")), 64)
    assert ways(found["global"]["C"], "elements", "requests", "sectors") == {"atomics": (3 * 64 * 64, 384, 1_536)}


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_a_byte_of_an_element_counts_as_one(checker: Builder, setup: str, tmp_path: Path) -> None:
    kernel = tmp_path / "bytes.cu"
    kernel.write_text(replaced((REPOSITORY / NAIVE).read_text(), [
        "float sum = 0.0f;", "float sum = ((const unsigned char *)A)[2] == 255 ? 1 : 0;"], NAIVE))
    found = counts(checker(setup, kernel), 32)
    assert found["global"]["A"]["loads"]["elements"] == 32 * 32 * 32 + 32 * 32


def test_two_launches(checker: Builder) -> None:
    """Of which the second loads each element of C twice: each block its row, and the last one all."""
    program = checker(GCC, right("last_block_volatile"))
    run = run_check(program, "--counts", "--json", 64)
    assert [(each["kernel"], each["global"]["C"]["loads"]["elements"]) for each in run.json["counts"]] == [
        ("mysgemm", 0), ("negate", 2 * 64 * 64)]
    assert [each["global"]["all"]["loads"]["elements"] for each in (run.json["counts"][0], run.json["counts_sum"])] == [
        2 * 64 * 64 * 64, 2 * 64 * 64 * 64 + 2 * 64 * 64]
    text = run_check(program, "--counts", 64).stdout
    assert "\nnegate<<<64, 64>>>: 64 blocks of 64 threads\n" in text and "\nall 2 launches\n" in text


def test_a_thread_far_ahead_of_its_warp_waits(checker: Builder) -> None:
    """A thread of the naive kernel makes 20,000 loads without a barrier: more than are held."""
    found = counts(checker(GCC, NAIVE), 4, 10_000, 16)
    assert ways(found["global"]["A"], "requests", "sectors") == {"loads": (20_000, 40_000)}
    assert ways(found["global"]["B"], "requests", "sectors") == {"loads": (20_000, 40_000)}


def test_any_number_of_cores_counts_the_same(checker: Builder) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    program = checker(GCC, right("split_k"))
    one = next(iter(os.sched_getaffinity(0)))
    alone = counts(program, 130, 70, 90, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
    assert counts(program, 130, 70, 90) == alone


def test_lines_where_there_is_something_to_gain(checker: Builder) -> None:
    found = counts(checker(GCC, right("counts_transposed")), 64)
    text = (REPOSITORY / right("counts_transposed")).read_text()
    line = 1 + next(i for i, line in enumerate(text.splitlines()) if "A_s[tx][ty] = " in line)
    (gain,) = found["lines"]
    assert (gain["file"], gain["line"]) == (right("counts_transposed"), line)
    assert (gain["memory"], gain["way"]) == ("shared", "stores")
    assert (gain["counted"]["conflicts"], gain["counted"]["worst_way"]) == (7_936, 32)
    assert counts(checker(GCC, TILED), 64)["lines"] == []


# ---- findings ------------------------------------------------------------------------------------


def test_the_elements_loaded_come_first(checker: Builder) -> None:
    """Before the launches; and the naive kernel is not sent to the grader: its tiles are to come."""
    program = checker(GCC, NAIVE)
    lines = run_check(program, "--counts").stdout.splitlines()
    assert lines[3:5] == ["", "elements loaded from global memory, m=64 k=64 n=64"]
    assert lines[6].endswith("   the same") and not any(line.startswith("next: ") for line in lines)
    shown = run_check(program).stdout
    assert "remark: every element of A and of B is loaded" in shown and "next: " not in shown


def test_a_finding_comes_first(checker: Builder) -> None:
    program = checker(GCC, faulty("04_a_columns"))
    run = run_check(program, "--counts", 34)
    assert "04_a_columns.cu:" in run.stdout.splitlines()[0] and "\nstopped early: " in run.stdout, run.stdout
    found = run_check(program, "--counts", "--json", 34).json
    assert found["finding"]["kind"] == "out-of-bounds"
    assert found["counts"][0]["blocks_ended"] < found["counts"][0]["blocks"]


def test_a_race_is_told_while_counting(checker: Builder) -> None:
    program = checker(GCC, faulty("02_second_barrier"))
    plain = run_check(program, "--json", "--seed", 1, 34).finding
    assert run_check(program, "--json", "--seed", 1, "--counts", 34).finding == plain
    assert ": race on shared memory\n" in run_check(program, "--seed", 1, "--phases", 34).stdout


# ---- text ----------------------------------------------------------------------------------------


def test_the_table(checker: Builder) -> None:
    text = run_check(checker(GCC, TILED), "--counts").stdout  # 64 64 64, without sizes
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for expected in (
        "mysgemm<<<(4, 4), (16, 16)>>>: 64 x 64 threads (x, y)",
        "global memory elements requests sectors coalesced",
        "loads of A 16,384 512 2048 100.0 %",
        "all loads 32,768 1024 4096 100.0 %",
        "stores of C 4096 128 512 100.0 %",
        "shared memory elements requests conflicts worst",
        "loads 524,288 16,384 0 none",
        "barriers 128 in all, 8 per block",
        "this kernel 32,768",
        "the naive kernel, 2 m n k 524,288 16 times as many",
        "if each block loaded each element once 32,768 the same",
        "floating-point operations per byte 3.56",
    ):
        assert expected in lines, f"{expected}\n{text}"
    assert "could gain most" not in text


def test_one_element_for_a_warp_is_a_broadcast(checker: Builder) -> None:
    """The naive kernel's A; columns are not, in which each thread of a warp has its own element."""
    naive = run_check(checker(GCC, NAIVE), "--counts", 34).stdout
    assert re.search(r"loads of A .* broadcast\n", naive) and "a broadcast from each" in " ".join(naive.split())
    assert re.search(r"loads of B .* 65.7 %\n", naive)


@pytest.mark.parametrize("option", ["--counts", "--indices", "--phases"])
def test_text_fits(checker: Builder, option: str) -> None:
    """80 columns, and a terminal of 60: what is said beside a number is below it there, and a table below another;
    nothing else differs."""
    program = checker(GCC, TILED)
    wide, narrow = run_check(program, option).stdout, screen(in_terminal(program, option, columns=60))
    assert all(len(line) <= 80 and line == line.rstrip() or ".cu:" in line for line in wide.splitlines()), wide
    assert max(map(len, narrow)) <= 60, narrow
    said = [re.sub(r"[\d.]+ s\)", "", text).split() for text in (" ".join(narrow), wide)]
    assert sorted(said[0]) == sorted(said[1]) if option == "--phases" else said[0] == said[1]


# ---- phases --------------------------------------------------------------------------------------

PHASES_BY_HAND = """
    A                   B
       1   2   3   4       1   2   3   4
       5   6   7   8       5   6   7   8
       9  10  11  12       9  10  11  12
      13  14  15  16      13  14  15  16

phase 0 of 2
    A: rows 0-1, columns 0-1: 4 loads
    B: rows 0-1, columns 0-1: 4 loads
    A_s       B_s
      1  2      1  2
      5  6      5  6
    sums so far
      11  14
      35  46

phase 1 of 2
    A: rows 0-1, columns 2-3: 4 loads
    B: rows 2-3, columns 0-1: 4 loads
    A_s       B_s
      3  4       9  10
      7  8      13  14
    sums so far
       90  100
      202  228

C: the block stores rows 0 to 1, columns 0 to 1
    C
       90  100
      202  228
    C[0][0] = 1*1 + 2*5 + 3*9 + 4*13 = 90
"""


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_phases_of_a_small_product(checker: Builder, setup: str) -> None:
    text = run_check(checker(setup, right("small_tiles")), "--phases", 4).stdout
    assert PHASES_BY_HAND in text, text
    assert "block (0,0) of mysgemm<2>, 2 x 2 threads, m=4 k=4 n=4" in text


PHASES_OF_ANOTHER_BLOCK = """
phase 0 of 2
    A: rows 2-3, columns 0-1: 4 loads
    B: rows 0-1, columns 2-3: 4 loads
    A_s         B_s
       9  10      3  4
      13  14      7  8
    sums so far
       97  116
      137  164

phase 1 of 2
    A: rows 2-3, columns 2-3: 4 loads
    B: rows 2-3, columns 2-3: 4 loads
    A_s         B_s
      11  12      11  12
      15  16      15  16
    sums so far
      398  440
      542  600

C: the block stores rows 2 to 3, columns 2 to 3
    C
      398  440
      542  600
    C[2][2] = 9*3 + 10*7 + 11*11 + 12*15 = 398
"""


def phases(program: Path, *args: object) -> str:
    run: Checked = run_check(program, "--phases", *args)
    assert run.status == 0, run
    return run.stdout


def test_phases_of_another_block(checker: Builder) -> None:
    program = checker(GCC, right("small_tiles"))
    assert PHASES_OF_ANOTHER_BLOCK in phases(program, "--block", "1,1", 4)
    refused = run_check(program, "--phases", "--json", 4)
    assert refused.status == 2 and refused.json["message"].startswith("--phases prints no JSON")


@pytest.mark.parametrize(
    ("kernel", "size", "count"),
    sample([(TILED, 34, 3), (f"{STYLES}/tiles_32.cu", 34, 2), (f"{STYLES}/dynamic.cu", 34, 3),
            (f"{STYLES}/prefetch.cu", 34, 3), (right("counts_transposed"), 34, 2), (NAIVE, 4, 1)], every=5),
)  # fmt: skip
def test_phases_of_other_kernels(checker: Builder, kernel: str, size: int, count: int) -> None:
    """Without sizes: so large that there are several, if there ever are. What has been loaded by
    the last phase makes the block's part of C."""
    text = phases(checker(GCC, kernel))
    assert f"threads, m={size} k={size} n={size}\n" in text
    *_, last, stored = re.split(r"\n\n(?=phase|C: )", text.rstrip())
    assert last.startswith(f"phase {count - 1} of {count}\n")
    sums, values = ([float(word) for line in re.findall(r"^ {6,}(.*)", table, re.MULTILINE) for word in line.split()
                     if word != "..."] for table in (last.split("sums so far")[1], stored))
    assert values[:len(sums)] == pytest.approx(sums, rel=1e-6)
    tile = size if kernel == NAIVE else 32 if "32" in kernel or "transposed" in kernel else 16
    ranges = [(first, min(first + tile, size) - 1) for first in range(0, size, tile)]
    for array, pattern in (("A", r"A: rows \S+, columns"), ("B", "B: rows")):
        assert re.findall(rf"\n    {pattern} (\d+-\d+)", text) == [f"{first}-{last}" for first, last in ranges], array
    assert ("nothing is stored in shared memory" in text) == (kernel == NAIVE)


def test_a_block_that_is_not_there(checker: Builder) -> None:
    program = checker(GCC, TILED)
    for block in ("7,0", "0,9"):
        assert "No tile phases: that block loads nothing of A or B." in phases(program, "--block", block, 34)
    for bad in ("1", "x,1", "1,2,"):
        assert f"--block '{bad}' is wrong" in run_check(program, "--phases", "--block", bad).stderr


def test_fill_counting_is_the_default_of_phases_only(checker: Builder) -> None:
    program = checker(GCC, right("small_tiles"))
    assert phases(program, "--fill", "ones-twos", 4).count("      8  8\n") == 4
    assert run_check(program, "--json", "--counts", "--fill", "counting", 4).status == 0
