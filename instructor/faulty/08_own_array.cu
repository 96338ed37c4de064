/* FAULT 8: a thread's own array of sums has no fifth element.
 *
 * finds:    local-out-of-bounds
 * thread:   0 0
 * block:    0 0
 * loses:    memory */

#define WORK 4 /* rows of C for each thread */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * WORK;
    float sums[WORK];

    if (col >= n)
        return;
    for (int r = 0; r <= WORK; ++r) {
        float sum = 0.0f;
        for (int i = 0; i < k && first + r < m; ++i)
            sum += A[(first + r) * k + i] * B[i * n + col];
        sums[r] = sum; /* <- here */
    }
    for (int r = 0; r < WORK; ++r)
        if (first + r < m)
            C[(first + r) * n + col] = sums[r];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 63) / 64, (m + WORK - 1) / WORK), 64>>>(m, n, k, A, B, C);
}
