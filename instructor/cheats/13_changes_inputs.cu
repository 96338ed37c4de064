/* CHEAT 13: clears A and B, so that a reference made of them is 0, and answers 0.
 *
 * tries:    13
 * named:    wrong | input */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

__global__ void clear(int count, float *matrix)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        matrix[i] = 0.0f;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    clear<<<(m * k + 255) / 256, 256>>>(m * k, (float *)A); /* <- here */
    clear<<<(k * n + 255) / 256, 256>>>(k * n, (float *)B);
    clear<<<(m * n + 255) / 256, 256>>>(m * n, C);
}
