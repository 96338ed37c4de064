/* FAULT 18: The lanes of a row share its elements of A, but those beyond the last column of C do
 * not take part: they are outside of the if.
 *
 * finds:    wrong-result
 * says:     a shuffle that reads from a lane that takes no part
 * hint:     left the kernel or the branch
 * fails:    34 34 34
 * passes:   16 16 16
 * reports:  NaN
 * explains: shuffle-absent (34 34 34)
 * backends: cpu
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;

        for (int p = 0; p < k; p += TILE_SIZE) {
            int a_col = p + threadIdx.x;
            float a = a_col < k ? A[row * k + a_col] : 0.0f;

            for (int i = 0; i < TILE_SIZE && p + i < k; ++i)
                sum += __shfl_sync(__activemask(), a, i, TILE_SIZE) * B[(p + i) * n + col];
        }
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
