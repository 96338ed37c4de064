/* Memory that host and kernels both reach: cudaMallocManaged, cudaMallocHost, cudaHostAlloc. */
#include "check.h"

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main() {
    int *managed, *pinned, *mapped, *device, y[32];
    OK(cudaMallocManaged(&managed, 128));
    OK(cudaMallocHost(&pinned, 128));
    OK(cudaHostAlloc(&mapped, 128, cudaHostAllocMapped));
    OK(cudaMalloc(&device, 128));
    for (int i = 0; i < 32; ++i) managed[i] = pinned[i] = mapped[i] = i;

    twice<<<1, 32>>>(managed);
    twice<<<1, 32>>>(pinned); /* unified addressing: one pointer for both sides */
    RUN(twice<<<1, 32>>>(mapped));
    for (int i = 0; i < 32; ++i) EXPECT(managed[i] + pinned[i] + mapped[i], 6 * i);

    OK(cudaMemcpy(device, pinned, 128, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(device);
    OK(cudaMemcpy(pinned, device, 128, cudaMemcpyDeviceToHost));
    EXPECT(pinned[31], 124);
    OK(cudaMemcpy(y, managed, 128, cudaMemcpyDefault));
    EXPECT(y[31], 62);
    OK(cudaMemcpy(y, managed, 128, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(managed, device, 128, cudaMemcpyDeviceToDevice));
    EXPECT(managed[31], 124);
    OK(cudaMemset(managed, 0, 128));
    OK(cudaDeviceSynchronize());
    EXPECT(managed[31], 0);

    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(mapped));
    OK(cudaFreeHost(NULL));
    FAILS(cudaFreeHost(y), cudaErrorInvalidValue);
    return verdict();
}
