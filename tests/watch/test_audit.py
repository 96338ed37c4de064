"""engine/watch/detectors/unannounced.c: what the compiler does not announce to the checker is found all the same. (That
correct kernels are not accused, the tests of all of them say.)"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, run_check
from conftest import REPOSITORY, sample


@pytest.fixture(scope="session")
def checker(lean_checker: Builder) -> Builder:
    return lean_checker


pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has an audit")

NAIVE = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
TILED = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
UNANNOUNCED = '__attribute__((no_sanitize("thread")))'
HIDDEN = f"""__device__ {UNANNOUNCED} __noinline__ static float hidden(const float *p)
{{
    return *(volatile const float *)p;
}}
"""
COMPILERS = ["gcc -O1", "clang -O1"]
RUNS = 8
"""Blocks are drawn at random, and where in a block an audit begins."""


def findings(program: Path, *args: object) -> list[tuple[str, int]]:
    """Kinds and lines, of several runs."""
    runs = [run_check(program, "--json", *args) for _ in range(RUNS)]
    assert {run.status for run in runs} <= {0, 1}
    return [(run.finding["kind"], run.finding["line"]) for run in runs if run.finding]


def with_hidden(text: str, before: str, put: str) -> str:
    """`put` once before `before`."""
    assert text.count(before) == text.count("__global__ void") == 1
    text = text.replace(before, put + before)
    return text.replace("__global__ void", HIDDEN + "__global__ void")


def test_an_index_that_leads_far_away(checker: Builder) -> None:
    cheat = REPOSITORY / "instructor/cheats/39_zero_length_array.cu"
    lines = cheat.read_text().splitlines()
    here = next(i for i, line in enumerate(lines, 1) if "<- here" in line)
    found = findings(checker("gcc -O1", cheat), 34, 35, 36)
    assert len(found) > RUNS / 2 and {*found} == {("unseen", here)}


@pytest.mark.parametrize(("setup", "shape"), sample(
    [(setup, shape) for setup in COMPILERS for shape in ((34, 35, 36), (5, 100, 3))], every=4))
def test_a_kernel_without_announcements(checker: Builder, setup: str, shape: tuple[int, ...],
                                        tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    assert NAIVE.count("__global__ void") == 1
    path.write_text(NAIVE.replace("__global__ void", f"{UNANNOUNCED} __global__ void"))
    found = findings(checker(setup, path), *shape)
    assert found and {kind for kind, _ in found} == {"unseen"}


# One load of one thread in each block; many announcements before it are of shared memory, which is
# never closed, or of stores, each of which faults.
ONE = "    if (threadIdx.x == 3 && threadIdx.y == 2) sum += 0.0f * hidden(A); // here\n"
MANY_SHARED = """    __shared__ volatile float busy[256];
    for (int i = 0; i < 150; ++i) busy[threadIdx.y * blockDim.x + threadIdx.x] = 1.0f;
    if (row < m && col < n)
        for (int i = 0; i < 100; ++i) ((volatile float *)C)[row * n + col] = 1.0f;
    __syncthreads();
"""
MANY_STORES = """    if (row < m && col < n)
        for (int i = 0; i < 140; ++i) ((volatile float *)C)[row * n + col] = 1.0f;
    __syncthreads();
"""
PLACES = {"at the beginning": ("    for (int phase = 0;", ONE),
          "behind 38400 announcements": ("    for (int phase = 0;", MANY_SHARED + ONE),
          "behind 35840 stores": ("    for (int phase = 0;", MANY_STORES + ONE),
          "at the end": ("    if (row < m && col < n)\n        C[row", ONE)}


@pytest.mark.parametrize("setup", EACH_COMPILER)
@pytest.mark.parametrize("place", sample([*PLACES], every=4, start=1))
def test_where_loads_are_counted_one_is_enough(checker: Builder, setup: str, place: str,
                                               tmp_path: Path) -> None:
    """One block is looked at from its first access to its last: in each run."""
    path = tmp_path / "kernel.cu"
    text = with_hidden(TILED, *PLACES[place])
    path.write_text(text)
    program = checker(setup, path)
    found = [run_check(program, "--json", "--counts", 32, 32, 32).finding for _ in range(3)]
    assert [finding and finding["kind"] for finding in found] == ["unseen"] * 3
    assert {text.splitlines()[finding["line"] - 1].strip() for finding in found} == {
        "return *(volatile const float *)p;"}


@pytest.mark.parametrize("setup", EACH_COMPILER)
@pytest.mark.parametrize("put", [
    # What one thread has announced explains nothing that others do.
    "    if (threadIdx.x + threadIdx.y == 0) sum += 0.0f * A[0];\n    __syncthreads();\n"
    "    sum += 0.0f * hidden(A);\n",
    # Nor what has been done already.
    "    sum += 0.0f * A[0];\n    for (int i = 0; i < 8; ++i) sum += 0.0f * hidden(A);\n",
], ids=["of another thread", "again and again"])
def test_an_announcement_explains_only_its_own_accesses(checker: Builder, setup: str, put: str,
                                                        tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(with_hidden(TILED, "    for (int phase = 0;", put))
    run = run_check(checker(setup, path), "--json", "--counts", 32, 32, 32)
    assert run.finding and run.finding["kind"] == "unseen"


@pytest.mark.parametrize(("setup", "name"), sample(
    [(setup, name) for name in ("memcpy_rows", "memcpy_pieces", "shared_struct", "async_stages",
                                "float4_throughout", "lock_for_each_element", "turns_by_flag",
                                "counts_divergent", "shared_ints_and_chars")
     for setup in COMPILERS], every=20))
def test_right_kernels_are_not_accused(checker: Builder, setup: str, name: str) -> None:
    program = checker(setup, REPOSITORY / f"tests/kernels/right/{name}.cu")
    for _ in range(3):
        assert run_check(program, "--json", "--counts", 48, 40, 36).finding is None


def test_no_clock_shows_that_memory_is_closed(checker: Builder, tmp_path: Path) -> None:
    """In a run of one block, which is looked at as a whole."""
    path = tmp_path / "kernel.cu"
    looks = "    long long before = {0}();\n    sum += 0.0f * A[0];\n" \
            "    if ({0}() - before != 1000) sum = -1.0f;\n"
    path.write_text(with_hidden(TILED, "    if (row < m && col < n)\n        C[row",
                                looks.format("clock64")
                                + looks.format("clock").replace("before", "then")))
    assert run_check(checker("gcc -O1", path), "--json", "--counts", 16, 16, 16).finding is None
