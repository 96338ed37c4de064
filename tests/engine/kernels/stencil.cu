// Each element becomes the mean of itself and its four neighbors, from a tile with a rim of one.
#include <cstdio>
#include <cstdlib>

constexpr int SIDE = 16;

__global__ void kernel(const float *in, float *out, int n) {
    __shared__ float tile[SIDE + 2][SIDE + 2];
    const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    for (int v = threadIdx.y; v < SIDE + 2; v += SIDE)
        for (int u = threadIdx.x; u < SIDE + 2; u += SIDE) {
            const int row = blockIdx.y * SIDE + v - 1, col = blockIdx.x * SIDE + u - 1;
            const bool inside = row >= 0 && row < n && col >= 0 && col < n;
            tile[v][u] = inside ? in[row * n + col] : 0;
        }
    __syncthreads();
    const int v = threadIdx.y + 1, u = threadIdx.x + 1;
    const float sum = tile[v][u] + tile[v - 1][u] + tile[v + 1][u] + tile[v][u - 1] + tile[v][u + 1];
    if (x < n && y < n) out[y * n + x] = sum / 5;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 40, blocks = (n + SIDE - 1) / SIDE;
    const size_t in_bytes = n * n * sizeof(float), out_bytes = n * n * sizeof(float);
    const dim3 grid(blocks, blocks), block(SIDE, SIDE);
    float *in = new float[n * n], *out = new float[n * n], *d_in, *d_out;
    for (int i = 0; i < n * n; i++) in[i] = 5;
    cudaMalloc(&d_in, in_bytes);
    cudaMalloc(&d_out, out_bytes);
    cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice);
    kernel<<<grid, block>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n * n; i++) {
        const int x = i % n, y = i / n;
        if (out[i] != 5 - (x == 0) - (x == n - 1) - (y == 0) - (y == n - 1)) return 1;
    }
    puts("all means are correct");
    return 0;
}
