"""Which finding a run is reported with: the first, except that what no GPU could do, or what hides
from the checker, does not hide behind an earlier mistake (event.c)."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import Builder, run_check
from conftest import slow_but


@pytest.fixture(scope="session")
def checker(lean_checker: Builder) -> Builder:
    return lean_checker


KERNEL = """#include <string.h>
__device__ float mine[4];
__device__ const struct { float one, far[0]; } constants = {1.0f};
__host__ __device__ void copy(float *to, int bytes) { strncpy((char *)to, "four", bytes); }

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float *other;
    float few[2] = {1.0f, 2.0f};
    const long far = A - &constants.one;
    if (threadIdx.x == 0) other = few;
    __syncthreads();
    if (m == 2 && threadIdx.x == 0) C[0] = few[k];
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


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("findings") / "kernel.cu"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize(("setup", "kind"), slow_but([
    (setup, kind) for setup in ("gcc -O1", "clang -O1") for kind in GRAVE
    if (setup, kind) != ("clang -O1", "unseen")  # clang announces the load
], lambda _, value: value[0] == "gcc -O1"))
def test_does_not_hide_behind_a_mistake(checker: Builder, kernel: Path, setup: str,
                                        kind: str) -> None:
    which = GRAVE.index(kind) + 1
    alone = run_check(checker(setup, kernel), "--json", 1, 2, which).finding
    after = run_check(checker(setup, kernel), "--json", 2, 2, which).finding
    assert alone["kind"] == kind and (after["kind"], after["line"]) == (kind, alone["line"])


def test_a_mistake_alone(checker: Builder, kernel: Path) -> None:
    run = run_check(checker("gcc -O1", kernel), "--json", 2, 2, len(GRAVE) + 1)
    assert run.finding["kind"] == "local-out-of-bounds"
