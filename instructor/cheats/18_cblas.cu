/* CHEAT 18: calls BLAS on the host.
 *
 * tries:    18
 * named:    calls cblas_sgemm */

extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *,
                            int, float, float *, int);

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    cblas_sgemm(101, 111, 111, m, n, k, 1.0f, A, k, B, n, 0.0f, C, n); /* <- here */
}
