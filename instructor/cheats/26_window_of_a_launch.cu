/* CHEAT 26: the same window as an attribute of the launch, which needs no other call.
 *
 * tries:    26
 * fails:    speed
 * loses:    tiled
 * named:    attribute */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
#ifdef __NVCC__
    cudaLaunchAttribute window = {};
    window.id = cudaLaunchAttributeAccessPolicyWindow; /* <- here */
    window.val.accessPolicyWindow.base_ptr = (void *)A;
    window.val.accessPolicyWindow.num_bytes = sizeof(float) * m * k;
    window.val.accessPolicyWindow.hitRatio = 1.0f;
    window.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &window;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, mysgemm, m, n, k, A, B, C);
#else
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
#endif
}
