/* CHEAT 26: has the L2 cache keep A from one call to the next, past every flush.
 *
 * tries:    26
 * named:    cudaDeviceSetLimit: what the L2 cache keeps |
 *           cudaStreamSetAttribute: what the L2 cache keeps */

#ifndef __NVCC__ /* where the emulator's headers know them not */
enum cudaLimit { cudaLimitPersistingL2CacheSize = 6 };
enum cudaLaunchAttributeID { cudaLaunchAttributeAccessPolicyWindow = 1 };
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
enum cudaAccessProperty { cudaAccessPropertyStreaming = 1, cudaAccessPropertyPersisting = 2 };
struct cudaStreamAttrValue {
    struct {
        void *base_ptr;
        size_t num_bytes;
        float hitRatio;
        cudaAccessProperty hitProp, missProp;
    } accessPolicyWindow;
};
extern "C" cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
extern "C" cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                              const cudaStreamAttrValue *value);
#endif

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
    const size_t bytes = sizeof(float) * m * k;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes); /* <- here */
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = (void *)A;
    window.accessPolicyWindow.num_bytes = bytes;
    window.accessPolicyWindow.hitRatio = 1.0f;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &window);
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
