/* FAULT 12: the wrapper prints an element of A, to see whether it is there.
 *
 * finds:    device-pointer-on-host
 * variable: A
 * element:  A[0][0]
 * loses:    builds */

#include <cstdio>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m; row += gridDim.y * blockDim.y)
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < n;
             col += gridDim.x * blockDim.x) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i)
                sum += A[row * k + i] * B[i * n + col];
            C[row * n + col] = sum;
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(4, 4), dim3(8, 8)>>>(m, n, k, A, B, C);
    fprintf(stderr, "A begins with %f\n",
            A[0]); /* <- here */
}
