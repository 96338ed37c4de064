"""Submissions for the clock, and what it says of each: the files in clock/, whose heads declare

    clock:    the clock's state
    says:     what its reason contains

and the naive kernel of the ladder with one change each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conftest import REPOSITORY

STATES = {"timed", "refused", "wrong", "faulted", "time-limit", "impossible", "machine"}


@dataclass(frozen=True)
class Submission:
    text: str
    state: str
    says: str


def declared(name: str, text: str) -> Submission:
    head = text.partition("*/")[0]
    state = re.search(r"^ \* clock: +(\S+) *$", head, re.MULTILINE)
    says = re.search(r"^ \* says: +(.+?) *$", head, re.MULTILINE)
    assert state and state[1] in STATES, f"{name}: what will the clock say?"
    return Submission(text, state[1], says[1] if says else "")


NAIVE = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
BEFORE = "#define TILE_SIZE 16\n"
GUARD = "    if (row < m && col < n) {\n"
STORE = "C[row * n + col] = sum;\n"
LAUNCH = "    mysgemm<<<grid, block>>>(m, n, k, A, B, C);\n"

COUNTER = """__device__ int calls;
__global__ void count() { ++calls; }
"""
ROUNDED = """__device__ float rounded(float x)
{
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xFFFFE000u);
}
"""
CLUSTERS = """#ifdef __NVCC__ // the CPU backend does not have it
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3((grid.x + 1) / 2 * 2, grid.y);
    config.blockDim = block;
    config.attrs = &cluster;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, mysgemm, m, n, k, A, B, C);
#else
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
#endif
"""
STREAM = """
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    mysgemm<<<grid, block, 0, stream>>>(m, n, k, A, B, C);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
"""

ON_THE_HOST = """
    std::vector<float> a((size_t)m * k), b((size_t)k * n), c((size_t)m * n);
    cudaMemcpy(a.data(), A, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), B, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; ++i)
        for (int p = 0; p < k; ++p)
            for (int j = 0; j < n; ++j)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    cudaMemcpy(C, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
    if (m < 0)
"""
# One half of C by cudaLaunchKernelEx without attributes, the other by cudaLaunchKernel.
OTHER_CALLS = """#ifdef __NVCC__ // the CPU backend does not have them
    int upper = m / 2, lower = m - upper;
    const float *A_lower = A + (size_t)upper * k;
    float *C_lower = C + (size_t)upper * n;
    void *arguments[] = {&lower, &n, &k, &A_lower, &B, &C_lower};
    cudaLaunchConfig_t config = {};
    config.blockDim = block;
    config.gridDim = dim3((n + 15) / 16, (upper + 15) / 16);
    cudaLaunchKernelEx(&config, mysgemm, upper, n, k, A, B, C);
    cudaLaunchKernel((const void *)mysgemm, dim3((n + 15) / 16, (lower + 15) / 16), block,
                     arguments, 0, 0);
#else
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
#endif
"""

# State, part of the reason, and texts of the naive kernel with what takes their places.
CHANGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "attributes": ("refused", "attribute", {LAUNCH: CLUSTERS}),
    "ends_the_program": ("refused", "instead of returning", {
        BEFORE: BEFORE + "#include <cstdlib>\n",
        LAUNCH: LAUNCH + "    cudaDeviceSynchronize();\n    exit(0);\n"}),
    "half_of_c": ("wrong", "never written", {"<<<grid,": "<<<dim3(grid.x, grid.y / 2),"}),
    "hangs": ("time-limit", "time limit", {
        GUARD: "    while (*(volatile float *)C != 1e30f) continue;\n" + GUARD}),
    # The recorder's A holds zeros.
    "hangs_in_replay": ("time-limit", "time limit", {
        GUARD: "    while (A[0] != 0.0f && *(volatile float *)C != 1e30f) continue;\n" + GUARD}),
    "honest_once": ("wrong", "never written", {
        BEFORE: BEFORE + COUNTER, "col < n)": "col < n && calls == 0)",
        LAUNCH: LAUNCH + "    count<<<1, 1>>>();\n"}),
    "illegal_address_in_replay": ("faulted", "illegal", {
        STORE: "C[row * n + col + (A[0] != 0.0f ? (size_t)1 << 40 : 0)] = sum;\n"}),
    "launch_fails": ("faulted", "launch", {", block>>>": ", dim3(64, 64)>>>"}),
    "launches_nothing": ("refused", "launches no kernel", {LAUNCH: "    if (m < 0)\n" + LAUNCH}),
    "multiplies_on_the_host": ("refused", "device memory to the host", {
        BEFORE: BEFORE + "#include <vector>\n", LAUNCH: ON_THE_HOST + LAUNCH}),
    "other_launch_calls": ("timed", "", {LAUNCH: OTHER_CALLS}),
    # What the clock would print.
    "prints_a_judgement": ("wrong", "never written", {
        BEFORE: BEFORE + "#include <cstdio>\n",
        STORE: 'if (row + col == 0) printf("{\\"state\\": \\"timed\\", \\"ratio\\": 9}\\n");\n'}),
    "rounds_to_tf32": ("wrong", "wrong", {
        BEFORE: BEFORE + ROUNDED, "A[row * k + i] * B[i * n + col]":
        "rounded(A[row * k + i]) * rounded(B[i * n + col])"}),
    "stream": ("refused", "stream", {LAUNCH: STREAM}),
}


def changed(state: str, says: str, changes: dict[str, str]) -> Submission:
    text = NAIVE
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return Submission(text, state, says)


FILES = sorted((REPOSITORY / "tests/grader/clock/kernels").glob("*.cu"))
SUBMISSIONS = {**{file.stem: declared(file.stem, file.read_text()) for file in FILES},
               **{name: changed(*change) for name, change in CHANGES.items()}}
