/* Who sees an error when: cudaGetLastError forgets what it tells, cudaPeekAtLastError does not, a
 * good call does not clear an earlier error, and an error that nobody ran into a kernel for loses
 * nothing (CUDA Runtime API reference, "Error Handling"). An error of a running kernel loses the
 * context: the launch says nothing yet, the next synchronization and every call after it do. */
#include "check.h"

__global__ void add(int *x) { atomicAdd(x, 1); }
__global__ void faults(int *x) { x[-(1LL << 40)] = 1; }

static void kept_until_asked_for(int *x) {
    EXPECT(cudaGetLastError(), cudaSuccess);
    /* An impossible launch: the launch statement itself says nothing, nothing runs. */
    add<<<1, 2000>>>(x);
    EXPECT(cudaPeekAtLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaPeekAtLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaGetLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaPeekAtLastError(), cudaSuccess);
    OK(cudaDeviceSynchronize());
    EXPECT(*x, 0);

    /* It stays over good launches and calls, and harms them not. */
    int *more;
    add<<<0, 1>>>(x);
    add<<<1, 1>>>(x);
    OK(cudaDeviceSynchronize());
    EXPECT(*x, 1);
    OK(cudaMalloc(&more, 4));
    EXPECT(cudaGetLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaGetLastError(), cudaSuccess);

    /* A bad call returns its error and leaves it for cudaGetLastError, too. The last one counts. */
    EXPECT(cudaMemcpy(x, x, 4, (cudaMemcpyKind)99), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaSetDevice(1000), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
    RUN(add<<<1, 1>>>(x));
    EXPECT(*x, 2);
}

static void names() {
    EXPECT(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
    EXPECT(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
    EXPECT(cudaGetErrorString(cudaSuccess), "no error");
    EXPECT(cudaGetErrorString((cudaError_t)123456), "unrecognized error code");
}

static void lost_context(int *x) {
    const cudaError_t lost = cudaErrorIllegalAddress;
    int *more, y = 0;
    static capture err;
    err.begin(2);
    faults<<<1, 1>>>(x);
    cudaError_t at_synchronize = cudaDeviceSynchronize();
    err.end();
    EXPECT(at_synchronize, lost);
    EXPECT(cudaGetLastError(), lost);
    EXPECT(cudaDeviceSynchronize(), lost);
    EXPECT(cudaPeekAtLastError(), lost);
    EXPECT(cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost), lost);
    EXPECT(cudaMalloc(&more, 4), lost);
    EXPECT(cudaMemset(x, 0, 4), lost);
    add<<<1, 1>>>(x);
    EXPECT(cudaGetLastError(), lost);
    EXPECT(cudaFree(x), lost);
    EXPECT(cudaGetLastError(), lost);
}

__global__ void count(unsigned long long *n) {
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(n, 1ULL);
}

static unsigned long long *blocks;

static cudaError_t launch(dim3 grid, dim3 block, size_t shared = 0) {
    *blocks = 0;
    count<<<grid, block, shared>>>(blocks);
    cudaError_t error = cudaGetLastError();
    OK(cudaDeviceSynchronize());
    EXPECT(cudaGetLastError(), cudaSuccess);
    unsigned long long wanted = (unsigned long long)grid.x * grid.y * grid.z;
    EXPECT(*blocks, error == cudaSuccess ? wanted : 0ULL);
    return error;
}

struct config {
    dim3 grid, block;
};

/* Impossible configurations and the error of each (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"); the largest possible ones run. */
static void configurations() {
    blocks = visible<unsigned long long>(1);
    const config impossible[] = {
        {0, 1},           {{1, 0}, 1},        {{1, 1, 0}, 1},      {1, 0},           {1, {16, 0}},
        {1, {16, 16, 0}}, {1, 1025},          {1, {1, 1025}},      {1, {1, 1, 65}},  {1, {32, 33}},
        {1, {64, 64}},    {1, {16, 16, 5}},   {1, {65536, 65536}}, /* the product is 0 in 32 bits */
        {{1, 65536}, 1},  {{1, 1, 65536}, 1}, {2147483648u, 1},    {(unsigned)-1, 1}};
    for (const config &each : impossible)
        EXPECT(launch(each.grid, each.block), IMPOSSIBLE_CONFIGURATION);
    EXPECT(launch(dim3(1), dim3(1), 48 * 1024 + 1), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), 1 << 20), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), (size_t)-1), cudaErrorInvalidValue);

    const config possible[] = {{1, 1024},          {1, {1, 1024}},  {1, {1, 1, 64}},
                               {1, {32, 32}},      {1, {4, 4, 64}}, {{1, 65535}, 1},
                               {{1, 1, 65535}, 1}, {65536 + 1, 1}};
    for (const config &each : possible) OK(launch(each.grid, each.block));
    OK(launch(dim3(2, 2), dim3(1), 48 * 1024));
}

int main() {
    int *on_device;
    OK(cudaMalloc(&on_device, 4));
    kept_until_asked_for(visible<int>(1));
    names();
    configurations();
    lost_context(on_device);
    return verdict();
}
