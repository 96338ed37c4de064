/* Streams: work in one is done in order, and done when it has been waited for. */
#include "check.h"

__global__ void add(int *x, int what) { x[threadIdx.x] += what; }
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main() {
    enum { N = 256 };
    cudaStream_t one, two;
    cudaEvent_t ready;
    int *h, *d;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreate(&ready));
    OK(cudaMallocHost(&h, N * sizeof(int)));
    OK(cudaMalloc(&d, N * sizeof(int)));
    for (int i = 0; i < N; ++i) h[i] = i;

    OK(cudaMemcpyAsync(d, h, N * sizeof(int), cudaMemcpyHostToDevice, one));
    add<<<1, N, 0, one>>>(d, 10);
    OK(cudaEventRecord(ready, one));
    OK(cudaStreamWaitEvent(two, ready, 0));
    twice<<<1, N, 0, two>>>(d);
    OK(cudaMemcpyAsync(h, d, N * sizeof(int), cudaMemcpyDeviceToHost, two));
    OK(cudaStreamSynchronize(two));
    OK(cudaStreamQuery(two));
    OK(cudaStreamQuery(one));
    for (int i = 0; i < N; ++i) EXPECT(h[i], 2 * (i + 10));

    OK(cudaMemsetAsync(d, 0, N * sizeof(int), one));
    add<<<1, N, 0, one>>>(d, 3);
    OK(cudaStreamSynchronize(one));
    OK(cudaMemcpy(h, d, N * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(h[255], 3);
    OK(cudaStreamSynchronize(0));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaEventDestroy(ready));
    OK(cudaFreeHost(h));
    OK(cudaFree(d));
    RUN();
    return verdict();
}
