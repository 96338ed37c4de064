/* extern __shared__: its size from the launch's third argument, one array cut into several, beside
 * static arrays. Up to 48 KB are for everyone, above only for kernels that asked for it with
 * cudaFuncSetAttribute, and never more than the device has. Nothing of the block before is in it.
 */
#include "check.h"

/* Arrays of several types, the widest first, by casts of one array of bytes. */
__global__ void cut_by_casts(double *out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    double *doubles = (double *)bytes;
    int *ints = reinterpret_cast<int *>(doubles + blockDim.x);
    char *chars = (char *)&ints[blockDim.x];
    int i = threadIdx.x, other = (threadIdx.x + 1) % blockDim.x;
    doubles[i] = i + 0.5;
    ints[i] = i * 1000;
    chars[i] = (char)i;
    __syncthreads();
    out[i] = doubles[other] + ints[other] + chars[other];
}

/* Static and dynamic shared memory count together, and do not overlap. */
__global__ void with_static(int *out) {
    __shared__ int fixed[8 * 1024];
    extern __shared__ int sized[];
    for (int i = threadIdx.x; i < 8 * 1024; i += blockDim.x) fixed[i] = 1;
    for (int i = threadIdx.x; i < 4 * 1024; i += blockDim.x) sized[i] = 1000;
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * 1024; i += blockDim.x) atomicAdd(out, fixed[i]);
    for (int i = threadIdx.x; i < 4 * 1024; i += blockDim.x) atomicAdd(out, sized[i]);
}

__global__ void fills(int *out, int n) {
    extern __shared__ int values[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(out, values[n - 1 - i] == n - 1 - i);
}
static cudaError_t launch(int *out, size_t bytes) {
    *out = 0;
    fills<<<1, 128, bytes>>>(out, bytes / sizeof(int));
    cudaError_t error = cudaGetLastError();
    OK(cudaDeviceSynchronize());
    EXPECT(*out, error == cudaSuccess ? (int)(bytes / sizeof(int)) : 0);
    return error;
}

/* A GPU leaves there what it likes, so a kernel that forgets to write it may look right; the
 * emulator fills it with NaN when a block starts. */
__shared__ float three_of_the_file[3];
__global__ void read_unwritten(float *out) {
    __shared__ float fixed[64];
    extern __shared__ float floats[];
    float *mine = out + blockIdx.x * 4;
    if (threadIdx.x == 0) {
        mine[0] = fixed[63];
        mine[1] = floats[63];
        mine[2] = three_of_the_file[2];
        mine[3] = fixed[0] + 1;
    }
    __syncthreads();
    fixed[threadIdx.x] = floats[threadIdx.x] = 1;
    if (threadIdx.x < 3) three_of_the_file[threadIdx.x] = 1;
}

int main() {
    float *f = visible<float>(400);
    double *d = visible<double>(100);
    int *out = visible<int>(1), most = 0;
    RUN(cut_by_casts<<<1, 100, 100 * (sizeof(double) + sizeof(int) + 1)>>>(d));
    for (int i = 0; i < 100; ++i) EXPECT(d[i], (i + 1) % 100 * 1002.0 + 0.5);

    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(most > 48 * 1024);
    EXPECT(launch(out, 48 * 1024), cudaSuccess);
    EXPECT(launch(out, 48 * 1024 + 4), cudaErrorInvalidValue);
    const cudaFuncAttribute size = cudaFuncAttributeMaxDynamicSharedMemorySize;
    OK(cudaFuncSetAttribute(fills, size, 64 * 1024));
    EXPECT(launch(out, 64 * 1024), cudaSuccess);
    EXPECT(launch(out, 64 * 1024 + 4), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(fills, size, most));
    EXPECT(launch(out, most), cudaSuccess);
    EXPECT(launch(out, most + 4), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(fills, size, most + 1), cudaErrorInvalidValue);
    FAILS(cudaFuncSetAttribute(fills, size, -2), cudaErrorInvalidValue);

    *out = 0;
    RUN(with_static<<<1, 128, 16 * 1024>>>(out));
    EXPECT(*out, 8 * 1024 + 4 * 1024 * 1000);
    with_static<<<1, 128, 16 * 1024 + 4>>>(out);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    OK(cudaFuncSetAttribute((const void *)fills, cudaFuncAttributePreferredSharedMemoryCarveout,
                            cudaSharedmemCarveoutMaxShared));

    RUN(read_unwritten<<<100, 64, 64 * sizeof(float)>>>(f));
#ifdef CUDA_EMULATOR /* no GPU does this */
    for (int i = 0; i < 400; ++i) CHECK(f[i] != f[i]);
#endif
    return verdict();
}
