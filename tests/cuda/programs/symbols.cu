/* __constant__ and __device__ variables, and the copies to and from them. */
#include "check.h"

__constant__ float coefficients[4];
__constant__ int scalar = 41;
__device__ int counter;
__device__ float table[3] = {1, 2, 3};
struct parameters {
    int m, n, k;
};
__constant__ parameters shape;
__device__ __managed__ int managed = 5;

__global__ void polynomial(float *x) {
    float v = x[threadIdx.x], sum = 0;
    for (int i = 3; i >= 0; --i) sum = sum * v + coefficients[i];
    x[threadIdx.x] = sum;
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) managed = managed + scalar;
}
__global__ void read(int *out) {
    out[0] = shape.m * 10000 + shape.n * 100 + shape.k;
    out[1] = scalar;
    out[2] = (int)(table[0] + table[1] + table[2]);
}
__global__ void set(int *x, int value) { *x = value; }

int main() {
    float *x = visible<float>(8), h[4] = {1, 2, 3, 4}, back[4] = {};
    int *out = visible<int>(4), count = -1, new_scalar = 50;
    for (int i = 0; i < 8; ++i) x[i] = i;
    OK(cudaMemcpyToSymbol(coefficients, h, sizeof h));
    RUN(polynomial<<<1, 8>>>(x));
    EXPECT(x[2], 1 + 4 + 12 + 32.0f);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count, 8);
    EXPECT(managed, 46);
    count = 0;
    OK(cudaMemcpyToSymbol(counter, &count, sizeof count, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count, 0, cudaMemcpyDeviceToHost));
    EXPECT(count, 0);

    OK(cudaMemcpyToSymbol(coefficients, h + 2, 2 * sizeof(float), 2 * sizeof(float)));
    OK(cudaMemcpyToSymbol(coefficients, h + 3, sizeof(float), sizeof(float)));
    OK(cudaMemcpyFromSymbol(back, coefficients, sizeof back));
    EXPECT(back[0] * 1000 + back[1] * 100 + back[2] * 10 + back[3], 1434.0f);
    OK(cudaMemcpyFromSymbol(back, coefficients, sizeof(float), 2 * sizeof(float)));
    EXPECT(back[0], 3.0f);

    parameters p = {1, 2, 3};
    OK(cudaMemcpyToSymbol(shape, &p, sizeof p));
    OK(cudaMemcpyToSymbol(scalar, &new_scalar, sizeof scalar));
    RUN(read<<<1, 1>>>(out));
    EXPECT_EACH(out, 10203, 50, 6);

    size_t bytes = 0;
    OK(cudaGetSymbolSize(&bytes, coefficients));
    EXPECT(bytes, sizeof h);
    void *address = NULL;
    OK(cudaGetSymbolAddress(&address, counter));
    set<<<1, 1>>>((int *)address, 99);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count, 99);
    count = 7;
    OK(cudaMemcpy(address, &count, sizeof count, cudaMemcpyHostToDevice));
    count = 0;
    OK(cudaMemcpy(&count, address, sizeof count, cudaMemcpyDeviceToHost));
    EXPECT(count, 7);
    OK(cudaMemset(address, 0, sizeof count));
    OK(cudaMemcpy(&count, address, sizeof count, cudaMemcpyDefault));
    EXPECT(count, 0);

    FAILS(cudaMemcpyToSymbol(coefficients, h, 2 * sizeof h), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(coefficients, h, sizeof h, 4), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyFromSymbol(back, coefficients, 4, sizeof h), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(coefficients, h, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);
    return verdict();
}
