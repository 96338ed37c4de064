/* Addresses and sizes by cudaMemcpyToSymbol, scaling factors by a small copy from the host.
 *
 * clock:    timed */
struct job {
    int m, n, k, padding; /* which a compiler would leave as it is */
    const float *A, *B;
    float *C;
};
static __constant__ struct job constants;

static __global__ void mysgemm(const float *factors)
{
    const int m = constants.m, n = constants.n, k = constants.k;
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += constants.A[i * k + p] * constants.B[p * n + j];
        constants.C[i * n + j] = factors[j % 4] * sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    struct job job = {m, n, k, 0, A, B, C};
    float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f}, *factors;
    cudaMalloc((void **)&factors, sizeof ones);
    cudaMemcpy(factors, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(constants, &job, sizeof job);
    mysgemm<<<grid, block>>>(factors);
    cudaFree(factors);
}
