"""What counts for `tiled`: the loads of the launches that C comes from, of A, B and what may be
copies of them; and what threads of a block read that others of them have stored. The correct kernels
and the cheats say the rest (tests/kernels/right, instructor/cheats/38_* and 39_*)."""

from pathlib import Path

import pytest
from conftest import REPOSITORY, sample
from grader_fake import problem

from grader.build.parts import trusted_parts
from grader.build.submission import Programs, build_submission
from grader.jail.sandbox import choose_sandbox
from grader.cases.model import Case
from grader.record.model import Loads
from grader.run.once import run_problem
from grader.run.outcome import Outcome
from grader.criteria.tiled import against_loads

M, N = 49, 53
# Loads, for each of the k terms of a sum; and the elements of C.
NAIVE = 2 * M * N
TILED = M * 4 + N * 4
INPUTS = M + N
OUTPUT = M * N

TILED_KERNEL = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text().partition("void basicSgemm")[0]
RACE = "\n{\n    __shared__ int any;\n    if (k == 112) any = 1; /* a race that is no part of it */\n"
KERNELS = TILED_KERNEL.replace("mysgemm", "tiled").replace("\n{\n", RACE, 1) + """
#define T 16
#define PARAMETERS int m, int n, int k, const float *A, const float *B, float *C
__device__ float array[1 << 16];
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
__global__ void again(int count, float *to)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    for (volatile int turn = 0; i < count && turn < 2; turn = turn + 1) {
        float value = turn ? to[i] : 0;
        (turn ? to : array)[i] = value;
    }
}
__global__ void wide(int count, const float *from, double *to)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) to[i] = from[i];
}
__global__ void naive_wide(int m, int n, int k, const double *A, const double *B, float *C)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += (float)A[i * k + p] * (float)B[p * n + j];
    C[i * n + j] = sum;
}
__global__ void own_copies(PARAMETERS, float *own)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    own += (i * n + j) * 2 * k;
    for (int p = 0; p < k; ++p) own[p] = A[i * k + p], own[k + p] = B[p * n + j];
    for (int p = 0; p < k; ++p) sum += own[p] * own[k + p];
    C[i * n + j] = sum;
}
__global__ void with_bytes(PARAMETERS)
{
    __shared__ unsigned char s[T * T];
    int t = threadIdx.y * T + threadIdx.x;
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (i >= m || j >= n) return;
    float sum = s[t ^ 128] - (t ^ 128);
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
    C[i * n + j] = sum;
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
    if (k == 112) LAUNCH(tiled, A, B, C);
    if (k == 113) LAUNCH(with_bytes, A, B, C);
"""

# What the wrapper does; the loads that count, for each term and besides; whether they are shared as tiles are.
WRAPPERS = {
    "a warm-up and ten": ("for (int i = 0; i < 11; i++) LAUNCH(tiled, A, B, C);", (TILED, 0), True),
    "copies once, and ten": (
        "COPY(m * k, A, a); COPY(k * n, B, b);"
        "for (int i = 0; i < 11; i++) LAUNCH(tiled, a, b, C);",
        (TILED + INPUTS, 0), True),
    "naive on copies of the host's": (
        "cudaMemcpy(a, A, 4 * m * k, cudaMemcpyDeviceToDevice);"
        "cudaMemcpy2D(b, 4 * n, B, 4 * n, 4 * n, k, cudaMemcpyDeviceToDevice);"
        "LAUNCH(naive, a, b, C, 0, k);", (NAIVE, 0), False),
    "naive on copies of a kernel's": (
        "COPY(m * k, A, a); COPY(k * n, B, b); LAUNCH(naive, a, b, C, 0, k);",
        (NAIVE + INPUTS, 0), False),
    "parts that are added in C": (
        "for (int p = 0; p < k; p += 16) LAUNCH(naive, A, B, C, p, p + 16 < k ? p + 16 : k);",
        (NAIVE, 5 * OUTPUT), False),
    "parts that are added elsewhere": (
        "for (int p = 0; p < k; p += 16) LAUNCH(naive, A, B, s, p, p + 16 < k ? p + 16 : k);"
        "COPY(m * n, s, C);", (NAIVE, 6 * OUTPUT), False),
    "naive, and stored again": (
        "LAUNCH(naive, A, B, C, 0, k); COPY(m * n, C, C);", (NAIVE, OUTPUT), False),
    "naive, and stored again where others were stored to before": (
        "LAUNCH(naive, A, B, C, 0, k); again<<<(m * n + 255) / 256, 256>>>(m * n, C);", (NAIVE, OUTPUT), False),
    "naive, before a tiled one": (
        "LAUNCH(naive, A, B, C, 0, k); LAUNCH(tiled, A, B, C);", (NAIVE, 0), False),
    "naive, behind a tiled one": (
        "LAUNCH(tiled, A, B, C); LAUNCH(naive, A, B, C, 0, k);", (NAIVE, 0), False),
    "naive, copied by the host": (
        "LAUNCH(tiled, A, B, C); LAUNCH(naive, A, B, s, 0, k);"
        "cudaMemcpy(C, s, 4 * m * n, cudaMemcpyDeviceToDevice);", (NAIVE, 0), False),
    "naive, by way of a variable": (
        "LAUNCH(naive, A, B, s, 0, k); store<<<(m * n + 255) / 256, 256>>>(m * n, s);"
        "fetch<<<(m * n + 255) / 256, 256>>>(m * n, C);", (NAIVE, 2 * OUTPUT), False),
    "naive, copied by the host in halves, over what a tiled one stored": (
        "LAUNCH(naive, A, B, s, 0, k); LAUNCH(tiled, A, B, C);"
        "for (int at = 0; at < 4; at += 2)"
        "    cudaMemcpy2D((char *)C + at, 4, (char *)s + at, 4, 2, m * n, cudaMemcpyDeviceToDevice);",
        (NAIVE + TILED, 0), False),
    "naive on copies of which the host clears a byte": (
        "double *wide_a, *wide_b;"
        "cudaMalloc(&wide_a, 8 * m * k); cudaMalloc(&wide_b, 8 * k * n);"
        "wide<<<(m * k + 255) / 256, 256>>>(m * k, A, wide_a); wide<<<(k * n + 255) / 256, 256>>>(k * n, B, wide_b);"
        "cudaMemset2D(wide_a, 8, 0, 1, m * k); cudaMemset2D(wide_b, 8, 0, 1, k * n);"
        "LAUNCH(naive_wide, wide_a, wide_b, C); cudaFree(wide_a); cudaFree(wide_b);",
        (2 * NAIVE + INPUTS, 0), False),
    "naive on copies that each thread makes for itself": (
        "float *own; cudaMalloc(&own, 8 * m * n * k); LAUNCH(own_copies, A, B, C, own); cudaFree(own);",
        (2 * NAIVE, 0), False),
    "registers": ("eight_by_eight<<<few, eight>>>(m, n, k, A, B, C, 0);", None, False),
    "registers, and each thread's own words": (
        "eight_by_eight<<<few, eight>>>(m, n, k, A, B, C, 1);", None, False),
    "unused work": ("LAUNCH(naive, A, B, s, 0, k); LAUNCH(tiled, A, B, C);", (TILED, 0), True),
}  # fmt: skip


