"""Causes that accuse the launch, or a phase of it: each is named of a kernel that has this mistake, and not of one that
looks alike in a few blocks or phases.

A failure here means that a student is sent to a launch, a condition or a buffer that is right."""

from pathlib import Path

import pytest
from checked import Builder, run_check

KERNEL = """#define T 16
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
%s
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + T - 1) / T, (m + T - 1) / T);
    mysgemm<<<%s>>>(m, n, k, A, B, C); // launch
}
"""

TILED = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int p = 0; p < k; p += T) {
        a[y][x] = row < m && p + x < k ? A[row * k + p + x] : 0;
        b[y][x] = col < n && p + y < k ? B[(p + y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;"""
GRID_STRIDE = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    for (int i0 = blockIdx.y * T; i0 < m; i0 += gridDim.y * T)
        for (int j0 = blockIdx.x * T; j0 < n; j0 += gridDim.x * T) {
            int row = i0 + y, col = j0 + x;
            float sum = 0;
            for (int p = 0; p < k; p += T) {
                a[y][x] = row < m && p + x < k ? A[row * k + p + x] : 0;
                b[y][x] = col < n && p + y < k ? B[(p + y) * n + col] : 0;
                __syncthreads();
                for (int i = 0; i < T; i++)
                    sum += a[y][i] * b[i][x];
                __syncthreads();
            }
            if (row < m && col < n)
                C[row * n + col] = sum;
        }"""
SLICES = """    __shared__ float a[4][8][8], b[4][8][8], c[8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0;
    if (z == 0)
        c[y][x] = 0;
    for (int p = z * 8; p < k + z * 8; p += 32) {
        a[z][y][x] = row < m && p + x < k ? A[row * k + p + x] : 0;
        b[z][y][x] = col < n && p + y < k ? B[(p + y) * n + col] : 0;
        __syncthreads(); // first
        for (int i = 0; i < 8; i++)
            sum += a[z][y][i] * b[z][i][x];
        __syncthreads();
    }
    atomicAdd(&c[y][x], sum);
    __syncthreads();
    if (z == 0 && row < m && col < n)
        C[row * n + col] = c[y][x];"""
BUFFERS = """    __shared__ float a[2][T][T], b[2][T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x, now = 0;
    float sum = 0;
    for (int p = 0; p < k + T; p += T) {
        if (p < k) {
            a[now][y][x] = row < m && p + x < k ? A[row * k + p + x] : 0;
            b[now][y][x] = col < n && p + y < k ? B[(p + y) * n + col] : 0;
        }
        now = !now;
        if (p > 0)
            for (int i = 0; i < T; i++)
                sum += a[now][y][i] * b[now][i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;"""
PREFETCH = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float next_a = row < m && x < k ? A[row * k + x] : 0, next_b = col < n && y < k ? B[y * n + col] : 0, sum = 0;
    for (int p = 0; p < k; p += T) {
        a[y][x] = next_a;
        b[y][x] = next_b;
        __syncthreads();
        int q = p + T;
        next_a = row < m && q + x < k ? A[row * k + q + x] : 0;
        next_b = col < n && q + y < k ? B[(q + y) * n + col] : 0;
        for (int i = 0; i < T; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;"""

TWO_ROWS = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x % T, y = threadIdx.x / T, row0 = blockIdx.y * T, col = blockIdx.x * T + x;
    float sum[2] = {0, 0};
    for (int p = 0; p < k; p += T) {
        for (int i = y; i < T; i += T / 2) {
            a[i][x] = row0 + i < m && p + x < k ? A[(row0 + i) * k + p + x] : 0;
            b[i][x] = col < n && p + i < k ? B[(p + i) * n + col] : 0;
        }
        __syncthreads();
        for (int i = 0; i < T; i++)
            for (int r = 0; r < 2; r++)
                sum[r] += a[2 * y + r][i] * b[i][x];
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        if (row0 + 2 * y + r < m && col < n)
            C[(row0 + 2 * y + r) * n + col] = sum[r];"""
NAIVE = """    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += A[row * k + p] * B[p * n + col];
    C[row * n + col] = sum;"""
SPLIT_K = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    int part = (k + 2) / 3, end = min((blockIdx.z + 1) * part, k);
    float sum = 0;
    for (int p = blockIdx.z * part; p < end; p += T) {
        a[y][x] = row < m && p + x < end ? A[row * k + p + x] : 0;
        b[y][x] = col < n && p + y < end ? B[(p + y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        atomicAdd(&C[row * n + col], sum);"""
ADDED = "    if (row < m && col < n)\n        atomicAdd(&C[row * n + col], sum);"
COARSE = """    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col0 = blockIdx.x * 2 * T + x;
    float sum[2] = {0, 0};
    for (int p = 0; p < k; p += T) {
        a[y][x] = row < m && p + x < k ? A[row * k + p + x] : 0;
        for (int c = 0; c < 2; c++) {
            int col = col0 + c * T;
            b[y][x] = col < n && p + y < k ? B[(p + y) * n + col] : 0;
            __syncthreads();
            for (int i = 0; i < T; i++)
                sum[c] += a[y][i] * b[i][x];
            __syncthreads();
        }
    }
    for (int c = 0; c < 2; c++)
        if (row < m && col0 + c * T < n)
            C[row * n + col0 + c * T] = sum[c];"""
PANELS = ("mysgemm<<<grid, dim3(T, T)>>>(m, n, k, A, B, C);", """for (int r = 0; r < m; r += 2 * T)
        mysgemm<<<dim3((n + T - 1) / T, 2), dim3(T, T)>>>(min(2 * T, m - r), n, k, A + r * k, B, C);""")
COPIED = ("mysgemm<<<", """float *copy;
    cudaMalloc(&copy, m * k * sizeof(float));
    cudaMemcpy(copy, A, m * k * sizeof(float), cudaMemcpyDeviceToDevice);
    A = copy;
    mysgemm<<<""")
TILES, CUBE = "grid, dim3(T, T)", "dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8, 4)"
PARTS = "(cudaMemset(C, 0, m * n * sizeof(float)), dim3(grid.x, grid.y, 3)), dim3(T, T)"
SIXTEENTH = "row = blockIdx.y * T", "row = blockIdx.y * (T / 2)"

# The kernel, its launch, the edit, and what is found: kind, line, and cause, with its line where only that tells
# whom it accuses. None: no cause.
CASES = {
    "barrier missing, three dimensions": (
        SLICES, CUBE, ("__syncthreads(); // first", ""), "shared-race", "sum +=", None),
    "barrier missing, an atomic in three dimensions": (
        SLICES, CUBE, ("sum);\n    __syncthreads();", "sum);"), "shared-race", "] = c[y][x]", None),
    "barrier missing, a small tile": (
        TILED, TILES, ("        __syncthreads();\n        for", "        for"), "shared-race", "sum +=", None),
    "block of twice the tile's threads": (
        TILED, "grid, dim3(T, 2 * T)", ("a[y][x] =", "a[y % T][x] ="), "shared-race", "a[y % T][x] =", "block-shape"),
    "row not guarded, grid-stride": (
        GRID_STRIDE, "dim3(2, 2), dim3(T, T)", ("row < m && p", "p"), "out-of-bounds", "a[y][x] =", None),
    "column not guarded, grid-stride": (
        GRID_STRIDE, "dim3(2, 3), dim3(T, T)", ("col < n && p", "p"), "out-of-bounds", "b[y][x] =", None),
    "row compared with k": (
        TILED, TILES, ("row < m && p", "row < k && p"), "out-of-bounds", "a[y][x] =", "guard-dimension"),
    "blocks overlap": (
        TILED, TILES, SIXTEENTH, "global-race", "C[row", None),
    "blocks overlap, along the columns": (
        TILED, TILES, ("col = blockIdx.x * T", "col = blockIdx.x * 12"), "global-race", "C[row", None),
    "blocks overlap, by a macro's sum": (
        TILED, TILES, ("row = blockIdx.y * T", "row = blockIdx.y * 8 + 8"), "global-race", "C[row", None),
    "blocks leave gaps": (
        TILED, TILES, ("row = blockIdx.y * T", "row = blockIdx.y * 2 * T"), "unwritten", None, "block-shape"),
    "grid rounded down": (
        TILED, "dim3(n / T, m / T), dim3(T, T)", (), "unwritten", None, "grid-too-small"),
    "last tile not multiplied": (
        BUFFERS, TILES, ("p < k + T", "p < k"), "wrong-result", None, None),
    "one buffer alone": (
        BUFFERS, TILES, ("a[now][y][i]", "a[0][y][i]"), "shared-race", "sum +=", None),
    "row of a copy of A": (
        TILED.replace("A[row * k", "A[(row + 1) % m * k"), TILES, COPIED, "wrong-result", None, None),
    "rows of a register tile": (
        TWO_ROWS, "grid, T * T / 2", ("a[2 * y + r]", "a[y + r]"), "wrong-result", None, "thread-exchanged at += a"),
    "parts of k too short": (
        SPLIT_K, PARTS, ("(k + 2) / 3", "k / 3"), "wrong-result", None, None),
    "parts of k with gaps": (
        SPLIT_K, PARTS, ("p += T", "p += 2 * T"), "wrong-result", None, None),
    "parts of k, row compared with n": (
        SPLIT_K, PARTS, ("row < m && p", "row < n && p"), "wrong-result", None, "guard-dimension at a[y][x] ="),
    "parts of k, added up in each phase": (
        SPLIT_K, PARTS, (f"    }}\n{ADDED}", f"{ADDED}\n    }}"), "wrong-result", None, None),
    "parts of k of one tile, matrices exchanged": (
        SPLIT_K.replace("(k + 2) / 3", "(k + 3) / 4"), PARTS.replace(" 3", " 4"), ("k, A, B", "k, B, A"), "wrong-result",
        None, "matrices-exchanged at // launch"),
    "A read by columns": (
        NAIVE, TILES, ("A[row * k + p]", "A[p * k + row]"), "wrong-result", None, None),
    "guard the wrong way round": (
        NAIVE, TILES, ("row >= m || col >= n", "row < m || col < n"), "out-of-bounds", "sum +=", None),
    "first blocks left out": (
        NAIVE, TILES, ("row >= m ||", "row >= m || !blockIdx.x ||"), "unwritten", None, None),
    "columns stored twice": (
        TILED, TILES, ("C[row * n + col]", "C[row * n + blockIdx.x * T + x / 2]"), "global-race", "] = sum",
        "thread-exchanged at sum +="),
    "every panel in the first one's place": (
        TILED, TILES, PANELS, "unwritten", None, None),
    "prefetch not guarded": (
        PREFETCH, TILES, ("col < n && q + y < k", "col < n"), "out-of-bounds", "next_b = col < n ?", None),
    "twice the product": (
        NAIVE, TILES, ("= sum;", "= 2 * sum;"), "wrong-result", None, "sum-start at = 2 * sum"),
    "rows of a tile repeated": (
        TWO_ROWS, "grid, T * T / 2", ("B[(p + i) * n", "B[(p + y) * n"), "wrong-result", None, None),
    "a tile for two phases": (
        COARSE, "dim3((n + 2 * T - 1) / (2 * T), grid.y), dim3(T, T)", ("sum[c] +=", "sum[0] +="), "wrong-result",
        None, "sum-start at C[row"),
    "prefetch of this phase": (
        PREFETCH, TILES, ("q = p + T", "q = p"), "wrong-result", None, None),
}


def written(case: str, folder: Path) -> tuple[Path, str]:
    """The kernel, and its text."""
    body, launch, edit = CASES[case][:3]
    text = KERNEL % (body, launch)
    if edit:
        assert text.count(edit[0]) == 1, edit
        text = text.replace(*edit)
    (folder / "kernel.cu").write_text(text)
    return folder / "kernel.cu", text


def lines_with(words: str, text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if words in line]


@pytest.mark.parametrize("case", CASES)
def test_cause(checker: Builder, tmp_path: Path, case: str) -> None:
    kernel, text = written(case, tmp_path)
    kind, line, cause = CASES[case][3:]
    finding = run_check(checker("gcc -O1", kernel), "--json", "--seed", 1).finding
    assert finding["kind"] == kind
    assert finding["line"] in (lines_with(line, text) if line else [0])
    name, _, words = (cause or "").partition(" at ")
    assert name == (finding["cause"]["name"] if finding["cause"] else "")
    assert not words or finding["cause"]["line"] in lines_with(words, text)
    doubled = "C is 2 times the product: this explains all 1156 wrong elements."
    assert (doubled in finding["detail"]) == (case == "twice the product")


def test_the_line_of_the_launch_where_no_other_is_known(checker: Builder, tmp_path: Path) -> None:
    kernel, text = written("last tile not multiplied", tmp_path)
    said = run_check(checker("gcc -O1", kernel), "--seed", 1).stdout
    assert f"\n    line {lines_with('// launch', text)[0]}: mysgemm<<<(3, 3), (16, 16)>>>: " in said
