/* CHEAT 32: never ends its kernel.
 *
 * tries:    32
 * named:    does not end */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    volatile int forever = 1;
    while (forever)
        ; /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
