/* FAULT 13: three tiles of 64 x 80 floats are 61,440 bytes of shared memory, and 49,152 is what a
 * kernel may declare. nvcc says so itself.
 *
 * finds:    bad-launch
 * says:     61,440
 * says:     49,152
 * loses:    builds
 * nvcc:     refuses */

#define ROWS 64
#define COLS 80
#define THREADS 256

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[ROWS][COLS], B_s[COLS][ROWS], C_s[ROWS][COLS];
    int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * ROWS;

    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS)
        C_s[i / COLS][i % COLS] = 0.0f;
    for (int start = 0; start < k; start += COLS) {
        for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
            int r = row0 + i / COLS, ac = start + i % COLS;
            A_s[i / COLS][i % COLS] = r < m && ac < k ? A[r * k + ac] : 0.0f;
            int br = start + i / ROWS, c = col0 + i % ROWS;
            B_s[i / ROWS][i % ROWS] = br < k && c < n ? B[br * n + c] : 0.0f;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * ROWS; i += THREADS) {
            float sum = 0.0f;
            for (int p = 0; p < COLS; ++p)
                sum += A_s[i / ROWS][p] * B_s[p][i % ROWS];
            C_s[i / ROWS][i % ROWS] += sum;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < ROWS * ROWS; i += THREADS) {
        int r = row0 + i / ROWS, c = col0 + i % ROWS;
        if (r < m && c < n)
            C[r * n + c] = C_s[i / ROWS][i % ROWS];
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + ROWS - 1) / ROWS, (m + ROWS - 1) / ROWS);
    mysgemm<<<grid, THREADS>>>(m, n, k, A, B, C); /* <- here */
}
