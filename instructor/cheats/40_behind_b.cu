/* CHEAT 40: reads behind the last row of B, at addresses that are counted from a constant.
 *
 * tries:    40
 * loses:    memory
 * named:    load from B */

#define TILE_SIZE 16

static const struct { float value; } here = {1.0f};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i <= k; ++i) {
        float b = (&here.value)[&B[i * n + col] - &here.value];
        if (i < k)
            sum += A[row * k + i] * b;
        else if (b == 1234.5f)
            sum = b;
    }
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
