"""Which finding a run is reported with: the first, be it a call that failed, except that what no GPU
could do, or what hides from the checker, does not hide behind an earlier mistake (event.c)."""

from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, run_check, shared_kernel

KERNEL = """#include <string.h>
__device__ float mine[4];
__device__ const struct { float one, far[0]; } constants = {1.0f};
__host__ __device__ void copy(float *to, int bytes) { strncpy((char *)to, "four", bytes); }

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float *other;
    float few[2] = {1.0f, 2.0f};
    const long far = A - &constants.one;
    const int two = 2 * threadIdx.x;
    float sum = 0;
    for (int phase = 0; m == 3 && phase < k; phase += 4) {
        for (int i = phase + two; i < phase + two + 2 && i < k; ++i) sum += A[i];
        __syncthreads();
    }
    if (threadIdx.x == 0) other = few;
    if (m >= 2 && threadIdx.x == 0) C[0] = few[k] + sum;
    __syncthreads();
    if (n == 1 && threadIdx.x == 1) C[1] = *other;
    if (n == 2 && threadIdx.x == 1) mine[1 << 13] = 1.0f;
    if (n == 3 && threadIdx.x == 1) copy(C + 1, k + m);
    if (n == 4 && threadIdx.x == 1) C[1] = constants.far[far - 1];
    __syncthreads();
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<1, 2>>>(m, n, k, A, B, C);
}
"""
GRAVE = ["foreign-local", "tampering", "host-function", "unseen"]
"""Found where n is 1, 2, ...; where m is 2, another mistake comes before; where m is 3, phases, too."""


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_what_is_grave_does_not_hide_behind_a_mistake(checker: Builder, programs: Path, setup: str) -> None:
    program = checker(setup, shared_kernel(programs, "findings.cu", KERNEL))
    for n, kind in enumerate(GRAVE, 1):
        if (setup, kind) == ("clang -O1", "unseen"):
            continue  # clang announces the load
        alone, after = (run_check(program, "--json", m, 2, n).finding for m in (1, 2))
        assert alone["kind"] == kind and (after["kind"], after["line"]) == (kind, alone["line"])
        assert kind != "unseen" or f"n == {n}" in KERNEL.splitlines()[alone["line"] - 1]
    assert run_check(program, "--json", 2, 2, len(GRAVE) + 1).finding["kind"] == "local-out-of-bounds"


def test_how_wide_tiles_are_says_the_first_thread_that_loads_on(checker: Builder, programs: Path) -> None:
    """The last ones have less to load at the edge."""
    found = run_check(checker("gcc -O1", shared_kernel(programs, "findings.cu", KERNEL)), "--json", 3, 7, 5).finding
    assert (found["kind"], found["phase"], found["phases"]) == ("local-out-of-bounds", 1, 2)


CALLS = """
__global__ void mysgemm(float *C, int i)
{
    float few[2] = {1.0f, 2.0f};
    C[threadIdx.x] = few[i + threadIdx.x]; // index
}
__global__ void reads(float *C, const float *from) { C[0] = from[0]; } // no value
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    if (m == 1) cudaFree((void *)7);
    if (m == 2) mysgemm<<<0, 1>>>(C, 0);
    if (m == 3) cudaFree((void *)7), cudaGetLastError();
    if (m == 4) mysgemm<<<1, 1>>>(C, k), cudaFree((void *)7);
    float *p = nullptr;
    if (m >= 6 && m <= 8) cudaMalloc(&p, 8);
    if (m == 6) cudaMemcpy(p, A, 16, cudaMemcpyDeviceToDevice);
    if (m == 7) cudaMemset(p, 0, 16);
    if (m == 8) cudaFree((void *)7);
    if (m >= 6 && m <= 8) cudaGetLastError(), reads<<<1, 1>>>(C, p), cudaFree(p);
    if (m == 9) cudaFree(C);
    if (m == 10) cudaDeviceReset();
    if (m == 13) cudaMemset((void *)B, 0, 4);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (m == 11) cudaStreamDestroy(stream), mysgemm<<<1, 1, 0, stream>>>(C, k);
    if (m == 12) cudaMemsetAsync(C, 0, 4, (cudaStream_t)0x1234);
    mysgemm<<<1, 1>>>(C, k);
    if (m == 5) cudaFree((void *)7);
}
"""
CALLED = {1: ("failed-call", "m == 1"), 2: ("bad-launch", "m == 2"), 6: ("failed-call", "m == 6"),
          7: ("failed-call", "m == 7"), 8: ("uninitialized-global", "// no value"), 9: ("freed-memory", "m == 9"),
          10: ("freed-memory", "m == 10"), 11: ("failed-call", "m == 11"), 12: ("failed-call", "m == 12"),
          13: ("input-written", "m == 13")}
"""By m: what comes before the launch with the mistake, and what is to be named. For other m that is the mistake."""


def test_a_wrong_call_before_the_launch_comes_first(checker: Builder, programs: Path) -> None:
    program = checker("gcc -O1", shared_kernel(programs, "calls.cu", CALLS))
    for m in range(1, 14):
        found = run_check(program, "--json", m, 2, 2).finding
        kind, text = CALLED.get(m, ("local-out-of-bounds", "// index"))
        assert found["kind"] == kind and text in CALLS.splitlines()[found["line"] - 1], m
    assert found["access"] == "write"
