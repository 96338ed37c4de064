"""engine/watch/detectors/unannounced.c: what the compiler does not announce to the checker is found all the same. (That
correct kernels are not accused, the tests of all of them say; an index that leads from one array to another,
test_first_finding.py.)"""

import platform
from pathlib import Path

import pytest
from checked import EACH_COMPILER, TILED, Builder, run_check, shared_kernel
from conftest import REPOSITORY, sample, slow_but

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has an audit")

UNANNOUNCED = '__attribute__((no_sanitize("thread")))'
HIDDEN = f"""__device__ {UNANNOUNCED} __noinline__ static float hidden(const float *p)
{{
    return *(volatile const float *)p;
}}
"""
COMPILERS = ["gcc -O1", "clang -O1"]
RUNS = 8
"""Blocks are drawn at random, and where in a block an audit begins."""


@pytest.mark.parametrize(("setup", "shape"), sample(
    [(setup, shape) for setup in COMPILERS for shape in ((34, 35, 36), (5, 100, 3))], every=4))
def test_a_kernel_without_announcements(checker: Builder, programs: Path, setup: str,
                                        shape: tuple[int, ...]) -> None:
    text = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
    kernel = shared_kernel(programs, "unannounced.cu",
                           text.replace("__global__ void", f"{UNANNOUNCED} __global__ void"))
    found = [run_check(checker(setup, kernel), "--json", *shape).finding for _ in range(RUNS)]
    assert {finding["kind"] for finding in found if finding} == {"unseen"}


# By k, what is done before the loop over the phases, and behind it. One load of one thread in each block;
# many announcements before it are of shared memory, which is never closed, or of stores, each of which faults.
ONE = "if (threadIdx.x == 3 && threadIdx.y == 2) sum += 0.0f * hidden(A);"
STORES = "if (row < m && col < n) for (int i = 0; i < {}; ++i) ((volatile float *)C)[row * n + col] = 1.0f;"
BEFORE = {
    32: ONE,
    33: "__shared__ volatile float busy[256];"
        "for (int i = 0; i < 150; ++i) busy[threadIdx.y * blockDim.x + threadIdx.x] = 1.0f;"
        f"{STORES.format(100)} __syncthreads(); {ONE}",
    34: f"{STORES.format(140)} __syncthreads(); {ONE}",
    # What one thread has announced explains nothing that others do.
    35: "if (threadIdx.x + threadIdx.y == 0) sum += 0.0f * A[0]; __syncthreads(); sum += 0.0f * hidden(A);",
    # Nor what has been done already.
    36: "sum += 0.0f * A[0]; for (int i = 0; i < 8; ++i) sum += 0.0f * hidden(A);",
}
LOOKS = "long long before = {0}(); sum += 0.0f * A[0]; if ({0}() - before != 1000) sum = -1.0f;"
CLOCKS, COPIES = 16, 38
# Of what is copied as a whole, a load of many parts is announced, then a store of as many, then both are made.
PIECES = """if (threadIdx.x + threadIdx.y == 0) {
        struct eight { float of[8]; } *all = (eight *)(C + row * n + col);
        for (int i = 0; i < 8; ++i) all[0].of[i] = 1.0f;
        all[1] = all[0];
        struct odd { char of[29]; } *bytes = (odd *)((char *)all + 1);
        bytes[1] = bytes[0];
    } __syncthreads();"""
BEHIND = {37: ONE, CLOCKS: f"{{ {LOOKS.format('clock64')} }} {LOOKS.format('clock')}"
                           "if (clock64() > 5 * 256 * 1000) sum = -1.0f;"}


@pytest.fixture(scope="session")
def kernel(programs: Path) -> Path:
    text = (REPOSITORY / TILED).read_text()
    for place, pieces in (("    for (int phase = 0;", {**BEFORE, COPIES: PIECES}), ("    if (row < m && col < n)\n        C[row", BEHIND)):
        assert text.count(place) == 1
        cases = "".join(f"    case {k}: {{ {piece} }} break;\n" for k, piece in pieces.items())
        text = text.replace(place, f"    switch (k) {{\n{cases}    }}\n{place}")
    return shared_kernel(programs, "audited.cu", text.replace("__global__ void", f"{HIDDEN}__global__ void"))


@pytest.mark.parametrize("setup", EACH_COMPILER)
@pytest.mark.parametrize("k", slow_but([*BEFORE, 37], lambda _, k: k in (33, 35, 36)))
def test_where_loads_are_counted_one_is_enough(checker: Builder, kernel: Path, setup: str, k: int) -> None:
    """One block is looked at from its first access to its last: in each run."""
    program = checker(setup, kernel)
    found = [run_check(program, "--json", "--counts", 32, k, 32).finding for _ in range(2)]
    assert [finding and finding["kind"] for finding in found] == ["unseen"] * 2
    lines = kernel.read_text().splitlines()
    assert {lines[finding["line"] - 1].strip() for finding in found} == {"return *(volatile const float *)p;"}


def test_no_clock_shows_that_memory_is_closed(checker: Builder, kernel: Path) -> None:
    """In a run of one block, which is looked at as a whole. Nor what other blocks have done."""
    for size in 16, 48:
        assert run_check(checker("gcc -O1", kernel), "--json", "--counts", size, CLOCKS, size).finding is None


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_copies_of_structs_are_announced(checker: Builder, kernel: Path, setup: str) -> None:
    for _ in range(2):
        assert run_check(checker(setup, kernel), "--json", "--counts", 32, COPIES, 32).finding is None


@pytest.mark.parametrize(("setup", "name"), sample(
    [(setup, name) for name in ("memcpy_pieces", "shared_struct", "async_stages", "shared_as_float4",
                                "lock_for_each_element", "turns_by_flag", "counts_divergent", "shared_ints_and_chars")
     for setup in COMPILERS], every=20))
def test_right_kernels_are_not_accused(checker: Builder, setup: str, name: str) -> None:
    program = checker(setup, REPOSITORY / f"tests/kernels/right/{name}.cu")
    for _ in range(3):
        assert run_check(program, "--json", "--counts", 48, 40, 36).finding is None
