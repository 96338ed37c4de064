// Sums: each block adds up its part of an array, the host adds up the blocks' sums.
#include <cstdio>
#include <cstdlib>

constexpr int BLOCK = 128;

__global__ void kernel(const float *in, float *out, int n) {
    __shared__ float part[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    part[t] = i < n ? in[i] : 0;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000, grid = (n + BLOCK - 1) / BLOCK, block = BLOCK;
    const size_t in_bytes = n * sizeof(float), out_bytes = grid * sizeof(float);
    float *in = new float[n], *out = new float[grid], *d_in, *d_out, sum = 0;
    for (int i = 0; i < n; i++) in[i] = i % 3;
    cudaMalloc(&d_in, in_bytes);
    cudaMalloc(&d_out, out_bytes);
    cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice);
    kernel<<<grid, block>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < grid; i++) sum += out[i];
    printf("the sum is %g\n", sum);
    for (int i = 0; i < n; i++) sum -= in[i];
    cudaFree(d_in);
    cudaFree(d_out);
    return sum != 0;
}
