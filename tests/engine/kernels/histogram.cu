// Counts values: each block counts in shared memory, and adds its counts to everybody's.
#include <cstdio>
#include <cstdlib>

constexpr int BLOCK = 128, BINS = 64;

__global__ void kernel(const int *in, int *out, int n) {
    __shared__ int counts[BINS];
    const int t = threadIdx.x;
    if (t < BINS) counts[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    if (t < BINS) atomicAdd(&out[t], counts[t]);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000, grid = 4, block = BLOCK;
    const size_t in_bytes = n * sizeof(int), out_bytes = BINS * sizeof(int);
    int *in = new int[n], *out = new int[BINS], *d_in, *d_out;
    for (int i = 0; i < n; i++) in[i] = i * i % BINS;
    cudaMalloc(&d_in, in_bytes);
    cudaMalloc(&d_out, out_bytes);
    cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, out_bytes);
    kernel<<<grid, block>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n; i++) out[in[i]]--;
    for (int i = 0; i < BINS; i++)
        if (out[i] != 0) return 1;
    puts("all counts are correct");
    return 0;
}
