/* CHEAT 18: calls cuBLAS.
 *
 * tries:    18
 * named:    cuBLAS */

#include <cublas_v2.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    cublasHandle_t handle; /* <- here */
    float one = 1.0f, zero = 0.0f;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, B, n, A, k, &zero, C, n);
    cublasDestroy(handle);
}
