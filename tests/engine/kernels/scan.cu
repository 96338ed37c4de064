// Prefix sums within each block: after every step, each element holds the sum of twice as many.
#include <cstdio>
#include <cstdlib>

constexpr int BLOCK = 128;

__global__ void kernel(const int *in, int *out, int n) {
    __shared__ int sums[2][BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    int now = 0;
    sums[now][t] = i < n ? in[i] : 0;
    for (int step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        sums[1 - now][t] = t >= step ? sums[now][t] + sums[now][t - step] : sums[now][t];
        now = 1 - now;
    }
    if (i < n) out[i] = sums[now][t];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000, grid = (n + BLOCK - 1) / BLOCK, block = BLOCK;
    const size_t in_bytes = n * sizeof(int), out_bytes = n * sizeof(int);
    int *in = new int[n], *out = new int[n], *d_in, *d_out, sum = 0;
    for (int i = 0; i < n; i++) in[i] = i % 7;
    cudaMalloc(&d_in, in_bytes);
    cudaMalloc(&d_out, out_bytes);
    cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice);
    kernel<<<grid, block>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n; i++) {
        sum = i % BLOCK ? sum + in[i] : in[i];
        if (out[i] != sum) return 1;
    }
    puts("all prefix sums are correct");
    return 0;
}
