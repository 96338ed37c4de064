/* C cleared by cudaMemset, then the two halves of k one after the other, by a template.
 *
 * clock:    timed */

template <int HALF>
__global__ void mysgemm(int m, int n, int k, int count, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < count; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] += sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    int half = k / 2, device;
    cudaEvent_t event;
    cudaGetDevice(&device);
    cudaEventCreate(&event);
    cudaEventRecord(event);
    cudaMemset(C, 0, (size_t)m * n * sizeof(float));
    mysgemm<0><<<grid, block>>>(m, n, k, half, A, B, C);
    mysgemm<1><<<grid, block>>>(m, n, k, k - half, A + half, B + (size_t)half * n, C);
    cudaEventSynchronize(event);
    cudaEventDestroy(event);
    cudaDeviceSynchronize();
}
