"""What counts for `tiled`: the loads of the launches that C comes from, of A, B and what may be
copies of them; and what threads of a block read that others of them have stored. The correct kernels
and the cheats say the rest (tests/kernels/right, instructor/cheats/38_* and 39_*)."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY, sample
from grader_fake import problem

from grader.build.parts import trusted_parts
from grader.build.submission import build_submission, work_directory
from grader.jail.sandbox import choose_sandbox
from grader.record.model import Loads
from grader.run.once import Problem, run_problem
from grader.run.outcome import Outcome
from grader.criteria.tiled import against_loads

M, K, N = 97, 89, 101
SHAPE = problem(M, K, N, seed=3, time_limit=5.0)
NAIVE = 2 * M * N * K
TILED = K * (M * 7 + N * 7)
INPUTS = K * (M + N)
OUTPUT = M * N

KERNELS = """
#define T 16
#define PARAMETERS int m, int n, int k, const float *A, const float *B, float *C
__device__ float array[1 << 16];
__global__ void tiled(PARAMETERS)
{
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int p = 0; p < k; p += T) {
        As[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0;
        Bs[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0;
        __syncthreads();
        for (int q = 0; q < T; ++q) sum += As[ty][q] * Bs[q][tx];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}
__global__ void naive(PARAMETERS, int first, int end)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = first ? C[i * n + j] : 0;
    for (int p = first; p < end; ++p) sum += A[i * k + p] * B[p * n + j];
    C[i * n + j] = sum;
}
__global__ void mysgemm(int count, const float *from, float *to)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) to[i] = from[i];
}
__global__ void store(int count, const float *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) array[i] = from[i];
}
__global__ void fetch(int count, float *to)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) to[i] = array[i];
}
__global__ void eight_by_eight(PARAMETERS, int dummy)
{
    __shared__ float s[64];
    int t = threadIdx.y * 8 + threadIdx.x;
    int i0 = (blockIdx.y * 8 + threadIdx.y) * 8, j0 = (blockIdx.x * 8 + threadIdx.x) * 8;
    float c[8][8] = {}, a[8], b[8];
    volatile float sink = 0;
    s[t] = 1;
    for (int p = 0; p < k; ++p) {
        for (int i = 0; i < 8; ++i) a[i] = i0 + i < m ? A[(i0 + i) * k + p] : 0;
        for (int j = 0; j < 8; ++j) b[j] = j0 + j < n ? B[p * n + j0 + j] : 0;
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j) c[i][j] += a[i] * b[j];
        for (int q = 0; dummy && q < 20; ++q) sink = s[t] + __shfl_sync(~0u, s[t], t % 32);
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            if (i0 + i < m && j0 + j < n) C[(i0 + i) * n + j0 + j] = c[i][j];
}
#define COPY(count, from, to) mysgemm<<<((count) + 255) / 256, 256>>>(count, from, to)
#define LAUNCH(kernel, ...) kernel<<<grid, block>>>(m, n, k, __VA_ARGS__)
void basicSgemm(PARAMETERS)
{
    dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    dim3 eight(8, 8), few((n + 63) / 64, (m + 63) / 64);
    float *a, *b, *s;
    cudaMalloc(&a, 4 * m * k); cudaMalloc(&b, 4 * k * n); cudaMalloc(&s, 4 * m * n);
    (void)eight; (void)few;
"""

# What the wrapper does; the loads that count; whether they are shared as tiles are.
WRAPPERS = {
    "a warm-up and ten": ("for (int i = 0; i < 11; i++) LAUNCH(tiled, A, B, C);", TILED, True),
    "copies once, and ten": (
        "COPY(m * k, A, a); COPY(k * n, B, b);"
        "for (int i = 0; i < 11; i++) LAUNCH(tiled, a, b, C);",
        TILED + INPUTS, True),
    "unused work": ("LAUNCH(naive, A, B, s, 0, k); LAUNCH(tiled, A, B, C);", TILED, True),
    "naive on copies of the host's": (
        "cudaMemcpy(a, A, 4 * m * k, cudaMemcpyDeviceToDevice);"
        "cudaMemcpy2D(b, 4 * n, B, 4 * n, 4 * n, k, cudaMemcpyDeviceToDevice);"
        "LAUNCH(naive, a, b, C, 0, k);", NAIVE, False),
    "naive on copies of a kernel's": (
        "COPY(m * k, A, a); COPY(k * n, B, b); LAUNCH(naive, a, b, C, 0, k);",
        NAIVE + INPUTS, False),
    "parts that are added in C": (
        "for (int p = 0; p < k; p += 16) LAUNCH(naive, A, B, C, p, p + 16 < k ? p + 16 : k);",
        NAIVE + 5 * OUTPUT, False),
    "parts that are added elsewhere": (
        "for (int p = 0; p < k; p += 16) LAUNCH(naive, A, B, s, p, p + 16 < k ? p + 16 : k);"
        "COPY(m * n, s, C);", NAIVE + 6 * OUTPUT, False),
    "naive, and stored again": (
        "LAUNCH(naive, A, B, C, 0, k); COPY(m * n, C, C);", NAIVE + OUTPUT, False),
    "naive, before a tiled one": (
        "LAUNCH(naive, A, B, C, 0, k); LAUNCH(tiled, A, B, C);", NAIVE, False),
    "naive, behind a tiled one": (
        "LAUNCH(tiled, A, B, C); LAUNCH(naive, A, B, C, 0, k);", NAIVE, False),
    "naive, copied by the host": (
        "LAUNCH(tiled, A, B, C); LAUNCH(naive, A, B, s, 0, k);"
        "cudaMemcpy(C, s, 4 * m * n, cudaMemcpyDeviceToDevice);", NAIVE, False),
    "naive, by way of a variable": (
        "LAUNCH(naive, A, B, s, 0, k); store<<<(m * n + 255) / 256, 256>>>(m * n, s);"
        "fetch<<<(m * n + 255) / 256, 256>>>(m * n, C);", NAIVE + 2 * OUTPUT, False),
    "registers": ("eight_by_eight<<<few, eight>>>(m, n, k, A, B, C, 0);", None, False),
    "registers, and each thread's own words": (
        "eight_by_eight<<<few, eight>>>(m, n, k, A, B, C, 1);", None, False),
}  # fmt: skip


def loads_of(source: bytes, shape: Problem = SHAPE) -> Loads:
    """Of a kernel that is right."""
    outcome = counted_of(source, shape)
    assert outcome.right and not outcome.finding and outcome.loads, outcome
    return outcome.loads


def counted_of(source: bytes, shape: Problem = SHAPE) -> Outcome:
    parts = trusted_parts()
    box = choose_sandbox("none", False, [], parts.jail)
    with work_directory() as work:
        programs = build_submission(parts, source, box, Path(work))
        return run_problem(parts, programs, "checked", shape, box=box, count=True)


@pytest.mark.parametrize("name", sample([*WRAPPERS], every=14, start=3))
def test_loads_that_count(name: str) -> None:
    body, loads, tiles = WRAPPERS[name]
    counted = loads_of(f"{KERNELS}{body}\ncudaFree(a); cudaFree(b); cudaFree(s);\n}}\n".encode())
    assert loads is None or counted.all == loads
    assert (against_loads(counted) == "") == tiles


@pytest.mark.parametrize("name", sample(["constants_in_the_loop", "persistent_tiles"], every=2))
def test_what_is_no_load_of_a_and_b(name: str) -> None:
    """Constants, tables, virtual functions; counters of tiles cost what they cost: no launch is
    taken together with another because of them."""
    counted = loads_of((REPOSITORY / f"tests/kernels/right/{name}.cu").read_bytes())
    counters = 7 * 7 + 3 * 8
    assert TILED <= counted.all <= TILED + counters and not against_loads(counted)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "least", "most"), [("2_tiled", 0.9, 1), ("4_register_tiles", 0.2, 0.25)])
def test_registers_read_less_of_shared_memory(kernel: str, least: float, most: float) -> None:
    """Elements for an operation, as `registers` counts them."""
    counted = loads_of((REPOSITORY / f"instructor/solutions/{kernel}.cu").read_bytes(),
                       problem(128, 64, 128, seed=3, time_limit=5.0))
    assert least <= counted.exchanged / (2 * 128 * 64 * 128) <= most


def test_what_is_shared_is_counted_after_a_mistake_too() -> None:
    """A race that costs `memory` leaves `tiled`."""
    source = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
    first = source.index("__shared__")
    race = f"{source[:first]}__shared__ int any; any = 1;\n    {source[first:]}"
    sound, found = (counted_of(text.encode()) for text in (source, race))
    assert found.finding and found.finding.kind == "shared-race" and found.right
    assert sound.loads and sound.loads == found.loads
