"""Asynchronous copies under ./sgemm-check: what is found, what is not, and how they are counted.

Kernels with the usual mistakes are in instructor/faulty/20_*; here are small ones, for what these
do not show. Without the checker: tests/cuda/programs/async_copy.cu.
"""

from pathlib import Path

import pytest
from checked import Builder, Checked, run_check, shared_kernel

# A block of 16 threads, which computes C; then each does something with copies, in line 12. What, says m. Where that
# asks which block it is, there are more of them than workers.
KERNEL = """
#include <cuda_pipeline.h>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C,
                        float *scratch) {
    __shared__ __align__(16) float to[64];
    int t = threadIdx.x;
    for (int e = t; blockIdx.x == 0 && e < m * n; e += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += A[e / n * k + i] * B[i * n + e %% n];
        C[e] = sum;
    }
    %s
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    float *scratch;
    cudaMalloc(&scratch, 1000);
    mysgemm<<<%s, 16>>>(m, n, k, A, B, C, scratch);
    cudaFree(scratch);
}
"""
DONE = "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
BARRIERS = "for (int i = 0; i < 3; ++i) { to[32 + t] = i; __syncthreads(); }"
LOOK, LOOK_ASIDE = "if (to[t] > 9) __trap();", "if (to[15 - t] > 9) __trap();"


def copy(to: str, source: str, *bytes: int | str) -> str:
    return f"__pipeline_memcpy_async(&{to}, &{source}, {', '.join(map(str, bytes))});"


