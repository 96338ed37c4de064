/* FAULT 10: the wrapper's scratch memory for a padded copy of B is filled up to n columns; the
 * kernel reads up to a multiple of 16.
 *
 * finds:    uninitialized-global
 * thread:   2 0
 * block:    2 0
 * says:     reads padded[34]
 * not:      C[
 * loses:    memory */

#define T 16

__global__ void pad(int rows, int cols, int stride, const float *in, float *out)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i < rows && j < cols)
        out[i * stride + j] = in[i * cols + j];
}

__global__ void product(int m, int n, int k, int stride, const float *A, const float *padded,
                        float *C)
{
    __shared__ float a[T][T], b[T][T];
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
    for (int p = 0; p < k; p += T) {
        a[threadIdx.y][threadIdx.x] =
            i < m && p + threadIdx.x < k ? A[i * k + p + threadIdx.x] : 0.0f;
        float value = 0.0f;
        if (p + threadIdx.y < k)
            value = padded[(p + threadIdx.y) * stride + j]; /* <- here */
        b[threadIdx.y][threadIdx.x] = value;
        __syncthreads();
        for (int q = 0; q < T; ++q)
            sum += a[threadIdx.y][q] * b[q][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n)
        C[i * n + j] = sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* product() does it */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int stride = (n + T - 1) / T * T;
    float *padded;
    cudaMalloc(&padded, sizeof(float) * k * stride);
    pad<<<dim3(stride / T, (k + T - 1) / T), dim3(T, T)>>>(k, n, stride, B, padded);
    product<<<dim3(stride / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, stride, A, padded, C);
    cudaFree(padded);
}
