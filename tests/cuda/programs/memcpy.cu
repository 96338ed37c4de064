/* cudaMemcpy in every direction. */
#include "check.h"

__global__ void add(float *x, float what) { x[threadIdx.x] += what; }

int main() {
    enum { N = 100 };
    const size_t bytes = N * sizeof(float);
    float a[N], b[N], *d, *e;
    for (int i = 0; i < N; ++i) a[i] = i;
    OK(cudaMalloc(&d, bytes));
    OK(cudaMalloc(&e, bytes));

    OK(cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    add<<<1, N>>>(d, 1);
    OK(cudaMemcpy(e, d, bytes, cudaMemcpyDeviceToDevice)); /* waits for the kernel */
    add<<<1, N>>>(d, 100);
    OK(cudaMemcpy(b, e, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) EXPECT(b[i], i + 1.0f);
    OK(cudaMemcpy(b, d, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) EXPECT(b[i], i + 101.0f);

    OK(cudaMemcpy(b, a, bytes, cudaMemcpyHostToHost));
    EXPECT(b[99], 99.0f);
    OK(cudaMemcpy(d, a, bytes, cudaMemcpyDefault));
    OK(cudaMemcpy(e, d, bytes, cudaMemcpyDefault));
    memset(b, 0, bytes);
    OK(cudaMemcpy(b, e, bytes, cudaMemcpyDefault));
    EXPECT(b[99], 99.0f);

    /* Parts, and nothing. */
    OK(cudaMemcpy(d + 50, a, 10 * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, d + 49, 12 * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(b[0], 49.0f);
    EXPECT(b[1], 0.0f);
    EXPECT(b[10], 9.0f);
    EXPECT(b[11], 60.0f);
    OK(cudaMemcpy(d, a, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(d, b, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(a, d, bytes, cudaMemcpyDeviceToHost, 0));
    RUN();
    EXPECT(a[11], 60.0f);
    OK(cudaFree(d));
    OK(cudaFree(e));
    return verdict();
}
