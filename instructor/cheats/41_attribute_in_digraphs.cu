/* CHEAT 41: writes an attribute in digraphs, so that a kernel may jump anywhere.
 *
 * tries:    41
 * named:    the attribute indirect_branch */

typedef double function(double);
__device__ function *volatile pointer = ceil; // might be anything
static __device__ float hidden(const float *p) { return *p; }

<:<:gnu::indirect_branch("keep"):>:> // <- here
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += hidden(&A[i * k + p]) * B[p * n + j];
        C[i * n + j] = sum + (float)pointer(0.0);
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
