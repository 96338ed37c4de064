/* RIGHT: blocks of 8 x 8 x 4 threads; z splits the terms of a tile, and the four parts are added up
 * in shared memory. A barrier that votes tells whether A's tiles are all zero, which need no
 * product. */

#define T 8
#define Z 4

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[Z][T][T], b[Z][T][T];
    __shared__ float part[Z][T][T];

    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k + Z * T; start += Z * T) { /* the last tiles are empty */
        int from = start + z * T;
        float mine = row < m && from + x < k ? A[row * k + from + x] : 0.0f;
        a[z][y][x] = mine;
        b[z][y][x] = from + y < k && col < n ? B[(from + y) * n + col] : 0.0f;
        if (__syncthreads_or(mine != 0.0f))
            for (int i = 0; i < T; ++i) sum += a[z][y][i] * b[z][i][x];
        __syncthreads();
    }
    part[z][y][x] = sum;
    __syncthreads();
    if (z == 0 && row < m && col < n)
        C[row * n + col] = part[0][y][x] + part[1][y][x] + part[2][y][x] + part[3][y][x];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T, Z)>>>(m, n, k, A, B, C);
}
