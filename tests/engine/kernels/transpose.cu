// Transposes a matrix through tiles, so that loads and stores both run along rows.
#include <cstdio>
#include <cstdlib>

constexpr int SIDE = 16;

__global__ void kernel(const float *in, float *out, int n) {
    __shared__ float tile[SIDE][SIDE + 1];
    const int u = threadIdx.x, v = threadIdx.y;
    const int x = blockIdx.x * SIDE + u, y = blockIdx.y * SIDE + v;
    if (x < n && y < n) tile[v][u] = in[y * n + x];
    __syncthreads();
    const int col = blockIdx.y * SIDE + u, row = blockIdx.x * SIDE + v;
    if (col < n && row < n) out[row * n + col] = tile[u][v];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 40, blocks = (n + SIDE - 1) / SIDE;
    const size_t in_bytes = n * n * sizeof(float), out_bytes = n * n * sizeof(float);
    const dim3 grid(blocks, blocks), block(SIDE, SIDE);
    float *in = new float[n * n], *out = new float[n * n], *d_in, *d_out;
    for (int i = 0; i < n * n; i++) in[i] = i;
    cudaMalloc(&d_in, in_bytes);
    cudaMalloc(&d_out, out_bytes);
    cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice);
    kernel<<<grid, block>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n * n; i++)
        if (out[i % n * n + i / n] != in[i]) return 1;
    puts("the transpose is correct");
    return 0;
}
