"""Submissions for the clock, and what it says of each: the naive kernel of the ladder with one change each."""

from dataclasses import dataclass

from conftest import REPOSITORY


@dataclass(frozen=True)
class Submission:
    text: str
    state: str
    says: str


NAIVE = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
BEFORE = "#define TILE_SIZE 16\n"
GUARD = "    if (row < m && col < n) {\n"
STORE = "C[row * n + col] = sum;\n"
LAUNCH = "    mysgemm<<<grid, block>>>(m, n, k, A, B, C);\n"
KERNEL = "__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)\n{\n"
SUM = "float sum = 0.0f;\n"
LOOP = "for (int i = 0; i < k; ++i)\n"

COUNTER = """__device__ int calls;
__global__ void count() { ++calls; }
"""
ROUNDED = """__device__ float rounded(float x)
{
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xFFFFE000u);
}
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

# Multiplies when it first sees an A, and copies the C that it kept when an A has the same address.
KNOWN = """__device__ const float *known;
__device__ float kept[1 << 20];
__global__ void remember(const float *A) { known = A; }
"""
# 64 KB, whose last part is used: it has to be there; and a carveout.
DYNAMIC_SHARED = """    cudaFuncSetAttribute(mysgemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    cudaFuncSetAttribute(mysgemm, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    mysgemm<<<grid, block, 64 << 10>>>(m, n, k, A, B, C);
"""
THROUGH_SHARED = """{
            element[threadIdx.y * 16 + threadIdx.x] = A[row * k + i];
            sum += element[threadIdx.y * 16 + threadIdx.x] * B[i * n + col];
        }
"""
# Addresses and sizes by cudaMemcpyToSymbol, scaling factors by a small copy from the host.
JOB_OF_CONSTANTS = """struct job {
    int m, n, k, padding; /* which a compiler would leave as it is */
    const float *A, *B;
    float *C;
};
static __constant__ struct job constants;
"""
FROM_CONSTANTS = """static __global__ void mysgemm(const float *factors)
{
    const int m = constants.m, n = constants.n, k = constants.k;
    const float *A = constants.A, *B = constants.B;
    float *C = constants.C;
"""
BY_CONSTANTS = """    struct job job = {m, n, k, 0, A, B, C};
    float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f}, *factors;
    cudaMalloc((void **)&factors, sizeof ones);
    cudaMemcpy(factors, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(constants, &job, sizeof job);
    mysgemm<<<grid, block>>>(factors);
    cudaFree(factors);
"""
# Two launches through scratch of cudaMalloc: A padded row by row, then multiplied.
COPY_REST = """__global__ void copy_rest(int begin, int k, int stride, const float *A, float *padded)
{
    int row = blockIdx.x;
    for (int p = threadIdx.x; row >= begin && p < k; p += blockDim.x)
        padded[row * stride + p] = A[row * k + p];
}
"""
BY_SCRATCH = """    float *padded;
    size_t pitch;
    cudaMallocPitch((void **)&padded, &pitch, k * sizeof(float), m);
    cudaMemset2D(padded, pitch, 0, k * sizeof(float), m);
    cudaMemcpy2D(padded, pitch, A, k * sizeof(float), k * sizeof(float), m / 2, cudaMemcpyDeviceToDevice);
    copy_rest<<<m, 32>>>(m / 2, k, pitch / sizeof(float), A, padded);
    mysgemm<<<grid, block>>>(m, n, k, pitch / sizeof(float), padded, B, C);
    cudaFree(padded);
"""
# Partial sums and a counter in __device__ variables, set to zero again by the last block.
PARTIAL = """__device__ float partial[1 << 20];
__device__ unsigned arrived[1 << 14];
"""
THE_LAST_STORES = """atomicAdd(&partial[row * n + col], sum);
    }
    __shared__ bool last;
    unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) last = atomicAdd(&arrived[tile], 1) == 1;
    __syncthreads();
    if (last && row < m && col < n) {
        C[row * n + col] = atomicExch(&partial[row * n + col], 0.0f);
        arrived[tile] = 0;
"""
# All parameters in one struct, by value; one of its pointers is the end of A.
JOB = """struct job {
    int m, n, k;
    float alpha;
    const float *A, *A_end, *B;
    float *C;
};
"""
FROM_JOB = """static __global__ void mysgemm(struct job job)
{
    const int m = job.m, n = job.n, k = job.k;
    const float *A = job.A, *B = job.B;
    float *C = job.C;
"""
# C cleared, then the two halves of k one after the other, by a template; between them events.
HALVES = """    int half = k / 2, device;
    cudaEvent_t event;
    cudaGetDevice(&device);
    cudaEventCreate(&event);
    cudaEventRecord(event);
    cudaMemset(C, 0, (size_t)m * n * sizeof(float));
    mysgemm<0><<<grid, block>>>(m, n, k, half, A, B, C);
    mysgemm<1><<<grid, block>>>(m, n, k, k - half, A + half, B + (size_t)half * n, C);
    cudaEventSynchronize(event);
    cudaEventDestroy(event);
    cudaDeviceSynchronize();
"""

# State, part of the reason, and texts of the naive kernel with what takes their places.
CHANGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "cached_by_address": ("wrong", "wrong", {
        BEFORE: BEFORE + KNOWN, SUM: "float sum = known == A ? kept[row * n + col] : 0.0f;\n",
        "i < k;": "i < k && known != A;", STORE: "C[row * n + col] = kept[row * n + col] = sum;\n",
        LAUNCH: LAUNCH + "    remember<<<1, 1>>>(A);\n"}),
    "dynamic_shared": ("timed", "", {
        SUM: "extern __shared__ float tile[];\n        float *element = tile + (63 << 8);\n        " + SUM,
        LOOP + "            sum += A[row * k + i] * B[i * n + col];\n": LOOP[:-1] + " " + THROUGH_SHARED,
        LAUNCH: DYNAMIC_SHARED}),
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
    "copies_to_the_host": ("refused", "device memory to the host", {
        LAUNCH: "    float first;\n    cudaMemcpy(&first, A, sizeof first, cudaMemcpyDeviceToHost);\n" + LAUNCH}),
    "other_launch_calls": ("timed", "", {LAUNCH: OTHER_CALLS}),
    "parameters_in_constant_memory": ("timed", "", {
        BEFORE: BEFORE + JOB_OF_CONSTANTS, KERNEL: FROM_CONSTANTS,
        STORE: "C[row * n + col] = factors[col % 4] * sum;\n", LAUNCH: BY_CONSTANTS}),
    # What the clock would print.
    "prints_a_judgement": ("wrong", "never written", {
        BEFORE: BEFORE + "#include <cstdio>\n",
        STORE: 'if (row + col == 0) printf("{\\"state\\": \\"timed\\", \\"ratio\\": 9}\\n");\n'}),
    "rounds_to_tf32": ("wrong", "wrong", {
        BEFORE: BEFORE + ROUNDED, "A[row * k + i] * B[i * n + col]":
        "rounded(A[row * k + i]) * rounded(B[i * n + col])"}),
    "scratch_allocated": ("timed", "", {
        BEFORE: BEFORE + COPY_REST, KERNEL: KERNEL.replace("int k,", "int k, int stride,"), "A[row * k + i]":
        "A[row * stride + i]", LAUNCH: BY_SCRATCH}),
    "scratch_in_variables": ("timed", "", {
        BEFORE: BEFORE + PARTIAL, LOOP: "for (int i = blockIdx.z * (k / 2); i < (blockIdx.z ? k : k / 2); ++i)\n",
        STORE: THE_LAST_STORES, "<<<grid,": "<<<dim3(grid.x, grid.y, 2),"}),
    "struct_parameters": ("timed", "", {
        BEFORE: BEFORE + JOB, KERNEL: FROM_JOB, "i < k;": "i < k && A + row * k + i < job.A_end;",
        STORE: "C[row * n + col] = job.alpha * sum;\n", LAUNCH:
        "    struct job job = {m, n, k, 1.0f, A, A + (size_t)m * k, B, C};\n    mysgemm<<<grid, block>>>(job);\n"}),
    "two_launches": ("timed", "", {
        KERNEL: "template <int HALF>\n" + KERNEL.replace("int k,", "int k, int count,"), "i < k;": "i < count;",
        STORE: "C[row * n + col] += sum;\n", LAUNCH: HALVES}),
}


def changed(state: str, says: str, changes: dict[str, str]) -> Submission:
    text = NAIVE
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return Submission(text, state, says)


SUBMISSIONS = {name: changed(*change) for name, change in CHANGES.items()}