COPY = copy("to[t]", "A[t]", 4)
TO_RACE = {"kind": "shared-race", "element": "to[0]"}
FOUND = {  # what is done, some of the finding, and words of it
    "beyond A":
        (copy("to[t]", "A[m * k - 8 + t]", 4) + DONE,
         {"kind": "out-of-bounds", "variable": "A", "thread": [8, 0, 0]}, ""),
    "partly beyond A":
        (copy("to[t * 4]", "A[t ? 0 : m * k]", 16, 4) + DONE,
         {"kind": "out-of-bounds", "variable": "A", "thread": [0, 0, 0]}, ""),
    "beyond the shared array":
        ("float *far = to; far += t * 5;" + copy("*far", "A[t]", 4) + DONE,
         {"kind": "shared-out-of-bounds", "thread": [13, 0, 0]}, ""),
    "source not aligned":
        (copy("to[t * 4]", "A[t]", 16) + DONE,
         {"kind": "misaligned", "element": "A[0][1]"}, "not a multiple of 16"),
    "source not aligned, part zeros": (copy("to[t * 4]", "A[t]", 16, 8) + DONE, {"kind": "misaligned"}, ""),
    "destination not aligned":
        (copy("to[t]", "A[t * 4]", 16) + DONE,
         {"kind": "misaligned", "element": "to[1]"}, "not a multiple of 16"),
    "no such size": (copy("to[t]", "A[t]", 2) + DONE, {"kind": "kernel-fault"}, "copies 4, 8 or 16 bytes"),
    "from shared memory":
        ("to[t] = 0; __syncthreads();" + copy("to[t + 16]", "to[t]", 4) + DONE,
         {"kind": "kernel-fault"}, "reads global memory"),
    "from memory that holds nothing": (copy("to[t]", "scratch[t]", 4) + DONE, {"kind": "uninitialized-global"}, ""),
    "its own, read too early":
        (f"{COPY} __pipeline_commit(); {LOOK} {DONE}", TO_RACE | {"access": "read"}, "it began itself"),
    "its own, overwritten before it is there":
        (f"{COPY} to[t] = 0; {DONE}", TO_RACE | {"access": "write"}, "before writing"),
    "two to one element":
        (COPY + copy("to[t]", "A[0]", 4) + DONE, TO_RACE | {"access": "write"}, "before writing"),
    "in no group":
        (f"__pipeline_commit(); {COPY} __pipeline_wait_prior(0); {LOOK}", TO_RACE, "__pipeline_wait_prior"),
    "its own, where an atomic was, read too early":
        ("to[t] = 0; __syncthreads(); atomicAdd(&to[t], 1); __syncthreads();"
         f"{COPY} __pipeline_commit(); {LOOK} {DONE}", TO_RACE | {"access": "read"}, "it began itself"),
    "another's, of an earlier group than the reader's last one":
        (f"to[t] = 0; __syncthreads(); {COPY} __pipeline_commit(); {copy('to[t + 16]', 'A[t]', 4)}"
         f"__pipeline_commit(); __syncthreads(); {LOOK_ASIDE} {DONE}",
         {"kind": "shared-race", "element": "to[15]", "access": "read"}, "__pipeline_wait_prior"),
    "another's, of the reader's own third group":
        (f"to[t] = 0; __syncthreads(); __pipeline_commit(); __pipeline_commit(); {COPY} __pipeline_commit();"
         f"__syncthreads(); {LOOK_ASIDE} {DONE}",
         {"kind": "shared-race", "element": "to[15]", "access": "read"}, "__pipeline_wait_prior"),
    "another's, which is an earlier thread's and one group ahead of the reader's":
        (f"to[t] = 0; __syncthreads(); {copy('to[t + 16]', 'A[t]', 4)} __pipeline_commit();"
         f"if (t == 0) {COPY} __syncwarp(0xFFFF); if (t == 15) {LOOK_ASIDE} __syncwarp(0xFFFF); {DONE}",
         {"kind": "shared-race", "element": "to[0]", "access": "read"}, "overwrites it from the moment it begins"),
    "another's, where this thread has copied in an earlier block only":
        (f"if (blockIdx.x < gridDim.x - 1) {{ {COPY} {DONE} }} else {{ to[t] = 0; __syncthreads();"
         f"__pipeline_commit(); __pipeline_commit(); if (t > 7) {COPY} __pipeline_commit(); __syncthreads();"
         f"if (t < 8) {LOOK_ASIDE} {DONE} }}",
         {"kind": "shared-race", "element": "to[15]", "access": "read"}, "__pipeline_wait_prior"),
    "another's, of a group of which this thread has no copy":
        (f"{COPY} {DONE} {LOOK_ASIDE} __syncthreads(); if (t < 8) {COPY} __pipeline_commit();"
         f"__pipeline_wait_prior(1); __syncthreads(); if (t > 7) {LOOK_ASIDE} {DONE}",
         {"kind": "shared-race", "element": "to[0]", "access": "read"}, "wait for the copy"),
    "another's, of a group that this thread does not have":
        (f"{COPY} {DONE} {LOOK_ASIDE} __syncthreads(); if (t < 8) {{ {COPY} __pipeline_commit(); }}"
         f"__pipeline_wait_prior(1); __syncthreads(); if (t > 7) {LOOK_ASIDE} {DONE}",
         {"kind": "shared-race", "element": "to[0]", "access": "read"}, "wait for the copy"),
    "another's, behind so many fences that an epoch has no room for their number":
        ("to[t] = 0; __syncthreads(); for (int i = 0; i < 2200; ++i) { if (t == 0) __threadfence_block();"
         f"if (i == 1500) __syncwarp(0xFFFF); }} if (t == 0) {{ {COPY} __pipeline_commit();"
         f"__pipeline_wait_prior(0); }} if (t == 15) {LOOK_ASIDE} __syncthreads();",
         {"kind": "shared-race", "element": "to[0]", "access": "read"}, ""),
    "to where another stores in the same interval":
        (f"to[15 - t] = 0; {COPY} {DONE}",
         {"kind": "shared-race", "element": "to[7]", "thread": [8, 0, 0]}, "__syncthreads()"),
}  # fmt: skip
NOT_FOUND = [
    f"{COPY} __pipeline_commit(); __pipeline_wait_prior(0); {LOOK}",  # its own, after the wait
    f"{COPY} {DONE} {LOOK_ASIDE}",  # another's, after the barrier
    f"{COPY} {DONE} __syncthreads(); {COPY} {DONE}",  # once more to the same place
    f"{COPY} {DONE} to[t] = 0;",
    copy("to[t]", "A[1 << 28]", 4, 4) + DONE + LOOK_ASIDE,  # reads nothing
    f"if (t % 2) {COPY} else to[t] = 0; {DONE} {LOOK_ASIDE}",
    f"{COPY} __pipeline_commit(); {BARRIERS} {DONE} {LOOK_ASIDE}",  # on its way over them
    f"{COPY} if (t < 8) return; {DONE}",  # on its way when its thread returns
]
COUNTED = copy("to[t * 4]", "B[t * 4]", 16) + DONE + copy("to[t]", "B[t < 8 ? t : 0]", 4, "t < 8 ? 0 : 4") + DONE
BODIES = {
    8: COUNTED,
    33: " __syncthreads(); ".join(f"{{ {body} }}" for body in NOT_FOUND),  # one behind the other
    **{m: body for m, (body, *_) in enumerate(FOUND.values(), 34)},
}

