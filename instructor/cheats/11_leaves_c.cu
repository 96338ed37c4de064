/* CHEAT 11: launches a kernel that stores nothing, in the hope that C still holds an answer.
 *
 * tries:    11
 * named:    never written | written */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
