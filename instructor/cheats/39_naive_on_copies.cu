/* CHEAT 39: a naive kernel that loads neither A nor B, but copies of them in __device__ arrays.
 *
 * tries:    39
 * loses:    tiled
 * named:    count as tiled */

#define ROOM (1 << 20)

__device__ float A_copy[ROOM], B_copy[ROOM];

__global__ void copy(int count, const float *from, int to_b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        (to_b ? B_copy : A_copy)[i] = from[i];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A_copy[i * k + p] * B_copy[p * n + j]; /* <- here */
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    copy<<<(m * k + 255) / 256, 256>>>(m * k, A, 0);
    copy<<<(k * n + 255) / 256, 256>>>(k * n, B, 1);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
