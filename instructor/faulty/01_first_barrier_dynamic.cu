/* FAULT 1: the first barrier is missing; blocks of 64 threads in a row, both tiles of 8 x 8 in
 * dynamic shared memory.
 *
 * finds:    shared-race
 * cause:    barrier-missing
 * variable: tiles
 * element:  tiles[1]
 * thread:   0 0
 * block:    0 0
 * other-thread: 1 0
 * phase:    0 of 5
 * says:     a __syncthreads() is missing after line
 * hint:     stored
 * loses:    correct */

const int T = 8;

__global__ void mysgemm(int m, int n, int k, const float *M, const float *N, float *P)
{
    extern __shared__ float tiles[];
    float *Ms = tiles, *Ns = tiles + T * T;

    int x = threadIdx.x % T, y = threadIdx.x / T;
    int r = blockIdx.y * T + y, c = blockIdx.x * T + x;
    float acc = 0;

    for (int start = 0; start < k; start += T) {
        if (r < m && start + x < k)
            Ms[y * T + x] = M[r * k + start + x]; /* <- other */
        else
            Ms[y * T + x] = 0; /* <- other */
        if (start + y < k && c < n)
            Ns[y * T + x] = N[(start + y) * n + c];
        else
            Ns[y * T + x] = 0;

        for (int j = 0; j < T; j++) {
            float a = Ms[y * T + j]; /* <- here */
            float b = Ns[j * T + x];
            acc += a * b;
        }
        __syncthreads();
    }
    if (r < m && c < n)
        P[r * n + c] = acc;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 blocks((n + T - 1) / T, (m + T - 1) / T);
    mysgemm<<<blocks, T * T, 2 * T * T * sizeof(float)>>>(m, n, k, A, B, C);
}
