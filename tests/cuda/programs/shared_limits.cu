/* Dynamic shared memory up to 48 KB is for everyone, above only for kernels that asked for it with
 * cudaFuncSetAttribute, and never more than the device has. */
#include "check.h"

__global__ void fills(int *out, int n) {
    extern __shared__ int values[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(out, values[n - 1 - i] == n - 1 - i);
}
__global__ void with_static(int *out) {
    __shared__ int fixed[8 * 1024];
    extern __shared__ int values[];
    fixed[threadIdx.x * 100] = values[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = fixed[0] + values[31];
}
template <int N> __global__ void of_template(int *out) {
    extern __shared__ int values[];
    values[N - 1] = N;
    *out = values[N - 1];
}

static cudaError_t launch(int *out, size_t bytes) {
    *out = 0;
    fills<<<1, 128, bytes>>>(out, bytes / sizeof(int));
    cudaError_t error = cudaGetLastError();
    OK(cudaDeviceSynchronize());
    EXPECT(*out, error == cudaSuccess ? (int)(bytes / sizeof(int)) : 0);
    return error;
}

int main() {
    int *out = visible<int>(1), most = 0;
    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(most > 48 * 1024);

    EXPECT(launch(out, 1024), cudaSuccess);
    EXPECT(launch(out, 48 * 1024), cudaSuccess);
    EXPECT(launch(out, 48 * 1024 + 4), cudaErrorInvalidValue);
    EXPECT(launch(out, 64 * 1024), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    EXPECT(launch(out, 64 * 1024), cudaSuccess);
    EXPECT(launch(out, 64 * 1024 + 4), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    EXPECT(launch(out, most), cudaSuccess);
    EXPECT(launch(out, most + 4), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
           cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, -2),
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    /* Static and dynamic count together. */
    with_static<<<1, 32, 16 * 1024>>>(out);
    RUN();
    EXPECT(*out, 2);
    with_static<<<1, 32, 16 * 1024 + 4>>>(out);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    of_template<20000><<<1, 1, 80000>>>(out);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(of_template<20000>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            80000));
    of_template<20000><<<1, 1, 80000>>>(out);
    RUN();
    EXPECT(*out, 20000);
    OK(cudaFuncSetAttribute((const void *)of_template<20000>,
                            cudaFuncAttributePreferredSharedMemoryCarveout,
                            cudaSharedmemCarveoutMaxShared));
    return verdict();
}
