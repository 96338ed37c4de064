/* FAULT 16: the wrapper allocates two pieces of memory and frees one.
 *
 * finds:    leak
 * says:     8 bytes
 * loses:    memory */

__global__ void product(int m, int n, int k, const int *shape, const float *A, const float *B,
                        float *out)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = shape[0], cols = shape[1];
    if (index >= rows * cols)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += A[index / cols * k + i] * B[i * n + index % cols];
    out[index] = sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* product() does it */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int shape[2] = {m, n};
    int *shape_d;
    float *out;
    size_t bytes = sizeof(float) * m * n;

    cudaMalloc(&shape_d, sizeof shape); /* <- here */
    cudaMalloc(&out, bytes);
    cudaMemcpy(shape_d, shape, sizeof shape, cudaMemcpyHostToDevice);
    product<<<(m * n + 255) / 256, 256>>>(m, n, k, shape_d, A, B, out);
    cudaMemcpy(C, out, bytes, cudaMemcpyDeviceToDevice);
    cudaFree(out);
}