FEWEST_TERMS = 81  # the sums that are made in parts have 6 parts of 16


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """Compiled once: k says which of WRAPPERS runs."""
    bodies = "\n".join(f"if (k == {k}) {{ {body} }}"
                       for k, (body, _, _) in enumerate(WRAPPERS.values(), FEWEST_TERMS))
    text = f"{KERNELS}{bodies}\ncudaFree(a); cudaFree(b); cudaFree(s);\n}}\n"
    return built(text.encode(), tmp_path_factory.mktemp("wrappers"))


def built(source: bytes, work: Path) -> Programs:
    parts = trusted_parts()
    return build_submission(parts, source, choose_sandbox("none", False, [], parts.jail), work)


def counted_of(programs: Programs, shape: Case) -> Outcome:
    parts = trusted_parts()
    box = choose_sandbox("none", False, [], parts.jail)
    return run_problem(parts, programs, "checked", shape, box=box, count=True)


def loads_of(programs: Programs, shape: Case) -> Loads:
    """Of a kernel that is right."""
    outcome = counted_of(programs, shape)
    assert outcome.right and not outcome.finding and outcome.loads, outcome
    return outcome.loads


@pytest.mark.parametrize("name", sample([*WRAPPERS], every=3))
def test_loads_that_count(name: str, wrappers: Programs) -> None:
    _, loads, tiles = WRAPPERS[name]
    k = FEWEST_TERMS + [*WRAPPERS].index(name)
    counted = loads_of(wrappers, problem(M, k, N, seed=3, time_limit=5.0))
    assert loads is None or counted.all == loads[0] * k + loads[1]
    assert counted.naive == NAIVE * k and counted.threads >= (M * N if loads else M * N // 64)
    assert (against_loads(counted) == "") == tiles


@pytest.mark.parametrize("name", sample(["constants_in_the_loop", "persistent_tiles"], every=2))
def test_what_is_no_load_of_a_and_b(name: str, tmp_path: Path) -> None:
    """Constants, tables, virtual functions; counters of tiles cost what they cost: no launch is
    taken together with another because of them."""
    programs = built((REPOSITORY / f"tests/kernels/right/{name}.cu").read_bytes(), tmp_path)
    counted = loads_of(programs, problem(97, 89, 101, seed=3, time_limit=5.0))
    tiled, counters = 89 * (97 * 7 + 101 * 7), 7 * 7 + 3 * 8
    assert tiled <= counted.all <= tiled + counters and not against_loads(counted)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "least", "most"), [("2_tiled", 0.9, 1), ("4_register_tiles", 0.2, 0.25)])
def test_registers_read_less_of_shared_memory(kernel: str, least: float, most: float, tmp_path: Path) -> None:
    """Elements for an operation, as `registers` counts them."""
    programs = built((REPOSITORY / f"instructor/solutions/{kernel}.cu").read_bytes(), tmp_path)
    counted = loads_of(programs, problem(128, 64, 128, seed=3, time_limit=5.0))
    assert least <= counted.exchanged / (2 * 128 * 64 * 128) <= most


def test_a_byte_that_another_thread_has_stored_counts_as_an_element(wrappers: Programs) -> None:
    assert loads_of(wrappers, problem(M, 113, N, seed=3, time_limit=5.0)).exchanged == M * N


def test_what_is_shared_is_counted_after_a_mistake_too(wrappers: Programs) -> None:
    """A race that costs `memory` leaves `tiled`."""
    terms = FEWEST_TERMS + len(WRAPPERS) - 1  # of the last, with as many tiles as 112 terms have
    sound, found = (counted_of(wrappers, problem(M, k, N, seed=3, time_limit=5.0)) for k in (terms, 112))
    assert found.finding and found.finding.kind == "shared-race" and found.right and sound.loads
    assert found.loads and found.loads.all == TILED * 112 and not against_loads(found.loads)
    assert found.loads.exchanged == sound.loads.exchanged and sound.loads.once_per_block == TILED * terms