BLOCKS = " + ".join(["1", *(f"1024 * (m == {m})" for m, body in BODIES.items() if "gridDim" in body)])


def run(checker: Builder, programs: Path, m: int, *arguments: object, setup: str = "gcc -O1") -> Checked:
    cases = " ".join(f"case {m}: {{ {body} }} break;" for m, body in BODIES.items())
    kernel = shared_kernel(programs, "copies.cu", KERNEL % (f"switch (m) {{ {cases} }}", BLOCKS))
    return run_check(checker(setup, kernel), "--json", "--seed", 1, m, *arguments)


def test_found(checker: Builder, programs: Path) -> None:
    """With the line of the copy, or of who touches what it is to bring."""
    for m, (name, (_, finding, said)) in enumerate(FOUND.items(), 34):
        got = run(checker, programs, m, 34, 34).finding
        assert got and {key: got[key] for key in finding} == finding, (name, got)
        assert said in " ".join([got["what"], *got["detail"], got["hint"] or ""]), (name, got)
        assert got["line"] == 12, (name, got)


@pytest.mark.parametrize("setup", ["gcc -O1", pytest.param("clang -O2", marks=pytest.mark.slow)])
def test_not_found(checker: Builder, programs: Path, setup: str) -> None:
    assert run(checker, programs, 33, 34, 34, setup=setup).finding is None


def test_counted_as_loads_and_stores(checker: Builder, programs: Path) -> None:
    """Each copy is a load from global memory and a store into shared memory, a vector is one
    request; of what is filled with zeros nothing is loaded."""
    counted = run(checker, programs, 8, 1, 64, "--counts").json["counts"][0]
    naive = 8 * 64  # loads of B for the product: k is 1, and a warp of 16 threads
    loads, stores = counted["global"]["B"]["loads"], counted["shared"]["stores"]
    assert loads["elements"] - naive == 16 * 4 + 8
    assert loads["requests"] - naive // 16 == 2
    assert (stores["elements"], stores["requests"]) == (16 * 4 + 16, 2)
    assert stores["conflicts"] == 0


def test_phases_show_what_has_arrived(checker: Builder) -> None:
    """An array has its values in the phase in which they arrive, not in that of the copies' call:
    when the first buffer is read, the second one's copies have begun."""
    program = checker("gcc -O1", "instructor/faulty/20_copied_over_readers.cu")  # one block is right
    text = run_check(program, "--phases", "--fill", "counting", 4, 40, 4).stdout
    shown = [table.splitlines()[1:6] for table in text.split("    As (32 x 16)")[1:]]
    first, second = ([row.split()[:5] for row in rows] for rows in shown)  # the first rows, and the last one
    assert first[0] == second[0] == ["1", "2", "3", "...", "16"]
    assert (first[-1], second[-1]) == (["-", "-", "-", "...", "-"], ["0", "0", "0", "...", "0"])
