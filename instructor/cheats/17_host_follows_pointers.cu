/* CHEAT 17: multiplies on the host, through the device's pointers.
 *
 * tries:    17
 * named:    device */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int p = 0; p < k; ++p)
                sum += A[i * k + p] * B[p * n + j]; /* <- here */
            C[i * n + j] = sum;
        }
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
}
