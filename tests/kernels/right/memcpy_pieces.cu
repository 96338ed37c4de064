/* RIGHT: each thread copies its row of A in pieces whose length the compiler knows, in all ways that
 * there are, which a compiler makes a few instructions of. */

#include <cstring>

struct Piece {
    float v[8];
};

__device__ void take(float *to, const float *from, int way)
{
    if (way % 4 == 0)
        memcpy(to, from, 8 * sizeof(float));
    else if (way % 4 == 1)
        __builtin_memcpy(to, from, 8 * sizeof(float));
    else if (way % 4 == 2)
        std::memcpy(to, from, sizeof(Piece));
    else
        *reinterpret_cast<Piece *>(to) = *reinterpret_cast<const Piece *>(from);
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n)
        return;
    float sum = 0.0f, piece[8];
    int p = 0;
    for (; p + 8 <= k; p += 8) {
        take(piece, &A[i * k + p], p / 8);
        for (int q = 0; q < 8; ++q)
            sum += piece[q] * B[(p + q) * n + j];
    }
    for (; p < k; ++p)
        sum += A[i * k + p] * B[p * n + j];
    C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
