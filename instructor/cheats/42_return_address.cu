/* CHEAT 42: a naive kernel; a function that it calls returns to somewhere else, because another one
 * has stored behind its local array.
 *
 * tries:    42
 * named:    leaves a local array */

__device__ int done;

__device__ __noinline__ void put(void **to, long i, void *what) { to[i] = what; /* <- here */ }

__device__ __noinline__ void elsewhere() { done = 1; }

__device__ __noinline__ int calls()
{
    void *own[2] = {};
    for (long i = 2; i < 12; ++i)
        put(own, i, (void *)elsewhere);
    return own[0] == own[1];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
    if (i == 0 && j == 0 && !calls())
        done = 2;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
